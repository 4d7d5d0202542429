"""Read the front matter of Markdown: YAML between two lines of "---", or TOML between "+++".

Its title, author, tags, date and description are also text; every key with a plain value is metadata. Pure functions.
Front matter that cannot be parsed is kept as text and never raises an error. YAML is read without its
types: a date stays as its author typed it, and no tag can create an object.
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from longsearch.indexer.extract.clean import clean_characters, one_line
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.values import RawMetadata, RawValue, limited

_MAX_CHARACTERS = 65_536
_MAX_ITEMS = 100
_MAX_VALUE_CHARACTERS = 5_000
_BLOCK = re.compile(
    rf"(---|\+\+\+)[ \t]*\n(.{{0,{_MAX_CHARACTERS}}}?)^(?:\1|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_KEPT_KEYS = (
    ("", ("subtitle",)),
    ("Author: ", ("author", "authors")),
    ("Date: ", ("date",)),
    ("Tags: ", ("tags", "keywords", "categories")),
    ("", ("description", "summary", "abstract")),
)
"""The keys whose values become text, with the label before them: people search for a note by its tags."""
SOURCE = "front matter"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A document split into its front matter and its body."""

    title: str
    """The title, or ""."""
    blocks: tuple[str, ...]
    """The other values that are kept, a line each; the raw front matter if it could not be parsed."""
    body: str
    """The document without its front matter."""
    metadata: RawMetadata = ()
    """The value of each key, or the items of its list."""


def split_front_matter(source: str) -> FrontMatter:
    """Split `source`, whose line ends are "\\n"."""
    block = _BLOCK.match(source)
    if block is None:
        return FrontMatter("", (), source)
    values = _parsed(block[1], block[2])
    if values is None:
        return FrontMatter("", (block[2],), source[block.end() :])
    if not isinstance(values, Mapping):  # text between two thematic breaks
        return FrontMatter("", (), source)
    named = {str(key).casefold(): value for key, value in values.items()}
    title = one_line(_words(named.get("title")), MAX_TITLE_CHARACTERS)
    return FrontMatter(title, tuple(_lines(named)), source[block.end() :], limited(_values(named)))


def _parsed(fence: str, text: str) -> object:
    """Return the value that `text` encodes, or None if it is malformed."""
    import yaml  # the two take 15 ms to import, and most files have no front matter

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if fence == "+++":
            import tomllib

            return tomllib.loads(text)
        return yaml.load(text, Loader=loader) or {}  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):  # tomllib raises a ValueError
        return None


def _lines(named: Mapping[str, object]) -> Iterator[str]:
    for label, keys in _KEPT_KEYS:
        words = ", ".join(filter(None, (_words(named.get(key)) for key in keys)))
        if words:
            yield label + one_line(words, _MAX_VALUE_CHARACTERS)


def _values(named: Mapping[str, object]) -> Iterator[RawValue]:
    for key, value in named.items():
        for item in islice(value, _MAX_ITEMS) if isinstance(value, list) else (value,):
            yield key, _word(item), SOURCE


def _words(value: object) -> str:
    """Return a value as text: a string, the items of a list, or the name of a person given as a table."""
    if isinstance(value, list):
        return ", ".join(filter(None, (_word(item) for item in islice(value, _MAX_ITEMS))))
    return _word(value)


def _word(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("name")
    if value is None or isinstance(value, list | Mapping):
        return ""
    return clean_characters(html.unescape(str(value))).strip()  # site generators write &eacute; in titles
