"""Reads dates in free text and in paths, and compares dates of unequal precision.

A date is an ISO string of a year, a month or a day: "2021", "2021-05" or "2021-05-17". It is as precise as the text
was, and strings compare as dates do. A date that cannot be true (year 0, year 9999, month 13) is no date. Pure
functions, except that the last possible year is next year.
"""

import re
from datetime import date

from longsearch.engine.late_patterns import late_pattern

_FIRST_YEAR = 1000
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OTHER_MONTHS = (
    ("enero", "gennaio", "январ"), ("février", "fevereiro", "феврал"), ("märz", "maart", "март"),
    ("avril", "abril", "апрел"), ("mai", "mei", "maj", "maggio", "maio", "май", "мая"), ("juin", "giugno", "июн"),
    ("juillet", "luglio", "июл"), ("août", "agosto", "август"), ("settembre", "setembro", "сентябр"),
    ("oktober", "ottobre", "outubro", "октябр"), ("ноябр",),
    ("décembre", "dezember", "dezembro", "dicembre", "diciembre", "декабр"),
)  # fmt: skip
"""Whole names that begin otherwise than in English: Dutch, French, German, Italian, Portuguese, Spanish, Swedish, and
Russian ones without their endings."""
_ENGLISH_MONTHS = frozenset(
    "january february march april june july august sept september october november december".split()  # noqa: SIM905
)
_WHOLE_MONTHS = "|".join(name for names in _OTHER_MONTHS for name in names)
_MONTH_NUMBERS = {
    name: number
    for number, (english, others) in enumerate(zip(_MONTHS, _OTHER_MONTHS, strict=True), start=1)
    for name in (english, *others)
}
_MONTH = rf"(?:(?P<name>{'|'.join(_MONTHS)})[a-zçé]*|(?P<other>{_WHOLE_MONTHS})[а-я]?\b)"
_EAST_ASIAN = late_pattern(
    r"(?<!\d)(?P<year>\d{4}) ?[年년](?: ?(?P<month>\d{1,2}) ?[月월](?: ?(?P<day>\d{1,2}) ?[日일])?)?"
)
_DOTTED = late_pattern(r"(?<![\d.])(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4})(?!\d)")
_ISO = late_pattern(r"(?<!\d)(?P<year>\d{4})(?:([-/._])(?P<month>\d{1,2})(?:\2(?P<day>\d{1,2})(?!\d))?(?!\d))?(?!\d)")
_COMPACT = late_pattern(r"(?<!\d)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:\d{4,6}|(?!\d))")
_DAY_FIRST = late_pattern(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º)?\.? (?:de )?)?{_MONTH}\.?,? (?:de )?(?P<year>\d{{4}})(?!\d)", re.I
)
_MONTH_FIRST = late_pattern(rf"\b{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})(?!\d)", re.I)
_YEAR = late_pattern(r"(?<![\w.-])(\d{4})(?![\w.-]*\d)")
_MAX_CHARACTERS = 200
# In a path a number of eight digits or a bare year may be anything: these need the 20th or 21st century.
_IN_NAME = late_pattern(
    r"(?<![^\W_])(?<!\.)((?:19|20)\d\d)([-_. ]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?(?!\d)(?!\.\d)"
)
_YEAR_IN_NAME = late_pattern(r"(?<![^\W_])((?:19|20)\d\d)(?![^\W_])")
_ARXIV_NAME = late_pattern(r"(?<!\d)(\d\d)(0[1-9]|1[0-2])\.\d{4,5}(?:v\d{1,2})?(?!\d)")
_NUMBER = late_pattern(r"\d{1,2}")
_ARXIV_FIRST_YEAR = 7  # identifiers of this form begin in April 2007


def is_month(word: str) -> bool:
    """Whether a word is a month's name, or its first three letters: "May", not "Mayer"."""
    name = word.casefold().rstrip(".")
    return name in _MONTH_NUMBERS or name in _ENGLISH_MONTHS


