"""Other spellings of a word: American and British, with and without signs, Mueller and Müller. Pure.

Rules give them, not a dictionary: "metric" has none, "letter" gets "lettre", which no English text holds. A pair that
would mix two words, such as "for" and "four", has too few letters for its rule.
"""

import unicodedata
from functools import lru_cache

from longsearch.engine.late_patterns import late_pattern

_ENDINGS = (
    # (letters before, British, American, what may follow)
    (
        "(?!scou?r)[a-z]{2,}",
        "our",
        "or",
        "|s|ed|ing|able|ably|ful|fully|less|ite|ites|al|ally|ist|ists|er|ers|l?y|hoods?",
    ),
    ("[a-z]{3,}", "is", "iz", "e|es|ed|ing|er|ers|able|ation|ations|ational"),
    ("[a-z]{3,}", "ys", "yz", "e|es|ed|ing|er|ers"),
    ("[a-z]{2,}[bt]", "re", "er", "|s"),
    ("[a-z]{3,}en", "c", "s", "e|es|ed|ing"),
    ("[a-z]{3,}", "ogue", "og", "|s"),
)
_BEGINNINGS = (
    ("aesth", "esth"), ("anaem", "anem"), ("anaesth", "anesth"), ("archaeo", "archeo"), ("diarrhoe", "diarrhe"),
    ("encyclopaed", "encycloped"), ("faec", "fec"), ("foet", "fet"), ("gynaec", "gynec"), ("haem", "hem"),
    ("leukaem", "leukem"), ("manoeuv", "maneuv"), ("oesoph", "esoph"), ("oestr", "estr"), ("orthopaed", "orthoped"),
    ("paed", "ped"), ("aluminium", "aluminum"), ("artefact", "artifact"), ("fulfilm", "fulfillm"), ("grey", "gray"),
    ("instalm", "installm"), ("jewellery", "jewelry"), ("judgem", "judgm"), ("mould", "mold"), ("plough", "plow"),
    ("practis", "practic"), ("programme", "program"), ("sceptic", "skeptic"), ("skilful", "skillful"),
    ("sulph", "sulf"), ("tyre", "tire"),
)  # fmt: skip
_ENDING_RULES = [
    (late_pattern(rf"({before}){one}({after})"), rf"\g<1>{other}\g<2>")
    for before, british, american, after in _ENDINGS
    for one, other in ((british, american), (american, british))
]
# an apostrophe at the end is a genitive's
_SIGN = late_pattern(r"(?<=[^\W\d_])(?:['’](?=[^\W\d_]{2})|[-\u2010\u2011](?=[^\W\d_]))")
_WITHOUT_APOSTROPHE = late_pattern("^([A-Zdl])([A-Z][a-z]{2,})$")
_WITH_DOTS = late_pattern(r"(?:[^\W\d_]\.){2,}[^\W\d_]?")
_IN_TWO_LETTERS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_TWO_LETTERS = late_pattern("aa|ae|oe|(?<![aeq])ue")
_WITH_UMLAUTS = frozenset(("da", "de", "et", "fi", "hu", "is", "lb", "nb", "nn", "no", "sv", "tr"))


@lru_cache(1024)
def respelt(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the word as others type it, in small letters without diacritics; as documents in these languages have it.

    Apostrophes, hyphens and the dots of initials are left out: OBrien for O'Brien, email for e-mail, USA for U.S.A.
    OBrien gets its apostrophe, too.
    Müller is Mueller too. Mueller is Muller, as Müller is without its diacritic, where a language has umlauts.
    """
    plain = _WITHOUT_APOSTROPHE.sub(r"\1'\2", word) if word.isalpha() else _SIGN.sub("", word)
    plain = word.replace(".", "") if _WITH_DOTS.fullmatch(word) else plain
    found = [plain] if plain != word else []
    if not word.isascii():
        small = unicodedata.normalize("NFC", word).lower()
        found.append("".join(_IN_TWO_LETTERS.get(letter, letter) for letter in small))
    elif _WITH_UMLAUTS.intersection(languages):
        found.append(_TWO_LETTERS.sub(lambda two: two[0][0], word.lower()))
    return tuple(other for other in found if other.lower() != word.lower())


@lru_cache(1024)
def other_spelling(word: str) -> str:
    """Return the word as the other side of the Atlantic spells it, in small letters; "" if no rule knows."""
    small = word.lower()
    for pattern, replacement in _ENDING_RULES:
        if match := pattern.fullmatch(small):
            return match.expand(replacement)
    if not (small.isascii() and small.isalpha()):
        return ""
    for pair in _BEGINNINGS:
        for this, other in (pair, pair[::-1]):
            if small.startswith(this):
                return other + small.removeprefix(this)
    return ""
