"""Tells in which encoding of single bytes a text makes sense: its letters are those of one language, signs part words.

A detector knows how often bytes follow one another, and errs where encodings differ in few letters: it takes Spanish
for Polish and Latin-2 for Windows-1250. Here nothing is counted but letters that a language has. Pure functions.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_ALPHABETS = (
    "äöüß", "éèêëàâîïôùûüçœæ", "áéíóúüñ¿¡ºª", "ãõáéíóúâêôçàü", "àèéìíòóù", "åäöé", "æøåéè", "þðáéíóúýæö", "éëïöüèê",
    "àèéíïòóúüç·", "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîșşțţ", "ëç", "äõöüšž",
    "ąčęėįšųūž", "āčēģīķļņšūž", "çğıöşüâî",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
    "абвгдђежзијклљмнњопрстћуфхцчџш", "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيًٌٍَُِّْـ،؛؟پچژگ",
)  # fmt: skip
"""The letters beyond ASCII of each language, with what belongs to it alone."""
_THAI = frozenset(map(chr, range(0x0E01, 0x0E5C)))
_LANGUAGES = (*map(frozenset, _ALPHABETS), _THAI)
CODECS = (
    "cp1252", "cp850", "mac_roman", "cp437", "iso8859_15", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257", "iso8859_2", "koi8_r", "koi8_u", "cp866", "cp852", "iso8859_7", "iso8859_5", "mac_cyrillic", "mac_latin2",
    "cp857", "cp775", "cp865", "cp861", "cp737", "cp862", "iso8859_8", "iso8859_6", "iso8859_4", "cp869", "cp1125",
    "cp874",
)  # fmt: skip
"""The likeliest first: of two in which a text makes the same sense it is the text's."""
_USUAL_SIGNS = frozenset("“”„‚’‘–—…«»‹›€£§°·•©®™½¼¾×±\xa0\xad")
_IN_WORDS = frozenset("’‘–—·\xad\xa0")
_BOXES = frozenset(map(chr, range(0x2500, 0x25A0)))
_FINAL = frozenset("ςךםןףץ")
"""Letters that stand at the end of words alone."""
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_MOST = 400
"""Characters beyond ASCII that are looked at."""
_MAKES_SENSE = 0.6
"""Score from which a text is one of these languages in one of these encodings."""


def likeliest(sample: bytes, otherwise: str) -> str:
    """Return the encoding of single bytes in which `sample` makes most sense; `otherwise` if it makes none in any.

    `otherwise` wins over others in which the sample makes the same sense.
    """
    places = [match.start() for match in _NOT_ASCII.finditer(sample)][:_MOST]
    codecs = sorted(CODECS, key=lambda codec: codec != otherwise.replace("-", "_"))
    scores = {codec: _score(sample, places, codec) for codec in codecs}
    best = max(scores, key=lambda codec: scores[codec])
    return best if scores[best] >= _MAKES_SENSE else otherwise


def is_mixed(text: str) -> bool:
    """Return whether letters of other scripts stand mostly beside Latin ones: the sign of a wrong guess."""
    n_mixed = n_letters = 0
    for place, character in _beyond_ascii(text):
        if character.isalpha() and not _is_latin(character):
            n_letters += 1
            n_mixed += _is_plain(text[place - 1 : place]) or _is_plain(text[place + 1 : place + 2])
    return n_mixed > n_letters / 2


def _beyond_ascii(text: str) -> Iterator[tuple[int, str]]:
    found = ((place, character) for place, character in enumerate(text) if character > "\x7f")
    yield from (pair for pair, _ in zip(found, range(_MOST), strict=False))


def _score(sample: bytes, places: list[int], codec: str) -> float:
    """Return the share of characters that make sense, less that of those that cannot be; 1 is the best."""
    table = _table(codec)
    letters: list[str] = []
    total = 0.0
    for place in places:
        character = table[sample[place]]
        before = table[sample[place - 1]] if place else " "
        after = table[sample[place + 1]] if place + 1 < len(sample) else " "
        value = _value(character, before, after)
        if value is None:
            letters.append("ı" if character == "İ" else character.lower())
        else:
            total += value
    known = max(sum(letter in language for letter in letters) for language in _LANGUAGES)
    return (total + known) / max(1, len(places))


def _value(character: str, before: str, after: str) -> float | None:
    """Return what a sign is worth between its neighbours, from -1 to 1; None for a letter that may stand there."""
    category = unicodedata.category(character)
    if character.isalpha() or category == "Mn":
        return -1.0 if _is_misplaced(character, before, after) else None
    if character in _BOXES:
        around = {before, after}
        return 1.0 if around & {character, "─", "═"} or (character in "│║" and around & set(" \r\n")) else -1.0
    if character in "¿¡":
        return -1.0 if before.isalpha() else None
    is_in_word = before.isalpha() and after.isalpha() and character not in _IN_WORDS
    if character == "\ufffd" or category == "Cc" or is_in_word:
        return -1.0
    return 1.0 if character in _USUAL_SIGNS or (character in "²³" and before == "m") else 0.0


def _is_misplaced(letter: str, before: str, after: str) -> bool:
    """Return whether a letter cannot stand there: a capital within a word, a final letter, a mark on nothing."""
    if (letter.isupper() and before.islower()) or (letter in _FINAL and after.isalpha()):
        return True
    if unicodedata.category(letter) == "Mn" and not (before.isalpha() or unicodedata.category(before) == "Mn"):
        return True
    return not _is_latin(letter) and (_is_plain(before) or _is_plain(after))


@cache
def _table(codec: str) -> str:
    return bytes(range(256)).decode(codec, "replace")


@cache
def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN", "FEMININE", "MASCULINE"))


def _is_plain(character: str) -> bool:
    return character.isascii() and character.isalpha()
