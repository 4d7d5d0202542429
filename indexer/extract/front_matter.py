"""What stands before a Markdown document, between two lines of "---" (YAML) or "+++" (TOML): title, author, tags, date.

Pure. What cannot be understood is text like any other, never an error. YAML is read without its types: a date is what
its writer typed, and no tag can make an object.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import yaml

from indexer.extract.clean import one_line
from indexer.extract.limits import MAX_TITLE_CHARACTERS

_MAX_CHARACTERS = 65_536
_MAX_ITEMS = 100
_MAX_VALUE_CHARACTERS = 5_000
_BLOCK = re.compile(
    rf"(---|\+\+\+)[ \t]*\n(.{{0,{_MAX_CHARACTERS}}}?)^(?:\1|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_SHOWN = (
    ("", ("subtitle",)),
    ("Author: ", ("author", "authors")),
    ("Date: ", ("date",)),
    ("Tags: ", ("tags", "keywords", "categories")),
    ("", ("description", "summary", "abstract")),
)
"""What is kept as words of the document, by its label: a note is found by its tags."""
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A document's front matter and the rest."""

    title: str
    """Or ""."""
    blocks: tuple[str, ...]
    """What else is worth finding, a line each; where it could not be understood, all of it as it is."""
    body: str
    """The document without it."""


def split_front_matter(source: str) -> FrontMatter:
    """`source`, whose line ends are "\\n", in its two parts."""
    block = _BLOCK.match(source)
    if block is None:
        return FrontMatter("", (), source)
    values = _parsed(block[1], block[2])
    if values is None:
        return FrontMatter("", (block[2],), source[block.end() :])
    if not isinstance(values, Mapping):  # two thematic breaks
        return FrontMatter("", (), source)
    named = {str(key).casefold(): value for key, value in values.items()}
    title = one_line(_words(named.get("title")), MAX_TITLE_CHARACTERS)
    return FrontMatter(title, tuple(_lines(named)), source[block.end() :])


def _parsed(fence: str, text: str) -> object:
    """What `text` says, or None where it is broken."""
    try:
        return tomllib.loads(text) if fence == "+++" else yaml.load(text, Loader=_LOADER) or {}  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):  # tomllib's error is a ValueError
        return None


def _lines(named: Mapping[str, object]) -> Iterator[str]:
    for label, keys in _SHOWN:
        words = ", ".join(filter(None, (_words(named.get(key)) for key in keys)))
        if words:
            yield label + one_line(words, _MAX_VALUE_CHARACTERS)


def _words(value: object) -> str:
    """A value as words: its text, the texts of a list, the name of a person who is a table."""
    if isinstance(value, list):
        return ", ".join(filter(None, (_word(item) for item in islice(value, _MAX_ITEMS))))
    return _word(value)


def _word(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("name")
    if value is None or isinstance(value, list | Mapping):
        return ""
    return str(value).strip()
