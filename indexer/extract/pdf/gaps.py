"""Look at the gaps between the characters of a line, where its text does not tell: cells, letters set apart, hyphens.

pdfium puts one space for a gap of any width. Asking it for a character's place costs a microsecond, a third of a page's
time if it is done for all, so only lines that seem to need it are looked at.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.pdf.ciphers import shifted
from longsearch.indexer.extract.pdf.layout import Cell, Line
from longsearch.indexer.extract.pdf.pages import clean_line
from longsearch.indexer.extract.pdf.places import font_size, gap_between, origin, right_edge, stand_apart

_CELL_GAP = 1.1
"""Font sizes between two cells; justified lines have gaps of up to 0.8."""
_SPACES = re.compile(r"\s+")
_WIDE = 0.62
"""Font sizes a character of a line takes on average if it has wide gaps; usual text has 0.45 to 0.55."""
_HYPHEN = "\ufffe"
_HYPHEN_IN_NAME = re.compile(f"{_HYPHEN}(?=[0-9])")
_SAMPLE = 4
_FAR = 2.5
"""Font sizes below which the other half of a broken word does not stand."""
_OTHER_SIZE = 1.12
_APART = re.compile(r"(?<!\S)(?:[^\W\d_] ){4,}[^\W\d_](?!\S)")
"""Five or more letters with a space after each."""
_SINGLES = re.compile(r" \S \S \S \S(?!\S)")
"""What `_APART` finds has this in it; it begins with a character to which `re` leaps."""
_MANY_SPACES = 0.19
"""Share of spaces in a line with letters set apart; words have 0.15."""
_WIDER = 1.4
_ROW = 0.8
"""Font sizes between the baselines of two rows."""
_GLUED = re.compile(
    r"[\s.,;:!?A-ZÀ-Þ](?:(?<=\s)[^\s/@\\:]{22,}(?!\S)"
    r"|(?<=[a-zß-ÿ][.,;:!?])[^\W\d_]{2}|(?<=[a-zß-ÿ]{3}[A-ZÀ-Þ])[a-zß-ÿ]{2})"
)
"""A long word with the space before it, or a sign or a capital inside a word. It begins with the rarest character of
what it looks for: as three patterns one beside another it takes four times as long."""


def _kind(letter: str) -> str:
    if letter.isspace():
        return " "
    if letter in ".,;:!?":
        return "."
    return "a" if letter.islower() else "A" if letter.isupper() else "0"


_KINDS = "".join(map(_kind, map(chr, range(128)))).encode() + b"~" * 128  # the bytes of other letters in UTF-8
_NO_SPACES = bytes(32 if kind == 32 else 120 for kind in _KINDS)
_SIGN, _CAPITAL, _LONG = re.compile(rb"\.(?<=a\.)[aA~]{2}"), re.compile(rb"A(?<=aaaA)aa"), re.compile(b"x" * 22)
_LATIN = re.compile(b"\xc3")
"""Where one of these finds something in the kinds of a page's characters, `_GLUED` may too: they begin with one
character, to which `re` leaps. `_LATIN`, in the bytes themselves, begins a letter of Latin-1 that is not in ASCII."""
_WORD_GAP = 0.16
"""Font sizes between two words that stand close. Letters of a word have none, or some hundredths."""


class Found(NamedTuple):
    """A line as pdfium has it."""

    line: Line
    raw: str
    first: int
    """Index on the page of its first character."""


def with_cells(text_page: Any, found: Sequence[Found]) -> list[Line]:
    """Return the lines, each with its cells if it has wide gaps.

    Lines that are wide for their letters are looked at, and each fourth of the others; all of them if one has a gap.
    """
    wide = [line.right - line.left > _WIDE * line.size * len(line.text) > 0 for line, _, _ in found]
    narrow = [one for one, is_wide in zip(found, wide, strict=True) if not is_wide]
    look_at_all = any(_has_gap_between_boxes(text_page, one) for one in narrow[::_SAMPLE])
    lines = []
    for one, is_wide in zip(found, wide, strict=True):
        looks = (is_wide or look_at_all) and " " in one.line.text
        if looks and (is_wide or _has_gap_between_boxes(text_page, one)):
            cells = _cells(text_page, one.line, one.raw, one.first)
            lines.append(one.line._replace(cells=cells) if cells else one.line)
        else:
            lines.append(one.line)
    return lines


def put_right(text_page: Any, found: Sequence[Found]) -> list[Found]:
    """Return the lines of a page as `split_line` makes them, which few of them need."""
    glued = glued_lines([one.line.text for one in found])
    lines: list[Found] = []
    for number, one in enumerate(found):
        line, raw, first = one
        is_usual = (
            number not in glued
            and _HYPHEN not in raw
            and (line.text.count(" ") <= _MANY_SPACES * len(line.text) or not _SINGLES.search(line.text))
            and abs(line.baseline - line.end_baseline) <= _ROW * line.size
        )
        if is_usual or not raw:
            lines.append(one)
        else:
            lines += split_line(text_page, line, raw, first)
    return lines


def glued_lines(texts: Sequence[str]) -> set[int]:
    """Return the numbers of the texts that may be glued, those that `may_be_glued` finds."""
    data = "\n".join(texts).encode("utf-8", "replace")
    kinds = data.translate(_KINDS)
    places = [seeming.start() for pattern in (_SIGN, _CAPITAL) for seeming in pattern.finditer(kinds)]
    places += [seeming.start() for seeming in _LONG.finditer(kinds.translate(_NO_SPACES))]
    places += [seeming.start() for seeming in _LATIN.finditer(data)]
    numbers = {data.count(b"\n", 0, place) for place in places}
    return {number for number in numbers if may_be_glued(texts[number])}


def may_be_glued(text: str) -> bool:
    """Return whether a space may be missing in a line, or in a word."""
    return _GLUED.search(f" {text}") is not None


def split_line(text_page: Any, line: Line, raw: str, first: int) -> list[Found]:
    """Return `line`, or two lines if pdfium joined at a hyphen what does not belong together; its letters put right.

    `raw` is the line as pdfium has it, and `first` the index of its first character on the page.
    """
    if line.right <= line.left or line.size <= 0:
        return [Found(line, raw, first)]
    n_hyphens, drop = raw.count(_HYPHEN), abs(line.baseline - line.end_baseline)
    goes_down = drop > _ROW * line.size and drop > _FAR * line.size * n_hyphens  # a broken word takes a line with it
    if goes_down and (starts := _rows(text_page, line, raw, first)):
        rows = [(start, raw[start:stop].rstrip()) for start, stop in pairwise([0, *starts, len(raw)])]
        return [one for start, row in rows for one in _part(text_page, line, row, first + start, len(row))]
    if n_hyphens and (place := _wrong_joint(text_page, line, raw, first)):
        rest, tail = raw[place + 1 :], first + place + 1
        return [
            *_part(text_page, line, raw[:place] + "-", first, place),
            *_part(text_page, line, rest, tail, len(rest)),
        ]
    if n_hyphens and _HYPHEN_IN_NAME.search(raw):  # "IEEE-" and "754" on the next line
        raw = _HYPHEN_IN_NAME.sub("-", raw)
        line = line._replace(text=clean_line(raw))
    text = line.text
    if text.count(" ") > _MANY_SPACES * len(text) and _APART.search(text):
        line = line._replace(text=_together(text_page, raw, first, line.size))
    elif glued_lines([text]):
        line = line._replace(text=_parted(text_page, raw, first, line.size) or text)
    return [Found(line, raw, first)]


def _rows(text_page: Any, line: Line, raw: str, first: int) -> list[int]:
    """Return where other rows begin in a line into which pdfium put several rows of a table."""
    starts = []
    for found in _SPACES.finditer(raw):
        if found.start() > 0 and found.end() < len(raw):
            x, y = origin(text_page, first + found.end())
            if origin(text_page, first + found.start() - 1)[1] - y > _ROW * line.size and x < line.right:
                starts.append(found.end())
    return starts


def _part(text_page: Any, line: Line, raw: str, first: int, length: int) -> list[Found]:
    """Return what `split_line` makes of a part of a line, which has `length` characters on the page."""
    left, baseline = origin(text_page, first)
    end = first + length - 1
    size = font_size(text_page, first) or line.size
    text = clean_line(raw)
    part = Line(text, left, right_edge(text_page, end), baseline, origin(text_page, end)[1], size)
    return split_line(text_page, part, raw, first)


def _wrong_joint(text_page: Any, line: Line, raw: str, first: int) -> int:
    """Return the place of a hyphen after which no rest of the word stands; 0 if there is none."""
    place = raw.find(_HYPHEN, 1)
    while 0 < place < len(raw) - 1:
        drop = origin(text_page, first + place - 1)[1] - origin(text_page, first + place + 1)[1]
        sizes = sorted(font_size(text_page, first + at) for at in (place - 1, place + 1))
        is_other = sizes[0] > 0 and sizes[1] / sizes[0] > _OTHER_SIZE
        if is_other or drop > _FAR * line.size:
            return place
        place = raw.find(_HYPHEN, place + 1)
    return 0


def _has_gap_between_boxes(text_page: Any, found: Found) -> bool:
    """Return whether two pieces of a line that were drawn apart stand apart like cells."""
    distance = _CELL_GAP * found.line.size
    return distance > 0 and stand_apart(text_page, found.first, len(found.raw), distance)


def _cells(text_page: Any, line: Line, raw: str, first: int) -> tuple[Cell, ...]:
    """Return the parts of a line between wide gaps; () if it has none."""
    starts, lefts, rights, stops = [0], [], [], []
    for found in _SPACES.finditer(raw):
        stop, start = found.span()
        if stop > 0 and start < len(raw):
            right, left = gap_between(text_page, first + stop - 1, first + start)
            if left - right > _CELL_GAP * line.size:
                starts.append(start)
                lefts.append(left)
                stops.append(stop)
                rights.append(right)
    if not stops:
        return ()
    end = len(raw.rstrip())
    lefts = [origin(text_page, first)[0], *lefts]
    rights = [*rights, right_edge(text_page, first + end - 1)]
    texts = [clean_line(raw[start:stop]) for start, stop in zip(starts, [*stops, end], strict=True)]
    return tuple(Cell(*cell) for cell in zip(texts, lefts, rights, strict=True) if cell[0])


def _together(text_page: Any, raw: str, first: int, size: float) -> str:
    """Return a line with letters that were set apart put together into words, by the gaps between them."""
    out, begin = [], 0
    for found in _APART.finditer(raw):
        places = list(range(found.start(), found.end(), 2))
        lefts = [origin(text_page, first + place)[0] for place in places]
        rights = [right_edge(text_page, first + place) for place in places]
        pitches = [other - one for one, other in pairwise(lefts)]
        gaps = [left - right for left, right in zip(lefts[1:], rights, strict=False)]
        steps = min((pitches, gaps), key=_spread)
        limit = _WIDER * median(steps) + 0.1 * size
        word = raw[places[0]]
        for place, step in zip(places[1:], steps, strict=True):
            word += (" " if step > limit else "") + raw[place]
        out += [raw[begin : found.start()], word]
        begin = found.end()
    return clean_line("".join((*out, raw[begin:])))


def _spread(steps: Sequence[float]) -> float:
    """Return how much the smaller half of some distances differs, as a share: letters of words have even distances."""
    ranked = sorted(steps)
    low, high = ranked[len(ranked) // 10], ranked[len(ranked) * 6 // 10]
    return (high - low) / max(abs(median(ranked)), 0.1)


def _parted(text_page: Any, raw: str, first: int, size: float) -> str:
    """Return a line with spaces where words were glued: where two letters stand further apart than letters do."""
    out, begin = [], 0
    all_seeming = [match.start() - 1 for match in _GLUED.finditer(f" {raw}")]
    for found in re.finditer(r"\S+", raw):
        seeming = [place for place in all_seeming if found.start() - 1 <= place < found.end()]
        if not seeming:
            continue
        is_long = found.start() - 1 in seeming
        # a short word is glued where its sign or capital stands, or nowhere
        if not is_long and not any(
            _has_gap(text_page, raw, first, at, size) for one in seeming for at in (one, one + 1)
        ):
            continue
        for place in range(found.start() + 1, found.end()):
            if _has_gap(text_page, raw, first, place, size):
                out.append(raw[begin:place])
                begin = place
    return clean_line(" ".join((*out, raw[begin:]))) if out else ""


def _has_gap(text_page: Any, raw: str, first: int, place: int, size: float) -> bool:
    """Return whether a letter stands further from the one before than letters of a word do."""
    if not raw[place].isalnum():
        return False
    right, left = gap_between(text_page, first + place - 1, first + place)
    return left - right > _WORD_GAP * size


def shifted_lines(text_page: Any, shift: int) -> Iterator[tuple[str, int, int]]:
    """Yield each line of a page with its characters moved by `shift`, and the first and the last one's index.

    The characters are asked for one by one: the page's text lacks those that pdfium takes for controls, such as spaces.
    """
    out, first, n_characters = "", 0, pdfium_c.FPDFText_CountChars(text_page)
    for index in range(n_characters):
        character = chr(pdfium_c.FPDFText_GetUnicode(text_page, index))
        if character in "\r\n":
            if out:
                yield out, first, index - 1
            out, first = "", index + 1
            continue
        size = font_size(text_page, index)
        if out:
            right, left = gap_between(text_page, index - 1, index)
            out += " " if left - right > _WORD_GAP * size else ""
        out += " " if character == " " else shifted(character, shift)
    if out:
        yield out, first, n_characters - 1
