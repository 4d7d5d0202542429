"""Finds dates, long numbers and identifiers in a text, and the form of each that all its spellings share. Pure.

`17 May 2021`, `17.05.2021` and `2021-05-17` are one day. Its form is a word of digits and letters, 20210517, which the
index holds beside the text's own words. What is ambiguous has several forms: 03/04/2021 is a day in March or in April.
A quantity with its unit is one word too (`quantities`). What a query alone can spell in all ways, such as a bare
number, has no form here: see `asked_forms`.

Longer than 300 lines because each kind stands with its pattern, what makes its forms, and what passes over it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from longsearch.engine.languages.analysis import folded
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.quantities import GAP, NEEDS, POINT, QUANTITY, words

_REACH = 40  # characters beside a digit, in which the name of its month or the letters of its identifier stand
LONGEST = 34
"""Characters of a form: those of an IBAN."""
_DASH = "[-\u2010-\u2015\u2212]"
DASH = late_pattern(_DASH)
_OF = r"(?:(?:de|del|of|d|di|do|ta|den|gada|m)[.'’]?\s*)?"
_NAME = r"(?P<name>[^\W\d_][^\s\d,/()]{1,15}?)"
_ORDINAL = r"(?:st|nd|rd|th|er|[ºª.])?"
_CAPITALS = r"(?:[A-Z]{1,6}|[A-Z]*\d[A-Z0-9]*)"


@dataclass(frozen=True, slots=True)
class Written:
    """A number, a date or an identifier of a text."""

    start: int
    stop: int
    """One past its last character."""
    forms: tuple[str, ...]
    """What all its spellings share, in small letters: a word each, or a phrase."""

    def covers(self, place: int) -> bool:
        """Whether the character at this place belongs to it."""
        return self.start <= place < self.stop

    def has(self, text: str, start: int, stop: int) -> bool:
        """Whether all letters and digits of the word from `start` to `stop` belong to it, and any."""
        around = text[start : max(start, self.start)] + text[min(self.stop, stop) : stop]
        return self.start < stop and start < self.stop and not any(map(str.isalnum, around))

    @property
    def is_quantity(self) -> bool:
        """Whether it is a number with its unit."""
        return self.forms[0].startswith(POINT)

    def is_all_of(self, text: str) -> bool:
        """Whether the text has no letters and digits around it."""
        return not any(map(str.isalnum, text[: self.start] + text[self.stop :]))


def written(text: str) -> list[Written]:
    """Return the numbers, dates and identifiers of a text that can be spelt in several ways."""
    found: list[Written] = []
    others: list[Written] = []
    for start, stop in _stretches(text):
        part = text[start:stop]
        if not part.isascii():
            others += (
                Written(start + run.start(), start + run.end(), (str(int(run[0])),))
                for run in _NOT_ASCII.finditer(part)
                if len(run[0]) <= LONGEST
            )
            part = _NOT_ASCII.sub(lambda run: "".join(str(int(digit)) for digit in run[0]), part)
        shape = part.translate(_SHAPE)
        n_digits = shape.count("0")
        for kind in _KINDS:
            may_be = n_digits >= kind.n_digits and kind.needs.search(shape)
            for match in list(kind.pattern.finditer(part)) if may_be else ():
                if forms := tuple(dict.fromkeys(form.lower() for form in kind.forms(match) if len(form) <= LONGEST)):
                    found.append(Written(start + match.start(), start + match.end(), forms))
                    if kind.is_alone:
                        part = part[: match.start()] + "\0" * len(match[0]) + part[match.end() :]
    return found + others


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of the parts of a text that have digits."""
    for digits in _NEAR_DIGITS.finditer(text):
        yield max(0, digits.start() - _REACH), min(digits.end() + _REACH, len(text))


