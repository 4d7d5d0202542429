"""Finds the stem of a word by Snowball (PyStemmer), in two other languages by a rule. Pure."""

from functools import cache

import Stemmer

from longsearch.engine.languages.scripts import SIGNS
from longsearch.engine.late_patterns import late_pattern

PLAIN = frozenset(("", "en"))
"""Languages whose words FTS5's tokenizer handles alone: English, and an unknown one."""
NOT_LATIN = frozenset(
    """
    am ar as ba be bg bn dz el fa gom gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr my ne or pa ps ru sa sd si sr ta
    te tg th tt ug uk ur yi zh
    """.split()  # noqa: SIM905 (fifty lines as a list)
)
"""Languages in another script than Latin. Latin words in such a text are taken for English."""
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "eo": "esperanto",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ms": "indonesian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
    # of a close relation: nDCG@10 of headings rose from 43.9 to 49.9 (sk), 46.5 to 50.7 (uk) and 48.5 to 49.5 (bg)
    "sk": "czech", "uk": "russian", "bg": "russian", "be": "russian", "hr": "serbian", "bs": "serbian",
    "gl": "portuguese", "af": "dutch",
}  # fmt: skip
_BEGINNING = late_pattern(f"(?:[^{SIGNS}][{SIGNS}]*){{0,3}}[^{SIGNS}]")
"""The stem of a Bengali word: its first four letters, the last one without its signs.

Stems of three, four and five letters reach 90.1, 89.2 and 85.1 nDCG@10 by words (TyDi), whole words 81.5. Stems of
three letters would join more words in a larger collection.
"""
_PARTICLES = late_pattern("^[והבכלמש]+(?=.{3})")
"""The particles before a Hebrew word: and, the, in, as, to, from, that.

Without them nDCG@10 by words (HeQ) rises from 93.1 to 96.8. Without one of them and the plural's ending it is 95.6.
"""


def stem(word: str, language: str) -> str:
    """Return the stem of a word in small letters; the word itself if there is no stemmer for the language."""
    if language == "he":
        return _PARTICLES.sub("", word)
    if language == "bn":
        beginning = _BEGINNING.match(word)
        return beginning[0] if beginning else word
    name = _STEMMERS.get(language)
    return str(_stemmer(name).stemWord(word)) if name else word


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)
