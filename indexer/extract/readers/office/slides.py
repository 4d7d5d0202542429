"""Extract the text of PowerPoint presentations: each slide a page, its title a heading, its notes below it.

The archive holds plain XML, so the standard library suffices: python-pptx needs lxml, Pillow and XlsxWriter, and passes
over diagrams and charts.
"""

from collections.abc import Iterator, Mapping

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.relations import relations_of
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_events import parse
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText

_PRESENTATION = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_CELL_SEPARATOR = " | "


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    builder = TextBuilder()
    problems: list[int] = []
    with Archive(path, "a presentation") as archive:
        for number, part in enumerate(_slide_names(archive), start=1):
            builder.begin_page()
            if _add_slide(archive, part, number, builder):
                problems.append(number)
        metadata = core_properties(archive.read(CORE) or b"", "PowerPoint properties")
    text = builder.file_text(title_in(metadata), metadata)
    if not problems:
        return text
    named = ", ".join(map(str, problems[:5])) + (" and more" if len(problems) > 5 else "")
    return FileText(text.text, text.page_starts, text.title, text.headings, f"damaged slides: {named}", text.metadata)


class _Order:
    """The ids of the slides' relations, in the order of the presentation."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "sldId":
            self.ids.append(attributes.get("id", ""))

    def end(self, name: str) -> None: ...

    def characters(self, text: str) -> None: ...


def _slide_names(archive: Archive) -> list[str]:
    data = archive.read(_PRESENTATION)
    if data is None:
        raise ExtractionError("a zip archive, but not a presentation", "give it the suffix of its real format")
    order = _Order()
    parse(data, order)
    relations = relations_of(archive, _PRESENTATION)
    return [relations[identity][1] for identity in order.ids if identity in relations]


def _add_slide(archive: Archive, part: str, number: int, builder: TextBuilder) -> str:
    """Add a slide and what belongs to it; return what is wrong with it, or ""."""
    data = archive.read(part)
    if data is None:
        return "missing"
    slide = _Shapes()
    problem = parse(data, slide)
    title = one_line(" ".join(slide.title), MAX_TITLE_CHARACTERS)
    builder.add_heading(1, title) if title else builder.mark(1, f"Slide {number}")
    for block in slide.blocks:
        builder.add(block, tight=True)
    notes: list[str] = []
    for kind, name in relations_of(archive, part).values():
        if kind in ("diagramData", "chart", "comments", "notesSlide") and (other := archive.read(name)):
            shapes = _Shapes()
            problem = parse(other, shapes) or problem
            for block in shapes.blocks if kind != "notesSlide" else ():
                builder.add(block, tight=True)
            notes += shapes.blocks if kind == "notesSlide" else ()
    if notes:
        builder.add("Notes: " + "\n".join(notes))
    return problem


class _Shapes:
    """Collects the paragraphs of a part, and the rows of its tables."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.blocks: list[str] = []
        self._placeholder = ""
        self._words: list[str] = []
        self._is_text = False
        self._n_skipped = 0
        self._row: list[str] | None = None
        self._cell: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "Fallback":  # says once more what the element before it says to newer programs
                self._n_skipped += 1
            case "sp":
                self._placeholder = ""
            case "ph":
                self._placeholder = attributes.get("type", "")
            case "t" | "text":
                self._is_text = not self._n_skipped
            case "br":
                self._words.append("\n")
            case "tr":
                self._row = []
            case "tc":
                self._cell = []

    def end(self, name: str) -> None:
        match name:
            case "Fallback":
                self._n_skipped -= 1
            case "t":
                self._is_text = False
            case "p" | "text":
                self._is_text = False
                self._end_paragraph()
            case "tc":
                if self._row is not None and self._cell is not None:
                    self._row.append(" ".join(self._cell))
                self._cell = None
            case "tr":
                self.blocks += filter(None, (_CELL_SEPARATOR.join(self._row or ()).strip(" |"),))
                self._row = None
            case "sp":
                self._placeholder = ""

    def characters(self, text: str) -> None:
        if self._is_text:
            self._words.append(text)

    def _end_paragraph(self) -> None:
        words, self._words = "".join(self._words).strip(), []
        if not words or self._placeholder in _FURNITURE:
            return
        for block in self._placed(words):
            self.blocks.append(block)

    def _placed(self, words: str) -> Iterator[str]:
        if self._cell is not None:
            self._cell.append(words)
        elif self._placeholder in _TITLES:
            self.title.append(words)
        else:
            yield words
