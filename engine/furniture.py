"""Recognises the parts of a text that only point elsewhere: lists of references, contents, indexes.

They hold the words of a query, and never its answer. Pure: knows text alone.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.sentences import Span, cut_blocks


class Furniture(StrEnum):
    """What a part of a text is that only points elsewhere."""

    CONTENTS = "contents"
    """A table of contents."""
    REFERENCES = "references"
    """A list of references."""
    INDEX = "index"
    """The words at the end of a book, with their pages."""


_UPPER = "A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁ"
_YEARS = r"(?:1[5-9]|20)\d\d\s?[-–]\s?(?:\d\d)?\d\d\b"
_PUBLISHED = (
    r"(?<![\w.])(?:pp?|S|vol|Vol|no|Bd|Hrsg|Hg|eds?|Eds?|Aufl|éd|dir|coord|núm|num|Jg|H|С|с|Т|Вып|изд|Изд|Nr|ss|sv|"
    r"uppl|red)\.(?!\w)|doi|DOI|arXiv|ISBN|ISSN|n\.d\.|et al|// (?=[А-Я])|№|nº|"
    r"\[[JMCDRN](?:/OL)?\]|第\s?\d+\s?[巻卷期号]|"
    r"(?:[Pp]roceedings|Journal|Transactions|Annals|Bulletin|Conference|Advances|Review|Letters) (?:of|in)\b|"
    r"\b(?:Press|Verlag|Publishers|[Pp]reprint|Zeitschrift|Revue|Revista|Rivista|Journal|Springer|Elsevier|Wiley|CoRR|"
    r"ACM|IEEE|AAAI|Retrieved|Accessed|Abgerufen|Zugriff|Consulté)\b|出版社|学报|論文"
)
# What entries of references have in common, and how much each says. An entry has a year and two of the other kinds. Of
# 128 passages of references of five papers 112 are recognised, of 371 others of these papers none, and 8 of 16,820 of
# encyclopaedias.
_YEAR = late_pattern(r"(?:^|[(\[,.;:–-]\s*)(?:1[5-9]|20)\d\d[a-z]?(?:\)|[.,;:](?!\d)|\s*$)", re.MULTILINE)
_NUMBERED = late_pattern(r"^\s*[-*•]?\s*(?:\[\d{1,3}\]|\[[A-Z][A-Za-z+]{1,6}\d\d[a-z]?\])\s", re.MULTILINE)
_MARKS = {
    "numbers": ((3.0, _NUMBERED),),
    "authors": (
        (1.0, late_pattern(rf"(?<![^\W\d_])[{_UPPER}]\.(?=\s*[,;&:(‐–-]|\s+(?:[{_UPPER}]|and |und |et |y |e )|\s*$)")),
        (
            0.5,
            late_pattern(rf"(?:[{_UPPER}][\w'’.-]+ ){{1,2}}[{_UPPER}][\w'’-]+,(?= (?:and |und |et |y |e )?[{_UPPER}])"),
        ),
    ),
    "pages": (
        (1.0, late_pattern(rf"(?<![\d.-])(?!{_YEARS})\d{{1,4}}\s?[-‐–—]{{1,2}}\s?\d{{1,4}}(?![\d-])")),
        (2.0, late_pattern(r"(?<!\w)\d{1,3}\s?\(\d{1,3}\)[:,.]|\d{4};\d{1,4}[:(]")),
    ),
    "addresses": ((1.0, late_pattern(r"https?://")),),
    "publishers": ((2.0, late_pattern(_PUBLISHED)),),
}
_LEAST_KINDS = 2
_FOR_LOWER = 6.0
_LEAST_DENSITY = 2.2  # of marks in a hundred characters
_LOWER_IN_PART, _LOWER_IN_ENTRY, _LOWER_IN_PROSE = 0.6, 0.66, 0.75  # the share of words that begin with a small letter
_CITATION = late_pattern(r"[(\[][^()\[\]]*[^\W\d_][^()\[\]]*,? ?(?:1[5-9]|20)\d\d[a-z]?[)\]]")  # in prose: (Lee, 2020)
_DATE = late_pattern(r"(?!Vol)[A-ZÀ-Þ][\w.]+ \d{1,2}, \d{4}|\d{1,2}\.? [A-ZÀ-Þa-zß-ÿ]+\.? \d{4}")
_ADDRESS = late_pattern(r"\]?\(?(?:https?://|www\.)\S+")
_INITIAL = late_pattern(r"([^\W_])[^\W_]*")
_MAY_BE_YEAR = late_pattern(r"(?:1[5-9]|20)\d\d")
_BRACKETED = late_pattern(r"\[(?:\d{1,3}|[A-Z][A-Za-z+]{1,6}\d\d[a-z]?)\]\s")
_SHORTEST_ENTRY, _COUNTED_FROM = 25, 40  # characters

_NUMBER = r"\d{1,4}(?:\s?[-–]\s?\d{1,4})?(?:\s?ff?\.?|n)?"
_LEADERS = late_pattern(r"(?:[.·]\s?){4}\s*[\divxlcIVXLC]{1,6}$|…\s*[\divxlc]{1,6}$")
_PAGE = late_pattern(r"(?:^|[\s.,|…·])(\d{1,4})$|[\s.,|…·][ivxlc]{1,7}$")
_ROMAN = tuple("ivxlc")
_END = 24  # characters of a line in which its page is looked for
_OUTLINE = late_pattern(r"\s*(?:[-*+•]\s+)?(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?\s+\S")
_CHAPTER = late_pattern(r"\s*(?:[-*+•]\s+)?(?:\d{1,2}|[A-Z]|[IVX]{1,5}|§\s?\d+)[.)]?\s+\S")
_LINK = late_pattern(r"\s*(?:[-*+•]|\d{1,2}\.)\s+\[[^\]]+\]\(#[^)]*\)\s*$")
_INDEXED = late_pattern(rf"\s*[^\W\d_].{{0,70}}?(?:,|\s)\s*{_NUMBER}(?:[,;]\s*{_NUMBER})*[.;,]?\s*$")
_DIGIT = late_pattern(r"\d")
_PAST_NUMBER = 6  # characters of a line after which no number of a page begins: "7 ff.;"
_SEVERAL = late_pattern(rf"{_NUMBER}[,;]\s*{_NUMBER}[.;,]?\s*$")
_ENDS, _PAGES_FOLLOW = tuple(".!?。！？:;,"), (" f", "ff")
_LEAST_LINES, _LEAST_DOTS, _LONGEST_LINE = 3, 4, 120
_HEADS_CONTENTS = late_pattern(
    r"\W*(?:table of contents|inhaltsverzeichnis|inhaltsübersicht|table des matières|sommaire|índice(?: general)?|"
    r"sumário|tabla de contenidos?|indice|sommario|inhoudsopgave|innehållsförteckning|indholdsfortegnelse|"
    r"innholdsfortegnelse|sisällysluettelo|spis treści|obsah|tartalomjegyzék|оглавление|содержание|зміст|içindekiler|"
    r"目\s?次|目\s?[录錄]|차례|목차|المحتويات|תוכן העניינים)\W*$",
    re.IGNORECASE,
)
_MAY_HEAD_CONTENTS = late_pattern(r"\W*(?:contents|inhalt|inhoud|innehåll|indhold|innhold|sisällys)\W*$", re.IGNORECASE)
_LEAST_SHARE = 0.6  # of a passage that is all furniture


class _Line(NamedTuple):
    """A line that is not empty."""

    start: int
    stop: int
    text: str
    page: int | None
    """The number at its end, or None. Roman numbers are 0."""
    has_leaders: bool
    """Whether dots lead to that number."""


def kind_of(text: str, parts: Sequence[tuple[Span, Furniture]]) -> Furniture | None:
    """Return what a passage is if it only points elsewhere; None if most of it does not.

    `parts`: those that `furniture_in` finds in it. Without any, many short pieces may be references all the same.
    """
    sizes: dict[Furniture, int] = {}
    for (start, stop), kind in parts:
        sizes[kind] = sizes.get(kind, 0) + stop - start
    if sum(sizes.values()) >= _LEAST_SHARE * len(text.strip()):
        return max(sizes, key=lambda kind: sizes[kind], default=None)
    return Furniture.REFERENCES if _entry_marks(text) >= _LEAST_KINDS else None


def furniture_in(text: str) -> list[tuple[Span, Furniture]]:
    """Return the parts of a text that only point elsewhere, in order, as ((start, stop), what it is)."""
    listed = list(_listed(text))
    entries = [span for span in _references(text) if not any(a < span[1] and span[0] < b for (a, b), _ in listed)]
    return sorted([*listed, *((span, Furniture.REFERENCES) for span in entries)])


def _references(text: str) -> list[Span]:
    """The entries of references, and what stands between two of them."""
    if not _may_be_entry(text):
        return []
    blocks = list(cut_blocks(text))
    n_kinds = [_entry_marks(text[slice(*span)]) for span in blocks]
    is_sure = [n >= _LEAST_KINDS for n in n_kinds]
    if not any(is_sure):
        return []
    lower = [_lower_share(text[slice(*span)]) for span in blocks]
    is_entry = list(is_sure)
    for numbers in (range(len(blocks)), range(len(blocks) - 1, -1, -1)):
        for before, number in pairwise(numbers):  # beside an entry, less will do
            is_part = is_sure[before] and lower[number] < _LOWER_IN_PART and _size(blocks[number]) >= _SHORTEST_ENTRY
            is_entry[number] |= is_part or (is_entry[before] and n_kinds[number] > 0)
    for number in range(1, len(blocks) - 1):
        stands_between = is_entry[number - 1] and is_entry[number + 1]
        is_entry[number] |= stands_between and lower[number] <= _LOWER_IN_PROSE
    return [span for span, one in zip(blocks, is_entry, strict=True) if one]


def _size(span: Span) -> int:
    return span[1] - span[0]


@lru_cache(maxsize=1 << 6)
def _entry_marks(block: str) -> int:
    """The kinds of marks by which a block is an entry of references; 0 if it is none. Most passages are one block."""
    if (
        len(block) < _SHORTEST_ENTRY
        or not _may_be_entry(block)
        or _is_row(block)
        or (lower := _lower_share(block)) > _LOWER_IN_ENTRY
    ):
        return 0
    plain = _DATE.sub("", _CITATION.sub("", block))
    n_years = len(_YEAR.findall(plain))
    if not (n_years or _NUMBERED.search(plain)):
        return 0
    found = {kind: sum(weight * len(mark.findall(plain)) for weight, mark in marks) for kind, marks in _MARKS.items()}
    total = 2 * n_years + sum(found.values())
    least = (_LEAST_DENSITY + _FOR_LOWER * max(lower - 0.4, 0)) / 100 * max(len(plain), _COUNTED_FROM)
    return sum(map(bool, found.values())) if total >= least else 0


def _may_be_entry(text: str) -> bool:
    """Whether a text has what an entry of references has: a year or a number in brackets."""
    return bool(_MAY_BE_YEAR.search(text) or ("[" in text and _BRACKETED.search(text)))


def _is_row(line: str) -> bool:
    """Whether a line is one of a table."""
    return line.count("\t") > 2 or line.count("|") > 1


def _lower_share(block: str) -> float:
    initials = _INITIAL.findall(_ADDRESS.sub("", block) if "http" in block or "www." in block else block)
    return sum(map(str.islower, initials)) / len(initials) if initials else 0.0


def _listed(text: str) -> Iterator[tuple[Span, Furniture]]:
    """Yield tables of contents and indexes."""
    if not _may_list(text):
        return
    run: list[_Line] = []
    for line in _lines(text):
        if line is not None:
            run.append(line)
            continue
        while run and (kind := _kind_of_run(run)) is None:
            run = run[1:] if len(run) > 1 and _heads(run[1].text) else []
        if run and kind:
            yield (run[0].start, run[-1].stop), kind
        run = []


def _may_list(text: str) -> bool:
    """Whether several short lines follow each other or one has many dots, and none ends as a sentence does.

    So it is told quickly of most texts that they list nothing.
    """
    n = 0
    for line in filter(None, text.split("\n")):
        is_ended = line[-1] in _ENDS
        is_apart = len(line) > _LONGEST_LINE or line.count("|") > 1 or (is_ended and line[-2:-1] != "f")
        n = 0 if is_apart else n + 1
        if n == _LEAST_LINES or not (is_ended or ("…" not in line and line.count(".") + line.count("·") < _LEAST_DOTS)):
            return True
    return False


def _lines(text: str) -> Iterator[_Line | None]:
    """Yield each line that may be one of contents or of an index, and None for one that may not, and at the end."""
    start = 0
    for line in text.split("\n"):
        if line and not line.isspace():
            end = line.rstrip(" \t|")[-_END:]
            number = _PAGE.search(end) if end[-1:].isdecimal() or end.endswith(_ROMAN) else None
            has_leaders = number is not None and bool(_LEADERS.search(end))
            if has_leaders or _may_be_listed(line, number is not None):
                page = None if number is None else int(number[1] or 0)
                yield _Line(start, start + len(line), line, page, has_leaders)
            else:
                yield None
        start += len(line) + 1
    yield None


def _may_be_listed(line: str, has_page: bool) -> bool:
    """Whether a line is short and does not end as a sentence does."""
    if len(line) > _LONGEST_LINE or (not has_page and _has_ended(line)) or _is_row(line):
        return False
    return not line.lstrip().startswith("#") or _heads(line)


def _has_ended(line: str) -> bool:
    """Whether a line ends with a sign, but for that of "ff."."""
    end = line.rstrip()
    return end.endswith(_ENDS) and not end[:-1].endswith(_PAGES_FOLLOW)


def _heads(line: str) -> bool:
    return bool(_HEADS_CONTENTS.match(line) or _MAY_HEAD_CONTENTS.match(line))


def _kind_of_run(run: Sequence[_Line]) -> Furniture | None:
    """What lines are that follow each other and do not end as sentences do."""
    n = len(run)
    if 2 * sum(line.has_leaders for line in run) >= n:
        return Furniture.CONTENTS
    if n < _LEAST_LINES:
        return None
    pages = [line.page for line in run if line.page is not None]
    if _HEADS_CONTENTS.match(run[0].text):
        return Furniture.CONTENTS
    rising = sum(first <= second for first, second in pairwise(pages)) >= 0.9 * (len(pages) - 1)
    named = [line.text.split()[-2:-1] for line in run if line.page and not line.has_leaders]
    are_counted = len(named) > 1 and named.count(named[0]) == len(named)  # week 1, week 2: the titles of slides
    is_of_years = all(1500 <= page <= 2100 for page in pages)
    are_pages = len(pages) >= 0.5 * n and rising and not (is_of_years or are_counted)
    if _MAY_HEAD_CONTENTS.match(run[0].text) and (are_pages or _are_outlined(run, 0.5 * (n - 1))):
        return Furniture.CONTENTS
    if n > 3 and len(pages) > 3 and are_pages:
        return Furniture.CONTENTS
    is_outline = n > 4 and any(_OUTLINE.match(line.text) or _LINK.match(line.text) for line in run)
    if is_outline and _are_outlined(run, 0.8 * n):
        return Furniture.CONTENTS
    return Furniture.INDEX if _is_index(run) else None


def _are_outlined(run: Sequence[_Line], n: float) -> bool:
    """Whether so many of these lines begin as entries of contents do."""
    starts = (_OUTLINE.match(line.text) or _CHAPTER.match(line.text) or _LINK.match(line.text) for line in run)
    return sum(map(bool, starts)) >= n


def _is_index(run: Sequence[_Line]) -> bool:
    """Whether lines are words with pages, in the order of the alphabet."""
    ended = [line.text.strip() for line in run]
    words = [text.casefold() for text in ended if _DIGIT.search(text[-_PAST_NUMBER:]) and _INDEXED.match(text)]
    if len(words) < 5 or len(words) < 0.6 * len(run):
        return False
    in_order = sum(first[0] <= second[0] for first, second in pairwise(words)) >= 0.85 * (len(words) - 1)
    return in_order and any(_SEVERAL.search(word) for word in words)