def _day(year: str, month: str, day: str) -> Iterator[str]:
    """Yield the forms of a day and of its month; of a month if there is no day; none for an impossible date."""
    whole = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 70 else 1900)
    if whole < 1000 or not 1 <= int(month) <= 12:
        return
    if day:
        try:
            date(whole, int(month), int(day))
        except ValueError:
            return
        yield f"{whole}{int(month):02}{int(day):02}"
    yield f"{whole}{int(month):02}"


def _of_year_first(found: re.Match[str]) -> Iterator[str]:
    if found["day"] or found["sign"] in "-/":
        yield from _day(found["year"], found["month"], found["day"] or "")


def _of_year_last(found: re.Match[str]) -> Iterator[str]:
    one, two, year = found["one"], found["two"], found["year"]
    if len(year) == 4 or (len(one) == len(two) == 2) or found["sign"] == "/":
        yield from _day(year, two, one)
        if found["sign"] != ".":
            yield from _day(year, one, two)


def _of_numbers(found: re.Match[str]) -> Iterator[str]:
    yield from _day(found["year"], found["month"] or "0", found.groupdict().get("day") or "")


def _of_named(found: re.Match[str]) -> Iterator[str]:
    from longsearch.engine.languages.months import MONTHS  # 1,300 names: a search without a date needs none

    parts = found.groupdict()
    for month in MONTHS.get(folded(parts["name"]).rstrip("."), ()):
        yield from _day(parts["year"], str(month), parts.get("day") or parts.get("day_after") or "")


def _of_arxiv(found: re.Match[str]) -> Iterator[str]:
    yield found["arxiv"].replace(".", POINT)


def _of_isbn(found: re.Match[str]) -> Iterator[str]:
    """Yield an ISBN of 13 digits without dashes. A number of ten digits alone is as often a telephone number."""
    digits = "".join(filter(str.isalnum, found["isbn"])).upper()
    if len(digits) == 10 and (found["said"] or digits[-1] == "X" or found["isbn"].count("-") == 3):
        weighed = sum((10 - place) * (10 if digit == "X" else int(digit)) for place, digit in enumerate(digits))
        if weighed % 11 == 0:
            yield digits
            digits = "978" + digits[:9]
            total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
            yield digits + str(-total % 10)
    elif len(digits) == 13 and digits.isdecimal():
        yield digits


def _of_groups(found: re.Match[str]) -> Iterator[str]:
    """Yield the digits of a telephone, card or account number in one, and a telephone number without its country."""
    groups = re.findall(r"\d+", found[0])
    digits, signs = "".join(groups), set(re.findall(r"[^\d\s]", found[0]))
    is_years = all(map(_YEAR.fullmatch, groups))
    if not 7 <= len(digits) <= 19 or is_years or (signs == {"."} and (len(groups) == 2 or max(map(len, groups)) < 4)):
        return
    yield digits
    yield from _dialled(found[0], digits, len(groups))


def _of_dialled(found: re.Match[str]) -> Iterator[str]:
    yield from _dialled(found[0], found[0].lstrip("+"), 1)


def _dialled(typed: str, digits: str, n_groups: int) -> Iterator[str]:
    """Yield a telephone number without the code of its country and without the zero that stands for it."""
    if typed.lstrip("(").startswith("+") or digits.startswith("00"):
        digits = digits.removeprefix("00")
        digits = digits[1 if digits[0] in "17" else 2 if digits[:2] in _CODES else 3 :]
    elif not (digits.startswith("0") or (len(digits) == 11 and digits[0] in "18" and n_groups > 2)):
        return
    else:
        digits = digits[1:]
    if len(digits := digits.lstrip("0")) >= 6:
        yield digits


def _of_iban(found: re.Match[str]) -> Iterator[str]:
    yield "".join(filter(str.isalnum, found[0]))


def _of_parts(found: re.Match[str]) -> Iterator[str]:
    """Yield the parts of a part number in one, unless a query can cut it where a letter stands beside a digit."""
    if not is_mixed(found[0]):
        return
    parts = re.findall(r"[^\W_]+", found[0])
    if _YEAR.fullmatch(parts[-1]) and not DASH.search(found[0]):
        del parts[-1]  # Q2 2023
    whole = "".join(parts)
    if len(parts) > 1 and is_mixed(whole) and BORDER.split(whole) != parts:
        yield whole


