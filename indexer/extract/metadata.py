"""Cleans and selects what a file says of itself: authors, date, language, tags, identifiers and its own keys.

Readers send raw values: (field, text, source), the most trustworthy first. This module makes `MetadataValue`s of them.
It trusts nothing: values are cut, cleaned, counted and checked, because a file may claim the year 9999 or 10,000
authors. Pure functions; they know no format and no store.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from longsearch.engine.dates import parse_date
from longsearch.engine.languages.codes import language_code
from longsearch.engine.types.documents import MetadataValue
from longsearch.indexer.extract.clean import has_words, one_line
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.values import RawMetadata, RawValue

MAX_VALUES = 100
"""Values of one document; the rest is dropped."""
_MAX_OF_FIELD = {"author": 50, "tag": 50}
_MAX_OF_OWN_KEY = 20
_MAX_AUTHOR_CHARACTERS = 100
_MAX_TAG_CHARACTERS = 60
_MAX_KEY_CHARACTERS = 40
_FIELD_OF_KEY = {
    "authors": "author", "creator": "author", "by": "author",
    "tags": "tag", "keyword": "tag", "keywords": "tag", "category": "tag", "categories": "tag", "filetags": "tag",
    "lang": "language", "locale": "language",
    "published": "date", "year": "date", "issued": "date", "publication-date": "date", "pubdate": "date",
    "created-at": "created", "date-created": "created",
}  # fmt: skip
"""The names by which people call our fields."""
_KEY_SEPARATOR = re.compile(r"[\s_]+")
_KEY = re.compile(r"[^\W_][\w.-]*")
_LIST_SEPARATOR = re.compile(r"[;\n]")
_TAG_SEPARATOR = re.compile(r"[,;\n\u3001]")
_AND = re.compile(r"\s+(?:and|&|und|et|y)\s+|\s*,\s+and\s+", re.IGNORECASE)
_MAIL = re.compile(r"\s*[<(]?[\w.+-]+@[\w.-]+[>)]?")
_NO_AUTHOR = re.compile(
    r"(?:the )?(?:authors?|anonymous|admin(?:istrator)?|(?:[\w ]+ )?users?|owner|root|guest|unknown|none|null|n/?a|tex|"
    r"latex|default|test|template|pc|hp|dell|lenovo|asus|acer|microsoft(?: corporation)?|adobe.*|apple|python-docx|"
    r"mozilla.*)",
    re.IGNORECASE,
)
_NO_TIME = "1970-01-01"  # what a program writes that knows no time
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]{1,150}")
_DOI_ON_PAGE = re.compile(r"\bdoi(?:\.org/|:|\s)\s*(10\.\d{4,9}/[^\s\"<>,;]{1,150})", re.IGNORECASE)
_ARXIV = re.compile(r"(?:[a-z-]+(?:\.[A-Z]{2})?/)?(\d{2})(\d{2})(?:\d{3}|\.\d{4,5})(?=v\d|$)")
# the stamp at the margin of a paper from arXiv, which names the archive's section: references do so in another way
_ARXIV_STAMP = re.compile(
    r"\barXiv:\s?((?:[a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})(?:v\d{1,2})?)\s{1,3}\[[a-z-]+(?:\.[A-Za-z-]+)?\]"
)
_PAGE_CHARACTERS = 20_000


def gathered(raw: Iterable[RawValue]) -> tuple[MetadataValue, ...]:
    """Return the clean values of `raw`, which is sorted by trust.

    Of a field that has one value (`date`, `language`, …) the first possible one is taken; authors come from the first
    source that names any; tags and the document's own keys are collected from all sources.
    """
    found: dict[tuple[str, str], MetadataValue] = {}
    counts: dict[str, int] = {}
    source_of: dict[str, str] = {}
    for raw_field, text, raw_source in raw:
        field, source = field_of(raw_field), one_line(raw_source, _MAX_KEY_CHARACTERS)
        if not field or (field in _ONE_SOURCE and source_of.get(field, source) != source):
            continue
        limit = 1 if field in _SINGLE else _MAX_OF_FIELD.get(field, _MAX_OF_OWN_KEY)
        for value in _values(field, text):
            key = (field, value.casefold())
            if key in found or counts.get(field, 0) >= limit or len(found) >= MAX_VALUES:
                continue
            found[key] = MetadataValue(field, value, source)
            counts[field] = counts.get(field, 0) + 1
            source_of[field] = source
    return tuple(found.values())


_SINGLE = frozenset({"title", "date", "created", "language", "doi", "arxiv"})
_ONE_SOURCE = frozenset({"author"})


def field_of(key: str) -> str:
    """Return our name of a key: in lower case, with "-" between words; "" if it is no name."""
    name = _KEY_SEPARATOR.sub("-", one_line(key, _MAX_KEY_CHARACTERS + 1).casefold())
    if len(name) > _MAX_KEY_CHARACTERS or _KEY.fullmatch(name) is None:
        return ""
    return _FIELD_OF_KEY.get(name, name)


def _values(field: str, text: str) -> Iterator[str]:
    match field:
        case "author":
            yield from _authors(text)
        case "tag":
            for tag in _TAG_SEPARATOR.split(text):
                yield from _worded(tag.strip(" \t#"), _MAX_TAG_CHARACTERS)
        case "date" | "created":
            found = parse_date(text)
            yield from (found,) if found and not (field == "created" and found == _NO_TIME) else ()
        case "language":
            yield from filter(None, (language_code(text),))
        case "doi":
            yield from (_without_end(match[0]) for match in (_DOI.search(text),) if match)
        case "arxiv":
            yield from (match[0] for match in (_ARXIV.match(text.strip().removeprefix("arXiv:")),) if match)
        case _:
            yield from _worded(text, MAX_TITLE_CHARACTERS)


def _worded(text: str, max_characters: int) -> Iterator[str]:
    line = one_line(text, max_characters)
    if has_words(line):
        yield line


def _authors(text: str) -> Iterator[str]:
    """Split names: at ";" and line ends, at "and", and at commas if all parts have several words ("Smith, John" has
    not)."""
    for part in _LIST_SEPARATOR.split(text):
        for group in _AND.split(_MAIL.sub("", part)):
            names = [name.strip() for name in group.split(",")]
            are_names = len(names) > 1 and all(len(name.split()) > 1 or not name for name in names)
            for name in names if are_names else (group,):
                for author in _worded(name.strip(" ,;*"), _MAX_AUTHOR_CHARACTERS):
                    if not _NO_AUTHOR.fullmatch(author) and sum(map(str.isalpha, author)) > 1:
                        yield author


def _without_end(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence that it ends."""
    doi = doi.rstrip(".,;:'\u201d")
    while doi.endswith((")", "]", "}")) and doi.count(doi[-1]) > doi.count("([{"[")]}".index(doi[-1])]):
        doi = doi[:-1].rstrip(".,;:")
    return doi


def from_first_page(page: str) -> RawMetadata:
    """Return what the first page of a paper says: the stamp of arXiv, the month of its identifier, and a DOI."""
    page = page[:_PAGE_CHARACTERS]
    found: list[RawValue] = []
    if stamp := _ARXIV_STAMP.search(page):
        found.append(("arxiv", stamp[1], "page 1"))
        if number := _ARXIV.match(stamp[1]):
            century = "19" if int(number[1]) > 90 else "20"
            found.append(("date", f"{century}{number[1]}-{number[2]}", "arXiv id"))
    if doi := _DOI_ON_PAGE.search(page):
        found.append(("doi", doi[1], "page 1"))
    return tuple(found)


def with_title(metadata: Sequence[MetadataValue], title: str, source: str) -> tuple[MetadataValue, ...]:
    """Return the metadata with this title, and none if it is ""."""
    others = tuple(value for value in metadata if value.field != "title")
    return (MetadataValue("title", title, source), *others) if title else others
