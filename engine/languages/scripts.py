"""Which characters make a word in each script, and which scripts are written without spaces. Pure data.

Python's `\\w` leaves out the vowel signs of Indic scripts and FTS5's tokenizer ends a word at them; here they belong to
their words.
"""

import unicodedata

from longsearch.engine.late_patterns import late_pattern

_HAN_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u104c-\u108f\u109a-\u109f\u1780-\u17d3\u17d7"
    "\u17dc\u17dd\u1950-\u19cf\u1a20-\u1a7f\u1aa7\uaa60-\uaa7f\ua9e0-\ua9ef\ua9fa-\ua9fe\ua980-\ua9c0"
)
"""Thai, Lao, Burmese, Khmer, Tai and Javanese letters and signs, without digits and punctuation."""
UNSPACED = _HAN_KANA + _HANGUL + _SOUTH_EAST_ASIAN
"""Scripts whose words are not told apart by spaces. Hangul is: there spaces part phrases with their particles."""

_ARABIC_MARKS = "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
_HEBREW_MARKS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
DIACRITICS = f"\u0300-\u036f{_HEBREW_MARKS}{_ARABIC_MARKS}\u093c\u09bc\u0a3c\u0abc\u0b3c\u1ab0-\u1aff\u1dc0-\u1dff"
"""Signs that may be left out without making another word: accents, points of vowels, nuktas, the tatweel."""
_INDIC = (
    "\u0900-\u0963\u0971-\u0983\u0985-\u09e3\u0a01-\u0a4d\u0a59-\u0a5e\u0a70-\u0aef\u0af9-\u0b63\u0b71\u0b82-\u0be5"
)
_INDIC += "\u0c00-\u0c65\u0c80-\u0ce5\u0d00-\u0d65\u0d81-\u0ddf\u0f40-\u0f84\u0f90-\u0fbc\u200c\u200d"
"""Indic letters with their signs, Tibetan, and the two invisible joiners that stand inside words."""
_LETTER = rf"(?:[^\W_]|[{DIACRITICS}{_INDIC}])"
WORD = rf"{_LETTER}+"
"""A word of a script with spaces, with its digits. Test for `UNSPACED` first: these characters are letters too."""

MARKED = late_pattern(rf"[{_HEBREW_MARKS}{_ARABIC_MARKS}{_INDIC}]")
"""Signs and scripts that FTS5's tokenizer tears words apart at."""
SIGNS = "".join(
    chr(code)
    for block in (range(0x0590, 0x1D00), range(0x302A, 0x309B), range(0xA8E0, 0xAC00))
    for code in block
    if unicodedata.category(chr(code))[0] == "M"
)
"""Vowel signs, tones and points of all scripts but Latin, Greek and Cyrillic."""
UNSPACED_RUN = late_pattern(f"[{UNSPACED}]+")
UNSPACED_OR_MARKED = late_pattern(f"[{UNSPACED}{MARKED.pattern[1:-1]}]")
SPACE_IN_RUN = rf"\s(?<=[{_HAN_KANA}]\s)\s*(?=[{_HAN_KANA}])"
"""White space in Chinese or Japanese, such as a line's end: it parts no words."""
SPACED_WORD = late_pattern(WORD)
"""In a text without unspaced runs."""
SPACED_OR_RUN = late_pattern(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}]){_LETTER})+")
"""In any text: a word of a script with spaces, or a run of one without."""

LATIN = late_pattern("[a-z\u00aa\u00ba\u00df-\u00f6\u00f8-\u02af\u1d00-\u1dbf\u1e00-\u1eff\u0300-\u036f]+")
"""Small letters."""
