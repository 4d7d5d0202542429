"""The fields of a query: their names, their other names, and what their values mean. Pure; `query` has the grammar.

A field of a document's own, such as `status` in front matter, can be searched too; the caller says which there are.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, timedelta
from difflib import get_close_matches
from enum import StrEnum

from longsearch.engine.dates import first_day, last_day, make_date
from longsearch.engine.late_patterns import late_pattern

OF_FILES = ("in", "type", "lang")
"""Fields that `FileFilter` decides."""
FOLDER = "folder"
"""The field that `FolderFilter` decides."""
OF_DOCUMENTS = ("author", "title", "tag", "date", "since", "doi", "arxiv", "marked", "note")
"""Fields of metadata that are always there, as one types them."""
NAMES = (*OF_DOCUMENTS, *OF_FILES, FOLDER, "sort")
"""All fields that need no document."""
_OTHER_NAMES = {
    "authors": "author", "by": "author", "tags": "tag", "keyword": "tag", "keywords": "tag",
    "language": "lang", "year": "date",
}  # fmt: skip
_SIMILAR = 0.8
_MIN_NAME = 3
_DATE = late_pattern(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_AGO = late_pattern(r"(\d{1,5})([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30.44, "y": 365.25}
_FIRST, _LAST = "0000-01-01", "9999-12-31"


QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
"""Quotation marks of several languages as the one of the query language."""


class Sort(StrEnum):
    """How results are ordered."""

    SCORE = "score"
    DATE = "date"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a document's metadata must, or must not, say."""

    field: str
    """The name of the field in the index."""
    text: str
    """The words that a value must hold, one after the other; of a date as it was typed."""
    days: tuple[str, str] | None = None
    """For dates: the first and the last day."""
    is_excluded: bool = False
    is_prefix: bool = False
    """Whether the last word is still being typed."""

    def __str__(self) -> str:
        """The condition as one may type it."""
        text = f'"{self.text}"' if " " in self.text else self.text
        name = "since" if self.days and self.days[1] == _LAST and ".." not in self.text else self.field
        return f"{'-' if self.is_excluded else ''}{name}:{text}"


def quoted(value: str) -> str:
    """A value as it is typed behind a field: in quotation marks if it has spaces or signs that end a word."""
    clean = " ".join(value.translate(QUOTES).replace('"', " ").split())
    return clean if re.fullmatch(r"[\w./#-][^\s()|]*", clean) else f'"{clean}"'


def name_of(typed: str, keys: Collection[str]) -> str:
    """The field that was typed, or "" if there is no such field. `keys`: the fields that documents have."""
    name = _OTHER_NAMES.get(typed, typed)
    return name if name in NAMES or name in keys else ""


def nearest_name(typed: str, keys: Collection[str]) -> str:
    """The field that was perhaps meant, or ""."""
    if len(typed) < _MIN_NAME:
        return ""
    near = get_close_matches(typed, (*NAMES, *_OTHER_NAMES, *sorted(keys)), n=1, cutoff=_SIMILAR)
    return _OTHER_NAMES.get(near[0], near[0]) if near else ""


def condition(name: str, text: str, is_excluded: bool, is_prefix: bool) -> Condition | str:
    """The condition, or a sentence that says which values the field has."""
    if name in ("date", "since"):
        days = _since(text) if name == "since" else _between(text)
        if days is None:
            return _SINCE_HELP if name == "since" else _DATE_HELP
        return Condition("date", text, days, is_excluded)
    return Condition(name, text, None, is_excluded, is_prefix)


def sort_of(text: str) -> Sort | str:
    """The order with this name, or a sentence that names them all."""
    return Sort(text) if text in Sort._value2member_map_ else "sort: takes date, name or score"


@dataclass(slots=True)
class Filters:
    """The fields that have been read of a query so far."""

    of_files: list[tuple[str, str, bool]] = field(default_factory=list)
    """(field, value, is excluded), as `FileFilter.of` takes them."""
    of_folders: list[tuple[str, bool]] = field(default_factory=list)
    """(name, is excluded), as `FolderFilter` has them."""
    conditions: list[Condition] = field(default_factory=list)
    order: tuple[Sort | None, bool] = (None, False)
    """How to sort the results, and whether the other way round."""
    notes: list[str] = field(default_factory=list)
    """What the person may have meant otherwise."""

    def __bool__(self) -> bool:
        return bool(self.of_files or self.of_folders or self.conditions)

    def take(self, name: str, text: str, is_excluded: bool, is_prefix: bool = False) -> str:
        """Apply a known field; return why its value is invalid, or ""."""
        if name in OF_FILES:
            self.of_files.append((name, text, is_excluded))
            return ""
        if name == FOLDER:
            self.of_folders.append((text, is_excluded))
            return ""
        if name == "sort":
            order = sort_of(text)
            if isinstance(order, Sort):
                self.order = order, is_excluded
                return ""
            return order
        found = condition(name, text, is_excluded, is_prefix)
        if isinstance(found, str):
            return found
        self.conditions.append(found)
        return ""


_DATE_HELP = "date: takes 2021, 2021-05, 2021-05-17 or a range such as 2021..2023"
_SINCE_HELP = "since: takes 30d, 6w, 3m, 2y or a date such as 2021-05"


def _between(text: str) -> tuple[str, str] | None:
    """The first and last day of "2021", "2021-05..2022", "2021.." or "..2021"; None for anything else."""
    low, dots, high = text.partition("..")
    if not dots:
        high = low
    if not (low or high):
        return None
    first, last = (_strict(part) for part in (low, high))
    if first is None or last is None:
        return None
    return (first_day(first) if first else _FIRST, last_day(last) if last else _LAST)


def _strict(text: str) -> str | None:
    """A date written as in ISO 8601; "" stays ""; None if it is no date."""
    if not text:
        return ""
    parts = _DATE.fullmatch(text)
    return (make_date(*(int(part or 0) for part in parts.groups())) or None) if parts else None


def _since(text: str) -> tuple[str, str] | None:
    if ago := _AGO.fullmatch(text):
        days = int(int(ago[1]) * _DAYS[ago[2]])
        today = date.today()
        return (today - timedelta(days=min(days, today.toordinal() - 1))).isoformat(), _LAST
    first = _strict(text)
    return (first_day(first), _LAST) if first else None
