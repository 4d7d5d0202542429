"""Look at the gaps between characters where a line's text does not tell: words glued, letters set apart, hyphens."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, pairwise, repeat
from operator import gt, mul, sub
from statistics import median
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.clean import HYPHEN
from longsearch.indexer.extract.pdf.ciphers import shifted
from longsearch.indexer.extract.pdf.layout import Line
from longsearch.indexer.extract.pdf.pages import clean_line
from longsearch.indexer.extract.pdf.places import font_sizes, gap_between, origin, origins, rights

_SPACES = re.compile(r"\s+")
_HYPHEN_IN_NAME = re.compile(f"{HYPHEN}(?=[0-9])")
_INNER_HYPHEN = re.compile(f"{HYPHEN}(?<=..)(?=.)", re.DOTALL)  # begins with a character to which `re` leaps
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


_LATER_BYTES = bytes(range(0x80, 0xC0))
"""All bytes of a letter in UTF-8 but the first: without them, each character has one byte."""
_KINDS = "".join(map(_kind, map(chr, range(128)))).encode() + b"~" * 128
_NO_SPACES = bytes((code if chr(code) in " \n" else 120) for code in range(256))
_SET_APART = b" x x x x"
"""What `_SINGLES` finds, in the output of `_NO_SPACES`."""
_SIGN, _CAPITAL, _LONG, _LATIN = re.compile(rb"\.(?<=a\.)[aA~]{2}"), b"aaaAaa", b"x" * 22, b"\xc3"
"""Where one of these stands in the kinds of a page's characters, `_GLUED` may find something: `_SIGN` begins with one
character, to which `re` leaps. `_LATIN`, in the bytes themselves, begins a letter of Latin-1 that is not in ASCII."""
_WORD = re.compile(r"\S+")
_WORD_GAP = 0.16
"""Font sizes between two words that stand close. Letters of a word have none, or some hundredths."""


class Found(NamedTuple):
    """A line as pdfium has it."""

    line: Line
    raw: str
    first: int
    """Index on the page of its first character."""


def put_right(text_page: Any, found: Sequence[Found]) -> list[Found]:
    """Return the lines of a page as `split_line` makes them, which few of them need."""
    numbers, (columns, raws, _) = range(len(found)), zip(*found, strict=True)
    texts, _, _, baselines, end_baselines, sizes, *_ = zip(*columns, strict=True)
    glued = glued_lines(texts, letters := letters_in(texts))
    drops, least = map(abs, map(sub, baselines, end_baselines)), map(mul, repeat(_ROW), sizes)
    odd = {number for number in compress(numbers, map(gt, drops, least)) if _goes_down(found[number])}
    glued = _parted_lines(text_page, [(number, found[number]) for number in glued])
    odd |= glued | _wrongly_joined(text_page, [(n, *found[n]) for n in numbers if HYPHEN in raws[n]])
    if _SET_APART in letters[1]:
        odd |= {
            n for n, text in enumerate(texts) if text.count(" ") > _MANY_SPACES * len(text) and _SINGLES.search(text)
        }
    lines: list[Found] = []
    begin = 0
    for number in sorted(number for number in odd if raws[number]):
        lines += found[begin:number]
        lines += split_line(text_page, found[number], number in glued)
        begin = number + 1
    return [*lines, *found[begin:]]


def _goes_down(found: Found) -> bool:
    """Return whether a line ends lower than it begins, and no broken word, which takes a line with it, explains it."""
    line = found.line
    drop = abs(line.baseline - line.end_baseline)
    return drop > _ROW * line.size and drop > _FAR * line.size * found.raw.count(HYPHEN)


def _wrongly_joined(text_page: Any, with_hyphen: Sequence[tuple[int, Line, str, int]]) -> set[int]:
    """Return the numbers of the lines that hold a hyphen after which a number, or no rest of a word, stands.

    `with_hyphen`: the lines with a hyphen, each with its number.
    """
    if not with_hyphen:
        return set()
    joints = [(number, first + at, line.size) for number, line, raw, first in with_hyphen for at in _joints(raw)]
    numbers, *places = zip(*joints, strict=True) if joints else ((), (), ())
    wrong = set(compress(numbers, _are_wrong(text_page, *places)))
    return wrong | {number for number, _, raw, _ in with_hyphen if _HYPHEN_IN_NAME.search(raw)}


def _joints(raw: str) -> list[int]:
    """Return where hyphens stand within a line."""
    return [found.start() for found in _INNER_HYPHEN.finditer(raw)]


def _are_wrong(text_page: Any, joints: Sequence[int], sizes: Sequence[float]) -> list[bool]:
    """Return for each hyphen whether the letters after it are of another size than those before, or stand far below.

    `joints` are the places of the hyphens on the page, `sizes` the font sizes of their lines.
    """
    around = [joint + step for step in (-1, 1) for joint in joints]
    n, baselines, letters = len(joints), origins(text_page, around)[1], font_sizes(text_page, around)
    ends = zip(baselines[:n], baselines[n:], letters[:n], letters[n:], sizes, strict=True)
    return [
        before - after > _FAR * size or 0 < _OTHER_SIZE * min(one, other) < max(one, other)
        for before, after, one, other, size in ends
    ]


def letters_in(texts: Iterable[str]) -> tuple[bytes, bytes]:
    """Return the first byte of each character of the texts, with line ends between; and the same with x for letters."""
    joined = "\n".join(texts)
    letters = joined.encode("utf-8", "replace")
    letters = letters if joined.isascii() else letters.translate(None, _LATER_BYTES)
    return letters, letters.translate(_NO_SPACES)


def glued_lines(texts: Sequence[str], letters_of_texts: tuple[bytes, bytes]) -> set[int]:
    """Return the numbers of the texts that may be glued, those that `may_be_glued` finds.

    `letters_of_texts` is what `letters_in` returns of them.
    """
    letters, unspaced = letters_of_texts
    kinds = letters.translate(_KINDS)
    places = [seeming.start() for seeming in _SIGN.finditer(kinds)]
    for part, text in ((_CAPITAL, kinds), (_LONG, unspaced), (_LATIN, letters)):
        place = text.find(part)
        while place >= 0:
            places.append(place)
            end = letters.find(b"\n", place)  # one place tells of the whole line
            place = text.find(part, end) if end >= 0 else -1
    steps = (letters.count(b"\n", before, place) for before, place in pairwise((0, *sorted(places))))
    return {number for number in set(accumulate(steps)) if may_be_glued(texts[number])}


def may_be_glued(text: str) -> bool:
    """Return whether a space may be missing in a line, or in a word."""
    return _GLUED.search(f" {text}") is not None


def split_line(text_page: Any, found: Found, is_glued: bool) -> list[Found]:
    """Return a line, or several if pdfium joined what does not belong together; its letters put right.

    `is_glued` is what `may_be_glued` says of its text.
    """
    line, raw, first = found
    if line.right <= line.left or line.size <= 0:
        return [found]
    if _goes_down(found) and (starts := _rows(text_page, line, raw, first)):
        rows = [(start, raw[start:stop].rstrip()) for start, stop in pairwise([0, *starts, len(raw)])]
        return [one for start, row in rows for one in _part(text_page, line, row, first + start, len(row))]
    joints = _joints(raw)
    wrong = joints and _are_wrong(text_page, [first + joint for joint in joints], [line.size] * len(joints))
    if (place := next(compress(joints, wrong), None)) is not None:
        rest = raw[place + 1 :]
        below = _part(text_page, line, rest, first + place + 1, len(rest))
        return [*_part(text_page, line, raw[:place] + "-", first, place), *below]
    if _HYPHEN_IN_NAME.search(raw):  # "IEEE-" and "754" on the next line
        raw = _HYPHEN_IN_NAME.sub("-", raw)
        line = line._replace(text=clean_line(raw))
        is_glued = may_be_glued(line.text)
    text = line.text
    if text.count(" ") > _MANY_SPACES * len(text) and _APART.search(text):
        line = line._replace(text=_together(text_page, raw, first, line.size))
    elif is_glued:
        line = line._replace(text=_parted(text_page, raw, first, line.size) or text)
    return [Found(line, raw, first)]


def _rows(text_page: Any, line: Line, raw: str, first: int) -> list[int]:
    """Return where other rows begin in a line into which pdfium put several rows of a table."""
    spaces = [found.span() for found in _SPACES.finditer(raw) if found.start() > 0 and found.end() < len(raw)]
    before = origins(text_page, [first + start - 1 for start, _ in spaces])[1]
    lefts, after = origins(text_page, [first + end for _, end in spaces])
    steps = zip(spaces, lefts, before, after, strict=True)
    return [end for (_, end), x, above, y in steps if above - y > _ROW * line.size and x < line.right]


def _part(text_page: Any, line: Line, raw: str, first: int, length: int) -> list[Found]:
    """Return what `split_line` makes of a part of a line, which has `length` characters; [] if none is readable."""
    if not (text := clean_line(raw)):
        return []
    (left, baseline), end = origin(text_page, first), first + length - 1
    size = font_sizes(text_page, [first])[0] or line.size
    part = Line(text, left, rights(text_page, [end])[0], baseline, origin(text_page, end)[1], size)
    return split_line(text_page, Found(part, raw, first), may_be_glued(text))


def _together(text_page: Any, raw: str, first: int, size: float) -> str:
    """Return a line with letters that were set apart put together into words, by the gaps between them."""
    out, begin = [], 0
    for found in _APART.finditer(raw):
        places = list(range(found.start(), found.end(), 2))
        indices = [first + place for place in places]
        left, right = origins(text_page, indices)[0], rights(text_page, indices)
        pitches = [other - one for one, other in pairwise(left)]
        gaps = list(map(sub, left[1:], right))
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


def _parted_lines(text_page: Any, glued: Sequence[tuple[int, Found]]) -> set[int]:
    """Return the numbers of those lines that `_parted` parts: a letter stands far from the one before."""
    asked = [(n, one.first + place, one.line.size) for n, one in glued for place in _likely_gaps(one.raw)]
    if not asked:
        return set()
    numbers, places, sizes = zip(*asked, strict=True)
    return set(compress(numbers, are_wide(text_page, places, sizes)))


def _likely_gaps(raw: str) -> Iterator[int]:
    """Yield the places of a line where two words may be glued: beside a sign or a capital, or inside a long word."""
    for found in _GLUED.finditer(f" {raw}"):
        start, stop = found.start() - 1, found.end() - 1
        places = range(start + 2, stop) if found[0][0].isspace() else (start, start + 1)
        yield from (place for place in places if raw[place].isalnum())


def _parted(text_page: Any, raw: str, first: int, size: float) -> str:
    """Return a line with spaces where words were glued: where two letters stand further apart than letters do."""
    out, begin = [], 0
    likely = set(_likely_gaps(raw))
    for found in _WORD.finditer(raw):
        places = range(found.start() + 1, found.end())
        gaps = [] if likely.isdisjoint(places) else _gaps(text_page, raw, first, places, size)
        for place in [] if likely.isdisjoint(gaps) else gaps:
            out.append(raw[begin:place])
            begin = place
    return clean_line(" ".join((*out, raw[begin:]))) if out else ""


def _gaps(text_page: Any, raw: str, first: int, places: Sequence[int], size: float) -> list[int]:
    """Return at which places a letter stands further from the one before than letters of a word do."""
    wide = are_wide(text_page, [first + place for place in places], [size] * len(places))
    return [place for place in compress(places, wide) if raw[place].isalnum()]


def are_wide(text_page: Any, places: Sequence[int], sizes: Sequence[float]) -> Iterator[bool]:
    """Yield for each character whether it stands further from the one before than letters of a word do."""
    before = rights(text_page, [place - 1 for place in places])
    gaps = map(sub, origins(text_page, places)[0], before)
    return map(gt, gaps, map(mul, repeat(_WORD_GAP), sizes))


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
        size = font_sizes(text_page, [index])[0]
        if out:
            out += " " if gap_between(text_page, index - 1, index) > _WORD_GAP * size else ""
        out += " " if character == " " else shifted(character, shift)
    if out:
        yield out, first, n_characters - 1
