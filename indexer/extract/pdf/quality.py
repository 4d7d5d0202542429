"""Tell the text of a page from the garbage of fonts without a usable character map. Pure functions.

Measured with pdfium: one paper in 50 is 64 % control characters; readable pages of the same 50 stay below 1 %. In such
a paper, pages of figures have sound labels and are 20 % garbage. Wrong letters are noticed if hardly a vowel is among
them.
"""

import re
from dataclasses import dataclass

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import HYPHEN, is_usual
from longsearch.indexer.extract.pdf.ciphers import is_garbage
from longsearch.indexer.extract.wire.values import RawMark

_GARBAGE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_WORD = re.compile(r"""(?<!\S)[("'“‘\[]*[^\W\d_]+(?:[-'’/][^\W\d_]+)*[.,;:!?)"'”’\]]*(?!\S)""")
_FEW_CHARACTERS = 20
_SUSPICIOUS_SHARE = 0.05
_FEW_WORDS_SHARE = 0.25
"""Share of characters inside words. Readable pages have 0.25 (an index of numbers) to 1, garbage has 0.02 to 0.2."""

DOUBTFUL_SHARE = 0.2
"""Share from which the other library is tried too. Pages with sound text but garbage in their figures stay below it."""
UNREADABLE_SHARE = 0.3
"""Share from which the page counts as unreadable."""
AMONG_UNREADABLE_PAGES, AMONG_UNREADABLE_SHARE = 3, 0.1
"""The same after so many unreadable pages in a row: it has their fonts. Only the labels of its figures are words."""


class PasswordNeededError(ExtractionError):
    """The PDF cannot be opened without a password."""

    def __init__(self) -> None:
        super().__init__("encrypted: needs a password", "save a copy without the password")


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as one library reads it."""

    lines: tuple[str, ...]
    """Lines in the form of `indexer.extract.wire.protocol.Page.lines`."""
    large_text: str
    """On the first page, the text in the largest type near the top, or ""."""
    garbage: float
    """`garbage_share` of the text that the library returned."""
    beside: tuple[str, ...] = ()
    """As `wire.protocol.Page.beside`."""
    label: str = ""
    """As `wire.protocol.Page.label`."""
    marks: tuple[RawMark, ...] = ()


def garbage_share(raw: str) -> float:
    """Return the share of control, replacement and private-use characters among all but spaces, from 0 to 1.

    The share is 1 if there are some of them and almost no words: the other characters are garbage too. It is 0 if
    there is too little text to judge. `raw` is a library's output before any cleaning. U+0002 and U+FFFE are not
    garbage: pdfium marks a hyphen at a line's end with them.
    """
    if is_usual(raw) or _GARBAGE.search(raw) is None:  # nearly every page
        return 1.0 if is_garbage(raw) else 0.0
    text = raw.replace("\x02", "").replace(HYPHEN, "")
    bad = len(_GARBAGE.findall(text))
    # Python counts some controls (0x1c to 0x1f) as space; here they are garbage.
    total = max(sum(map(len, text.split())), bad)
    if total < _FEW_CHARACTERS:
        return 0.0
    if bad > _SUSPICIOUS_SHARE * total and sum(map(len, _WORD.findall(text))) < _FEW_WORDS_SHARE * total:
        return 1.0
    return bad / total
