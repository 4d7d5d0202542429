"""Remove every character that could harm a terminal, a tokenizer or SQLite, and line ends that say nothing.

Pure functions. They change lengths, so they must run before any offset into the text is computed. This module knows
no pages.
"""

import re
import unicodedata
from functools import cache, lru_cache

# Remove whole escape sequences, or "[31m" would remain: CSI, then OSC (which carries a text), then any other.
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\)|\x1b[@-Z\\^_]?")
_LINE_END = re.compile("\r\n?|[\x0b\x85\u2028\u2029]")
# Controls between ASCII and Latin (C1) are letters of Windows-1252 that were taken for Latin-1: quotes, dashes, €.
# U+0085 alone is a line end; beside others it is "…".
_WINDOWS = re.compile("[\x80-\x84\x86-\x9f]")
_AS_WINDOWS = {code: bytes((code,)).decode("cp1252", "replace") for code in range(0x80, 0xA0)}
# Controls, DEL, soft hyphen, zero width space, bidi marks and overrides, word joiner and other invisible operators,
# lone surrogates, private use, byte order mark, noncharacters (pdfium writes U+FFFE for a hyphen at a line's end).
# Joiners (200c, 200d) stay: Persian, Indic scripts and emoji need them.
_DROPPED = re.compile(
    "[\x00-\x08\x0c\x0e-\x1f\x7f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]+"
)
_SPACE = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_BULLETS = "\uf0b7\uf0a7\uf0d8\uf076"  # Word's bullets from Symbol and Wingdings: private use elsewhere
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_BLANKS = re.compile(r"[ \t]+(?=\n)")
_BLANK_LINES = re.compile(r"\n{3,}")
# Characters that `clean_characters` never changes: ASCII, Latin, Greek, Cyrillic, punctuation, arrows and operators.
_UNCHANGED = (
    "\t\n -~\xa1-\xac\xae-\u02ff\u0388-\u03ce\u0400-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21ff\u2201-\u22ff"  # not U+2200: see `pdf.ciphers`
)
_PLAIN = re.compile(f"[{_UNCHANGED}]*")
HYPHEN = "\ufffe"
"""What pdfium writes for a hyphen at the end of a line, whose word it puts together."""
_USUAL = re.compile(f"[\r{HYPHEN}{_UNCHANGED}]*")
_RUN_OF_SPACE = re.compile(r"\s+")
CJK = "\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef"
"""For a regular expression: Chinese and Japanese characters, their punctuation, and wide letters. No Hangul: Korean has
spaces between its words."""


def clean_characters(text: str) -> str:
    """Return `text` without control, escape, invisible and private-use characters, lone surrogates and ligatures.

    Every kind of line end becomes "\\n" and every kind of space " "; tabs stay; the rest is composed (NFC).
    """
    if _PLAIN.fullmatch(text):
        return text
    return clean_any_characters(text)


def clean_any_characters(text: str) -> str:
    """The slow twin of `clean_characters`, without the shortcut for text that is already clean."""
    if "\x1b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    if _WINDOWS.search(text):
        text = text.translate(_AS_WINDOWS)
    text = _LINE_END.sub("\n", text)
    for bullet in filter(text.__contains__, _BULLETS):
        text = text.replace(bullet, "•")
    text = _SPACE.sub(" ", _DROPPED.sub("", text))
    for ligature in filter(text.__contains__, _LIGATURES):
        text = text.replace(ligature, _LIGATURES[ligature])
    return unicodedata.normalize("NFC", text)


@lru_cache(maxsize=1)  # a page is asked whether its letters are right, whether they are garbage, and cleaned
def is_usual(page: str) -> bool:
    """Return whether a page as a library has it holds none but characters that are right as they are."""
    return _USUAL.fullmatch(page) is not None


def clean_block(text: str) -> str:
    """Return `text` cleaned, without blanks at line ends and with at most one empty line in a row."""
    return _BLANK_LINES.sub("\n\n", _BLANKS.sub("", clean_characters(text))).strip()


def one_line(text: str, max_characters: int) -> str:
    """Return `text` cleaned and on one line, cut between words if it is longer than `max_characters`."""
    line = whole_line(text)
    if len(line) <= max_characters:
        return line
    cut = line[: max_characters - 1]
    return (cut.rsplit(" ", 1)[0] or cut).rstrip() + "…"


def whole_line(text: str) -> str:
    """Return `text` cleaned and on one line, of whatever length."""
    return _RUN_OF_SPACE.sub(" ", unwrapped(clean_characters(text))).strip()


def unwrapped(text: str) -> str:
    """Return `text` with a space for each line end, and nothing for one between Chinese or Japanese characters."""
    return (text if "\n" not in text or text.isascii() else _wrap().sub("", text)).replace("\n", " ")


@cache
def _wrap() -> re.Pattern[str]:
    """A line end between two such characters. The pattern takes longer to compile than all others of this module."""
    return re.compile(rf"\n(?<=[{CJK}]\n)[ \t]*(?=[{CJK}])")


def has_words(text: str) -> bool:
    """Return whether `text` holds a letter or a digit."""
    return any(map(str.isalnum, text))