def is_mixed(text: str) -> bool:
    """Whether a text has letters and digits."""
    return any(map(str.isdecimal, text)) and any(map(str.isalpha, text))


_CODES = frozenset(
    """
    20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90
    91 92 93 94 95 98
    """.split()  # noqa: SIM905 (forty lines as a list)
)
"""The codes of countries that have two digits. Those that begin with 1 or 7 have one, all others three."""
_NEAR_DIGITS = late_pattern(rf"\d(?:\D{{0,{2 * _REACH}}}+\d)*+")
_YEAR = late_pattern(r"(?:1[5-9]|20)\d\d")
BORDER = late_pattern(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
"""Where a letter stands beside a digit."""
_NOT_ASCII = late_pattern(r"[^\D0-9]+")
_SHAPE = str.maketrans(
    dict.fromkeys("0123456789", "0")
    | dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A")
    | dict.fromkeys("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("./_", ".")
    | dict.fromkeys("\u00a0\u2007\u2009\u202f", " ")
)
"""Of a text: 0 for each digit, A for each capital, one sign for all dashes, for all points, for all gaps."""


class _Kind(NamedTuple):
    """How one kind of number, date or identifier is written."""

    pattern: re.Pattern[str]
    forms: Callable[[re.Match[str]], Iterator[str]]
    """What all spellings of a match share; nothing if it is none."""
    needs: re.Pattern[str]
    """What the shape of a text has in which there is one: most texts are passed over by this, which is quicker."""
    n_digits: int
    """How many digits that takes at least: most texts have a page or a year alone."""
    is_alone: bool = True
    """Whether its characters belong to nothing else."""


_KINDS = (
    _Kind(
        late_pattern(
            r"(?:(?:https?://)?(?:dx\.)?doi\.org/|\bdoi:?\s?)?(?<![\w.])"
            r"(?P<doi>10\.\d{4,9}/[^\s\"<>]*[^\s\"<>.,;:)\]}'’”])",
            re.I,
        ),
        lambda found: iter((found["doi"],)),
        late_pattern(r"00\.0{4}"),
        6,
    ),
    _Kind(
        late_pattern(
            r"(?:https?://arxiv\.org/(?:abs|pdf)/|\barxiv:?\s?)?(?<![\w.,])(?P<arxiv>\d{4}\.\d{4,5})(?:v\d{1,2})?"
            r"(?:\.pdf)?(?![.,]?\d|\w)",
            re.I,
        ),
        _of_arxiv,
        late_pattern(r"0{4}\.0{4}"),
        8,
    ),
    _Kind(
        late_pattern(
            rf"(?P<said>\bisbn\S{{0,4}}\s?)?(?<![\w-])"
            rf"(?P<isbn>(?:97[89](?:{_DASH}|{GAP})?)?(?:\d(?:{_DASH}|{GAP})?){{9}}[\dXx])(?![\w-])",
            re.I,
        ),
        _of_isbn,
        late_pattern("0(?:[- ]?0){8}"),
        9,
    ),
    _Kind(
        late_pattern(
            rf"(?<!\w)[A-Z]{{2}}\d\d(?:{GAP}|-)?[A-Z0-9]{{4}}(?:(?:{GAP}|-)?(?=[A-Z]{{0,3}}\d)[A-Z0-9]{{4}}){{1,7}}"
            rf"(?:(?:{GAP}|-)?(?=[A-Z]{{0,2}}\d)[A-Z0-9]{{1,3}})?(?!\w)"
        ),
        _of_iban,
        late_pattern("AA00"),
        2,
    ),
    _Kind(
        late_pattern(
            r"(?<![\d.,/-])(?P<year>\d{4})(?P<sign>[-/._])(?P<month>\d{1,2})(?:(?P=sign)(?P<day>\d{1,2}))?(?![\d/-]|[.,]\d)"
        ),
        _of_year_first,
        late_pattern("0{4}[-.]0"),
        5,
    ),
    _Kind(
        late_pattern(
            r"(?<![\d.,/-])(?P<one>\d{1,2})(?P<sign>[./-])\s?(?P<two>\d{1,2})(?P=sign)\s?(?P<year>\d{4}|\d\d)"
            r"(?![\d/-]|[.,]\d)"
        ),
        _of_year_last,
        late_pattern(r"0[-.]\s?00?[-.]\s?00"),
        4,
    ),
    _Kind(
        late_pattern(r"(?<![\d.,/-])(?P<month>0?[1-9]|1[0-2])/(?P<year>\d{4})(?![\d/-])"),
        _of_numbers,
        late_pattern(r"0\.0{4}"),
        5,
    ),
    _Kind(
        late_pattern(
            rf"(?:(?<!\d)(?P<day>\d{{1,2}}){_ORDINAL}[\s/-]\s*{_OF})?(?<![^\W_]){_NAME}[.,]?[\s/-]\s*{_OF}"
            rf"(?:(?P<day_after>\d{{1,2}}){_ORDINAL},?\s+)?(?P<year>\d{{4}})(?!\d)",
            re.I,
        ),
        _of_named,
        late_pattern(r"0{4}(?!0)(?<=[\s\w.'’-]0{4})(?<!0{5})"),
        4,
    ),
    _Kind(
        late_pattern(
            rf"(?<!\d)(?P<year>\d{{4}})[.,]?[\s/-]\s*{_OF}(?<![^\W_]){_NAME}\.?(?:[\s/-]\s*(?P<day>\d{{1,2}})(?!\d)|(?![^\W_]))",
            re.I,
        ),
        _of_named,
        late_pattern(r"0{4}(?<!0{5})[.,]?[\s.-]"),
        4,
    ),
    _Kind(
        late_pattern(r"(?<!\d)(?P<year>\d{4}) ?[年년](?: ?(?P<month>\d{1,2}) ?[月월](?: ?(?P<day>\d{1,2}) ?[日일])?)?"),
        _of_numbers,
        late_pattern("0{4} ?[年년]"),
        4,
    ),
    _Kind(
        late_pattern(rf"(?<!\w)(?<!\w-)\+?\(?\d+(?:(?:{GAP}|{_DASH}|[./()]){{1,3}}\d+){{1,8}}(?!\w)"),
        _of_groups,
        late_pattern(r"0(?:[ .()-]{0,3}0){6}"),
        7,
        is_alone=False,
    ),
    _Kind(late_pattern(r"(?:\+|(?<![\w.,])0)\d{7,14}(?!\w)"), _of_dialled, late_pattern("0{7}"), 7, is_alone=False),
    _Kind(
        late_pattern(rf"(?<!\w)(?:[A-Za-z0-9]{{1,12}}{_DASH}){{1,5}}[A-Za-z0-9]{{1,12}}(?!\w)"),
        _of_parts,
        late_pattern("(?<![A-Za-z0])[A-Za-z]*+0[A-Za-z0]*+-|-[A-Za-z]*+0"),
        1,
        is_alone=False,
    ),
    _Kind(
        late_pattern(rf"(?<!\w){_CAPITALS}(?:(?:{GAP}|{_DASH}|[./_]){_CAPITALS}){{1,3}}(?!\w)"),
        _of_parts,
        late_pattern("A[ .-]*0|0[ .-]*A"),
        1,
        is_alone=False,
    ),
    _Kind(QUANTITY, words, NEEDS, 1, is_alone=False),
)
"""In the order in which they are looked for. Each that is alone takes its characters away from what comes after it.

The others are looked for in what those leave: a row of digits may be an amount or a telephone number.
"""
