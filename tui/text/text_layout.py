"""Wraps long text to a width: finds the line of a character, and the characters of a line.

Pure. 10 MB of text make about 150,000 lines; only the offset of each line start is kept (8 bytes a line), and the text
is not copied. A newline ends a line, unless it only comes from the line breaks of a printed page: then the text flows
on as after a space (`soft_newlines`). Knows nothing of pages, passages or colours.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from longsearch.engine.formulas import MOST_OF_SHRED, SHREDS, SIGN
from longsearch.tui.text.display import shown

MIN_FULL_LINE = 40
"""Characters; the newline after a shorter line is kept (a heading, an address, a list)."""
MAX_LINE_CHARACTERS = 4_096
"""The most characters of a line. Characters without width (stacked accents) could fill one line with a document."""

# The start of a line that continues a sentence: no list mark, no "12. ", no "[7] ", no indent, no table rule.
_FLOWS_ON = re.compile(r"(?!\d+[.)]\s)[^\W_]|[(\"'“‘]")
_NOT_PROSE = re.compile(r"[\d|=\t{};]")
REACH = 7_500
"""Characters that `wrap_near` wraps on each side: 75 lines at the least, more than a screen. It looks for a line end
within as many characters again."""
_PIECE = 1 << 20


class _Widths(dict[str, int]):
    """The width of each character in cells, computed once."""

    def __missing__(self, character: str) -> int:
        width = self[character] = cell_len(shown(character))
        return width


WIDTHS = _Widths()


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A text and the start of each wrapped line."""

    text: str
    width: int
    """Cells of a line. The space or newline that ends a line may stand beyond them."""
    starts: "array[int]"
    """Offset of the first character of each line; ascending, the first is 0."""

    def __len__(self) -> int:
        return len(self.starts)

    def line_at(self, offset: int) -> int:
        """Return the line of the character at `offset`; for an offset outside the text, the nearest line."""
        return max(bisect_right(self.starts, offset) - 1, 0)

    def span(self, line: int) -> tuple[int, int]:
        """Return the offsets of the line's first character and one past its last."""
        stop = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        return self.starts[line], stop


def wrap(text: str, width: int) -> TextLayout:
    """Wrap `text` to `width` cells, at spaces if possible, else inside words. A width below 2 counts as 2."""
    width = max(width, 2)
    flat = text.replace("\n", " ").replace("\t", " ")  # str.translate is 14 times slower
    starts = array("Q", [0])
    not_narrow = _not_narrow(flat)
    for start, stop in _paragraphs(text):
        odd = not_narrow is not None and not_narrow.search(flat, start, stop)
        (_wrap_any if odd else _wrap_narrow)(flat, start, stop, width, starts)
        starts.append(stop)
    if len(starts) > 1 and starts[-1] == len(text) and not text.endswith("\n"):
        starts.pop()  # only after a final newline there is an empty last line
    return TextLayout(text, width, starts)


def wrap_near(text: str, width: int, offset: int) -> TextLayout:
    """Wrap only the text within `REACH` characters of `offset`; the text before and after stays on one line each.

    For the first paint of a long text: 0.6 ms for any length (least of 50), while `wrap` takes 0.4 s for 10 MB.
    """
    low, high = max(offset - REACH, 0), min(offset + REACH, len(text))
    low = text.rfind("\n", max(low - REACH, 0), low) + 1 or low  # at a line end if one is near
    high = text.find("\n", high, high + REACH) + 1 or high
    part = wrap(text[low:high], width)
    starts = array("Q", [0] if low else [])
    starts.extend(low + start for start in part.starts)
    if starts[-1] < high < len(text):
        starts.append(high)
    return TextLayout(text, part.width, starts)


def soft_newlines(text: str) -> Iterator[tuple[int, bool]]:
    """Yield the offset of each newline, and whether it is soft: the sentence continues on the next line.

    A newline is soft if its line is full and reads like prose, the next line starts like a word, and its line is not
    the last of a paragraph, that is, shorter than the line before and with a full stop at its end. The shreds of a
    formula flow on too: it is a line, not a column.
    """
    start, before, shreds_end, is_formula = 0, 0, 0, False
    newline = text.find("\n")
    while newline >= 0:
        length = newline - start
        if start >= shreds_end and length <= MOST_OF_SHRED and (shreds := SHREDS.match(text, start)):
            shreds_end, is_formula = shreds.end(), SIGN.search(shreds[0]) is not None
        soft = length >= MIN_FULL_LINE and _FLOWS_ON.match(text, newline + 1) is not None
        if soft and (length < before * 0.85 and text[newline - 1] in ".!?:"):
            soft = False
        if soft and len(_NOT_PROSE.findall(text, start, newline)) * 6 > length:
            soft = False
        yield newline, soft or (is_formula and newline < shreds_end)
        start, before = newline + 1, length
        newline = text.find("\n", start)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans between hard newlines; together they are the whole text."""
    start = 0
    for newline, soft in soft_newlines(text):
        if not soft:
            yield start, newline + 1
            start = newline + 1
    if start < len(text):
        yield start, len(text)


def _wrap_narrow(flat: str, start: int, stop: int, width: int, starts: "array[int]") -> None:
    """Append the line starts inside a paragraph in which every character takes one cell."""
    find, append = flat.rfind, starts.append
    last = stop - 1 if flat[stop - 1] == " " else stop  # a space or newline at the end may stand beyond the width
    while last - start > width:
        space = find(" ", start, start + width + 1)
        start = start + width if space < 0 else space + 1
        append(start)


def _wrap_any(flat: str, start: int, stop: int, width: int, starts: "array[int]") -> None:
    """Do the same as `_wrap_narrow` for characters of any width, about 5 times slower."""
    while (end := _fitting(flat, start, stop, width)) < stop:
        space = flat.rfind(" ", start, end + 1)
        if space + 1 >= stop:
            return
        start = end if space < 0 else space + 1
        starts.append(start)


def _fitting(flat: str, start: int, stop: int, width: int) -> int:
    """Return the end of the longest piece from `start` on that fits into `width` cells."""
    width_of = WIDTHS.__getitem__
    stop = min(stop, start + MAX_LINE_CHARACTERS)
    while width >= 2 and start < stop:  # a character takes at most 2 cells: this many surely fit
        piece = flat[start : min(start + width // 2, stop)]
        width -= sum(map(width_of, piece))
        start += len(piece)
    while start < stop and (width := width - width_of(flat[start])) >= 0:
        start += 1
    return start


def _not_narrow(flat: str) -> re.Pattern[str] | None:
    """Return a pattern for the characters that do not take one cell; None if there are none, as in ASCII text."""
    if flat.isascii():
        return None
    seen: set[str] = set()
    for start in range(0, len(flat), _PIECE):  # in pieces: one call for 10 MB would block other threads for 0.1 s
        seen.update(flat[start : start + _PIECE])
    odd = "".join(sorted(character for character in seen if WIDTHS[character] != 1))
    return re.compile(f"[{re.escape(odd)}]") if odd else None