def parse_date(text: str) -> str:
    """Return the date in `text`, or "" if it holds none or an impossible one.

    Reads ISO dates, PDF's "D:20040612…", "17 May 2021", "May 2021" and "May 17, 2021", also with the months of other
    languages ("3 de mayo de 2021"), "03.05.2021" and "2021年5月3日". Of "03/04/2021" and of any other text with one
    year in it, it returns the year: nobody knows which number is the month.
    """
    text = " ".join(text[:_MAX_CHARACTERS].replace("D:", " ").split())
    for pattern in (_COMPACT, _MONTH_FIRST, _DAY_FIRST, _EAST_ASIAN, _DOTTED, _ISO):
        if (match := pattern.search(text)) and (parsed := _from_match(match)):
            return parsed
    years = {year for year in _YEAR.findall(text) if _is_year(int(year))} or set(re.findall(r"/(\d{4})\b", text))
    return make_date(int(years.pop())) if len(years) == 1 else ""


def _from_match(match: re.Match[str]) -> str:
    parts = match.groupdict()
    name = parts.get("name") or parts.get("other")
    month = _MONTH_NUMBERS[name.lower()] if name else int(parts["month"] or 0)
    return make_date(int(parts["year"]), month, int(parts["day"] or 0))


def make_date(year: int, month: int = 0, day: int = 0) -> str:
    """Return the date, or "" if there can be no such date; a month or day of 0 is unknown."""
    if not _is_year(year) or (day and not month):
        return ""
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return ""
    return f"{year:04}" + (f"-{month:02}" if month else "") + (f"-{day:02}" if day else "")


def _is_year(year: int) -> bool:
    return _FIRST_YEAR <= year <= date.today().year + 1


def date_in_path(path: str) -> str:
    """Find the date in a relative path: in the file's name, else in the nearest folder's; "" if there is none.

    "2021-05-17 notes.md", "20210517.txt", "report 2019.pdf", "1706.03762v5.pdf" (an arXiv id) and "2019/05/17/x.md"
    name one. "1984.epub" does not: a year alone is a title.
    """
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    if dated := _dated(stem, is_folder=False):
        return dated
    for place in range(len(folders) - 1, -1, -1):
        if dated := _dated(folders[place], is_folder=True):
            if len(dated) > len("2019"):
                return dated
            return _with_numbers(dated, [*folders[place + 1 :], stem])
    return ""


def _dated(name: str, is_folder: bool) -> str:
    """The date in one part of a path."""
    if (arxiv := _ARXIV_NAME.search(name)) and int(arxiv[1]) >= _ARXIV_FIRST_YEAR:
        return make_date(2000 + int(arxiv[1]), int(arxiv[2]))
    for match in _IN_NAME.finditer(name):
        if (match[2] or match[4]) and (day := make_date(int(match[1]), int(match[3]), int(match[4] or 0))):
            return day  # without a separator, six digits are rather a number than a month
    years = {match[1] for match in _YEAR_IN_NAME.finditer(name) if is_folder or match[0] != name.strip()}
    return make_date(int(years.pop())) if len(years) == 1 else ""


def _with_numbers(year: str, parts: list[str]) -> str:
    """Add month and day to a year, if the parts of the path after it begin with them: "2019/05/17 walk.md"."""
    dated = year
    for part in parts[:2]:
        number = _NUMBER.match(part)
        if number is None or part[number.end() : number.end() + 1].isalnum():
            break
        if not (longer := make_date(int(year), *map(int, [*dated.split("-")[1:], number[0]]))):
            break
        dated = longer
    return dated


def first_day(text: str) -> str:
    """The first day of a date: that of "2021-05" is "2021-05-01"."""
    return text + "-01-01"[len(text) - 4 :] if len(text) < 10 else text


def last_day(text: str) -> str:
    """The last day of a date: that of "2021" is "2021-12-31". It is only compared, so every month has 31 days."""
    return text + "-12-31"[len(text) - 4 :] if len(text) < 10 else text
