"""Join pages into one text, and remove lines that are surely running heads or page numbers. Pure functions."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from longsearch.indexer.extract.clean import CJK, HYPHEN, clean_characters, is_usual

_DIGITS = re.compile(r"\d+")
_RUN_OF_SPACE = re.compile(r"\s+")
_APART = re.compile(f"(?<=[{CJK}]) (?=[{CJK}])")
_IS_CJK = re.compile(f"[{CJK}]")
FIRST_CJK = CJK[0]
_TOGETHER = re.compile(f"[{CJK}](?=[{CJK}])")
# A running line without letters must be a page number ("12", "- 12 -", "12 / 30"), or long tables would lose rows.
_PAGE_NUMBER = re.compile(r"[^\w#]*#[^\w#]*(#[^\w#]*)?")
_MIN_REPEATS = 4
_MIN_SHARE = 0.6
"""Share of the even or of the odd pages: books have one head on the left and another on the right."""
_MIN_LINES = 2
"""Lines of a page that may lose a running line: a page with one line would become empty."""
_MAX_HEAD_CHARACTERS = 150
_MAX_HEAD_LINES = 3
LINE_END = "\r\n"
"""What pdfium writes after each line."""
SENTENCE_END = tuple('.!?:;"”’)»]。！？')
HYPHENS = frozenset("-\u2010")


def line_of_page(text: str) -> str:
    """Return a line with one space between words, and none between the characters of wide-set Chinese or Japanese.

    Pdfium, pypdf and tesseract put a space between any two characters that stand apart: 目 录 instead of 目录.
    """
    line = " ".join(text.split())
    if line.isascii() or len(_APART.findall(line)) <= len(_TOGETHER.findall(line)):
        return line
    return _APART.sub("", line)


def clean_line(raw: str) -> str:
    """Return a line of a library's text cleaned, in the form of `line_of_page`."""
    line = raw.replace(HYPHEN, "").strip(" ")
    if line.isascii() and line.isprintable() and "  " not in line:  # most lines
        return line
    return line_of_page(clean_characters(raw))


def clean_lines(page: str) -> list[str]:
    """Return `clean_line` of each line of a page: the page is cleaned at once, unless it has other ends of lines."""
    text = page.replace(LINE_END, "\n")
    cleaned = text.replace(HYPHEN, "") if is_usual(page) else clean_characters(text)
    lines = cleaned.split("\n")
    is_as_lines = len(lines) == page.count(LINE_END) + 1 == text.count("\n") + 1 and "\r" not in cleaned
    if not is_as_lines or "\x1b" in text or "\x85" in text:  # what these two mean is asked of the characters beside
        return list(map(clean_line, page.split(LINE_END)))
    if not is_usual(page) and _IS_CJK.search(cleaned):
        return list(map(line_of_page, lines))
    return [" ".join(line.split()) if "  " in line or "\t" in line else line.strip(" ") for line in lines]


def is_one_run(line: str, following: str) -> bool:
    """Return whether no space belongs between two lines, because both are Chinese or Japanese where they meet."""
    return line[-1:] >= FIRST_CJK and _TOGETHER.match(line[-1:] + following[:1]) is not None


def breaks_word(line: str, following: str) -> bool:
    """Return whether `line` ends with a hyphen inside a word that continues in the line `following`."""
    return line[-1:] in HYPHENS and line[-2:-1].isalpha() and following[:1].islower()


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Return the pages' text in one string, and the offset of each page's first character.

    The separator between two pages (an empty line, or a line end within a sentence) belongs to the first page.
    """
    last = max((index for index, page in enumerate(pages) if page), default=-1)
    ended = [page + _separator(page) if page and index < last else page for index, page in enumerate(pages)]
    starts = accumulate((len(page) for page in ended[:-1]), initial=0)
    return "".join(ended), tuple(starts)


def _separator(page: str) -> str:
    return "\n\n" if page.endswith(SENTENCE_END) else "\n"


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the pages' lines without the lines that repeat at the top or bottom of most pages; digits may differ."""
    rest = [list(lines) for lines in pages]
    for place in (0, -1):
        for _ in range(_MAX_HEAD_LINES):
            running = _running_pages(rest, place)
            if not running:
                break
            for index in running:
                del rest[index][place]
    return rest


def _running_pages(pages: Sequence[Sequence[str]], place: int) -> list[int]:
    """Return the indices of the pages whose line at `place` (0 or -1) is a running line."""
    running: list[int] = []
    for parity in (0, 1):
        keys = {
            index: _key(pages[index][place])
            for index in range(parity, len(pages), 2)
            if len(pages[index]) >= _MIN_LINES
        }
        counts = Counter(key for key in keys.values() if key)
        certain = {key for key, n in counts.items() if n >= _MIN_REPEATS and n >= _MIN_SHARE * len(keys)}
        running += [index for index, key in keys.items() if key in certain]
    return running


def _key(line: str) -> str:
    """Return the part of `line` that must repeat on other pages, or "" if it cannot be a running line."""
    if len(line) > _MAX_HEAD_CHARACTERS:
        return ""
    key = _RUN_OF_SPACE.sub(" ", _DIGITS.sub("#", line)).strip().casefold()
    has_letters = any(character.isalpha() for character in key)
    return key if has_letters or _PAGE_NUMBER.fullmatch(key) else ""
