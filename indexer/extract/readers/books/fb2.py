"""Extract the text of FictionBook 2: sections with their titles, verses, tables, notes. Its pictures are skipped.

An FB2 file is one XML file. An HTML parser would take its `title` for that of a page, hence expat.
"""

from collections.abc import Mapping
from dataclasses import replace

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_events import parse
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.table_head import TableHead
from longsearch.indexer.extract.wire.limits import MAX_RAW_CHARACTERS, MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawValue, limited

_SOURCE = "FB2 description"
_SKIPPED = frozenset({"binary", "stylesheet", "document-info", "custom-info", "output"})
_BLOCKS = frozenset({"p", "v", "subtitle", "text-author", "date", "td", "th"})
_INFO = frozenset({"title-info", "publish-info"})
_FIELDS = {
    "book-title": "title",
    "lang": "language",
    "date": "date",
    "keywords": "tag",
    "publisher": "publisher",
    "isbn": "isbn",
}
_NAMES = ("first-name", "middle-name", "last-name", "nickname")
_MAX_LEVEL = 6
_MAX_DIGITS = 3
"""A cell says with so many digits at most how many columns it covers."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    # programs that make FB2 use this entity of HTML, although XML does not know it
    data = read_bytes(path).replace(b"&nbsp;", b"&#160;")
    if b"<FictionBook" not in data[:4096].replace(b"\0", b""):
        raise ExtractionError("not an FB2 book: it does not begin like one", "give it the suffix of its real format")
    book = _Book()
    problem = parse(data, book)
    title = next((text for field, text, _ in book.metadata if field == "title"), "")
    return replace(book.builder.file_text(title, limited(book.metadata)), warning=problem)


class _Book:
    """Takes the events of the file."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.metadata: list[RawValue] = []
        self._in_info = self._in_annotation = False
        self._date = ""
        self._n_skipped = 0
        self._descriptions = Descriptions()
        self._pictures: list[str] = []
        self._words: list[str] = []
        self._title: list[str] | None = None
        self._head = TableHead()
        self._row: dict[int, str] = {}
        self._column, self._width, self._is_head = 0, 1, True
        self._person: dict[str, str] = {}
        self._depth = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or name in _SKIPPED:
            self._n_skipped += 1
            return
        self._in_info = self._in_info or name in _INFO
        if name in _BLOCKS or self._in_info:
            self._words, self._width = [], _n_columns(attributes.get("colspan", ""))
        if name == "image":
            self._pictures.append(self._descriptions.line(attributes.get("title"), attributes.get("alt")))
        else:
            self._start_part(name, attributes)

    def _start_part(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "annotation":
                self._in_annotation = True
            case "date":
                self._date = attributes.get("value", "")
            case "author" | "translator":
                self._person = {}
            case "section":
                self._depth += 1
            case "title":
                self._title = []
            case "table":
                self._head = TableHead()
            case "tr":
                self._row, self._column, self._is_head = {}, 0, True

    def characters(self, text: str) -> None:
        """Text between tags."""
        if not self._n_skipped:
            self._words.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
            return
        self._end_element(name)
        if self._pictures and (name == "image" or name in _BLOCKS or name == "tr") and not "".join(self._words).strip():
            pictures, self._pictures = self._pictures, []
            for line in pictures:
                self.builder.add(line)

    def _end_element(self, name: str) -> None:
        if name in _INFO:
            self._in_info = False
        elif self._in_info:
            self._describe(name, one_line("".join(self._words), MAX_RAW_CHARACTERS))
        elif name in _BLOCKS:
            self._end_block(name, "".join(self._words).strip())
            self._words = []
        elif name == "section":
            self._depth -= 1
        elif name == "title" and self._title is not None:
            title, self._title = one_line(" ".join(self._title), MAX_TITLE_CHARACTERS), None
            self.builder.add_heading(min(max(self._depth, 1), _MAX_LEVEL), title)
        elif name == "tr":
            for line in self._head.lines(list(self._row.values()), list(self._row), self._is_head):
                self.builder.add(line, tight=True)

    def _end_block(self, name: str, words: str) -> None:
        if name in ("td", "th"):
            self._row[self._column] = words
            self._column += self._width
            self._is_head &= name == "th"
        elif self._title is not None:
            self._title.append(words)
        else:
            self.builder.add(words, tight=name == "v")

    def _describe(self, name: str, words: str) -> None:
        """Take a value of the description. Its annotation is text; a translator and the like are not authors."""
        if name in _NAMES:
            self._person[name] = words
        elif name == "author":
            self.metadata.append(("author", " ".join(filter(None, map(self._person.get, _NAMES[:3]))), _SOURCE))
        elif name == "annotation":
            self._in_annotation = False
        elif name == "p" and self._in_annotation:
            self.builder.add(words)
        elif field := _FIELDS.get(name):
            self.metadata.append((field, (name == "date" and self._date) or words, _SOURCE))


def _n_columns(width: str) -> int:
    """Return how many columns a cell covers; `width` is what the file says."""
    return max(1, int(width)) if width.isdecimal() and len(width) <= _MAX_DIGITS else 1
