"""Long text wrapped to a width, as offsets: which characters stand on which line, and back.

Pure. 10 MB of text give about 150,000 lines; only their starts are kept (8 bytes a line), the text is never copied into
lines. A newline ends a line, except where the extractor's line ends are only how the printed page was broken: those
flow on like spaces (`soft_newlines`). Knows nothing of pages, passages or colours.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from tui.display import shown

MIN_FULL_LINE = 40
"""A line shorter than this many characters ends where its author ended it (a heading, an address, a list)."""
MAX_LINE_CHARACTERS = 4_096
"""Characters without width (stacked accents) could put a whole document on one line; no line has more than this."""

# What a flowing line goes on with: no list mark, no "12. ", no "[7] ", no indent, no table rule.
_FLOWS_ON = re.compile(r"(?!\d+[.)]\s)[^\W_]|[(\"'“‘]")
_NOT_PROSE = re.compile(r"[\d|=\t{};]")
REACH = 20_000
"""Characters before and after, and as many again to find a line end: some hundred lines, more than any screen."""
_PIECE = 1 << 20


class _Widths(dict[str, int]):
    """Cells a character takes when shown, worked out once each."""

    def __missing__(self, character: str) -> int:
        width = self[character] = cell_len(shown(character))
        return width


WIDTHS = _Widths()


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A text and where each of its wrapped lines starts."""

    text: str
    width: int
    """Cells a line may take; a space or newline that ends it may hang over."""
    starts: "array[int]"
    """Offset of each line's first character, ascending, the first 0."""

    def __len__(self) -> int:
        return len(self.starts)

    def line_at(self, offset: int) -> int:
        """The line that holds the character at `offset`; the nearest where there is none."""
        return max(bisect_right(self.starts, offset) - 1, 0)

    def span(self, line: int) -> tuple[int, int]:
        """Offsets of the line's first character and one past its last."""
        stop = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        return self.starts[line], stop


def wrap(text: str, width: int) -> TextLayout:
    """Wrap `text` to `width` cells (at least 2: one wide character): at spaces where it can be, else inside words."""
    width = max(width, 2)
    flat = text.replace("\n", " ").replace("\t", " ")  # str.translate takes 14 times as long
    starts = array("Q", [0])
    not_narrow = _not_narrow(flat)
    for start, stop in _paragraphs(text):
        odd = not_narrow is not None and not_narrow.search(flat, start, stop)
        (_wrap_any if odd else _wrap_narrow)(flat, start, stop, width, starts)
        starts.append(stop)
    if len(starts) > 1 and starts[-1] == len(text) and not text.endswith("\n"):
        starts.pop()  # the text ends inside its last line; after a newline there is one empty line more
    return TextLayout(text, width, starts)


def wrap_near(text: str, width: int, offset: int) -> TextLayout:
    """Wrap only what is within `REACH` characters of `offset`; what is before and after stands on one line each.

    For the first paint of a long text: 3 ms, whatever its length, where `wrap` takes 0.4 s for 10 MB.
    """
    low, high = max(offset - REACH, 0), min(offset + REACH, len(text))
    low = text.rfind("\n", max(low - REACH, 0), low) + 1 or low  # at a line end, where one is near
    high = text.find("\n", high, high + REACH) + 1 or high
    part = wrap(text[low:high], width)
    starts = array("Q", [0] if low else [])
    starts.extend(low + start for start in part.starts)
    if starts[-1] < high < len(text):
        starts.append(high)
    return TextLayout(text, part.width, starts)


def soft_newlines(text: str) -> Iterator[tuple[int, bool]]:
    """Each newline's offset, and whether the sentence before it flows on behind it.

    It does where the line before is full and reads like prose, the next one starts like a word, and the line is not a
    paragraph's last: shorter than the one before it, with a full stop.
    """
    start, before = 0, 0
    newline = text.find("\n")
    while newline >= 0:
        length = newline - start
        soft = length >= MIN_FULL_LINE and _FLOWS_ON.match(text, newline + 1) is not None
        if soft and (length < before * 0.85 and text[newline - 1] in ".!?:"):
            soft = False
        if soft and len(_NOT_PROSE.findall(text, start, newline)) * 6 > length:
            soft = False
        yield newline, soft
        start, before = newline + 1, length
        newline = text.find("\n", start)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Spans that end a line for certain; joined they are the text."""
    start = 0
    for newline, soft in soft_newlines(text):
        if not soft:
            yield start, newline + 1
            start = newline + 1
    if start < len(text):
        yield start, len(text)


def _wrap_narrow(flat: str, start: int, stop: int, width: int, starts: "array[int]") -> None:
    """Append the line starts inside a paragraph whose every character takes one cell."""
    find, append = flat.rfind, starts.append
    last = stop - 1 if flat[stop - 1] == " " else stop  # the space or newline at the end may hang over
    while last - start > width:
        space = find(" ", start, start + width + 1)
        start = start + width if space < 0 else space + 1
        append(start)


def _wrap_any(flat: str, start: int, stop: int, width: int, starts: "array[int]") -> None:
    """As `_wrap_narrow`, for characters of any width: about 5 times slower."""
    while (end := _fitting(flat, start, stop, width)) < stop:
        space = flat.rfind(" ", start, end + 1)
        if space + 1 >= stop:
            return
        start = end if space < 0 else space + 1
        starts.append(start)


def _fitting(flat: str, start: int, stop: int, width: int) -> int:
    """One past the last character of those from `start` that fit `width` cells."""
    width_of = WIDTHS.__getitem__
    stop = min(stop, start + MAX_LINE_CHARACTERS)
    while width >= 2 and start < stop:  # half as many characters as cells fit for certain: sum them in one go
        piece = flat[start : min(start + width // 2, stop)]
        width -= sum(map(width_of, piece))
        start += len(piece)
    while start < stop and (width := width - width_of(flat[start])) >= 0:
        start += 1
    return start


def _not_narrow(flat: str) -> re.Pattern[str] | None:
    """What finds a character that does not take one cell; None where there is none (every ASCII text)."""
    if flat.isascii():
        return None
    seen: set[str] = set()
    for start in range(0, len(flat), _PIECE):  # in pieces: one call over 10 MB would hold up the other threads 0.1 s
        seen.update(flat[start : start + _PIECE])
    odd = "".join(sorted(character for character in seen if WIDTHS[character] != 1))
    return re.compile(f"[{re.escape(odd)}]") if odd else None
