"""Makes words of the signs that tell one name from another: C++, C#, A+, .NET, § 433, µ, H₂O. Pure.

FTS5's tokenizer drops signs, so C++, C# and C would be one word. A sign becomes a private-use character, which FTS5
takes for a letter. After a single letter it belongs to it: C++ is another word than C. After a longer word it is a word
of its own, so *Notepad* finds Notepad++ too.
"""

import re
import unicodedata

from longsearch.engine.late_patterns import late_pattern

_PLUS, _SHARP, _MINUS, _DOT, _SECTION = "\ue003", "\ue004", "\ue005", "\ue006", "\ue007"
_BORDER = "\u2060"
"""The invisible word joiner, at which FTS5 ends a word."""
SIGN_WORDS = f"{_PLUS}-{_SECTION}"
"""The private-use characters of signs, for a character class."""
_SIGN = late_pattern(  # begins with a character of a class: so most of a text is passed over quickly
    r"""[.+#♯§−-]
    (?:(?<=[^\W\d_]\+)(?:\+{1,2}(?!\+)|(?![\w+]))
    |(?<=[^\W\d_][#♯])(?<![^\W_]{2}[#♯])(?![^\W\d_#])
    |(?<=[A-Z][-−])(?<![\w-][A-Z][-−])(?=[\s,;:.)!?]|$)
    |(?<=\.)(?<![\w.]\.)(?=[^\W\d_]{2})
    |(?<=§)§*)""",
    re.VERBOSE,
)
_SMALL_OR_OLD = late_pattern("[²³¹µ₀-₉\u2103\u2109\u2116\u2126\u212a\u212b]+")
"""Digits above and below the line, and characters that Unicode has twice: m² and m2, µm and μm."""
_TYPED = str.maketrans({_PLUS: "+", _SHARP: "#", _MINUS: "-", _DOT: ".", _SECTION: "§", _BORDER: None, "\ue000": None})


MAY_BE_SIGN = late_pattern(f"[.+#♯§−-]|{_SMALL_OR_OLD.pattern}")
"""What a text must have for `with_signs` to change it."""


def with_signs(text: str) -> str:
    """Return the text with its signs as characters of words. A second time changes nothing."""
    if not text.isascii():
        text = _SMALL_OR_OLD.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return _SIGN.sub(_made, text)


def as_typed(text: str) -> str:
    """Return a word of the index with its signs as one types them, without the marks of the index."""
    return text.translate(_TYPED)


def _made(sign: re.Match[str]) -> str:
    text, start, stop = sign.string, sign.start(), sign.end()
    after = _BORDER if text[stop : stop + 1].isalnum() else ""
    match sign[0][0]:
        case "+":
            before = _BORDER if start > 1 and text[start - 2 : start].isalnum() else ""
            return before + _PLUS * len(sign[0]) + after
        case "#" | "♯":
            return _SHARP + after
        case "-" | "−":
            return _MINUS
        case ".":
            return _DOT + _BORDER
    return _BORDER + _SECTION + _BORDER
