"""Extract the text of PowerPoint presentations: each slide a page, its title a heading, its notes below it.

The archive holds plain XML, so the standard library suffices: python-pptx needs lxml, Pillow and XlsxWriter, and passes
over diagrams and charts. A hidden slide keeps its number and has no text.
"""

from collections.abc import Iterator, Mapping

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.office.formulas import Formula
from longsearch.indexer.extract.readers.office.ole_objects import embedded_file
from longsearch.indexer.extract.readers.office.pictures import OBJECTS, HiddenObjects, text_of_drawing
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.readers.office.relations import main_part, parse_member, relations_of
from longsearch.indexer.extract.readers.office.slide_comments import Authors, Comments
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_events import is_on
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.table_head import as_line
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText

_PRESENTATION = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_FEET = {"ftr": "Footer", "hdr": "Header"}
_NUMERALS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circle": "decimalEnclosedCircle",
}
"""How the names of numbered lists begin -> the numerals."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    builder = TextBuilder()
    problems: list[int] = []
    with Archive(path, "a presentation") as archive:
        slides = _Slides(archive, builder)
        for number, part in enumerate(_slide_names(archive), start=1):
            builder.begin_page()
            if slides.add(part, number):
                problems.append(number)
        attachments = of_this_file()
        attachments.add_embedded(builder, slides.embedded)
        metadata = core_properties(archive.read(CORE) or b"", "PowerPoint properties")
    named = ", ".join(map(str, problems[:5])) + (" and more" if len(problems) > 5 else "")
    warnings = filter(None, (f"damaged slides: {named}" if problems else "", attachments.warning))
    return builder.file_text(title_in(metadata), metadata, "; ".join(warnings))


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
    main = main_part(archive, _PRESENTATION)
    if not archive.has(main):
        raise ExtractionError("a zip archive, but not a presentation", "give it the suffix of its real format")
    order = _Order()
    parse_member(archive, main, order)
    relations = relations_of(archive, main)
    return [relations[identity][1] for identity in order.ids if identity in relations]


class _Slides:
    """Adds the slides of one presentation to its text."""

    def __init__(self, archive: Archive, builder: TextBuilder) -> None:
        self._archive, self._builder = archive, builder
        self.embedded: list[tuple[str, bytes]] = []
        authors = Authors()
        for kind, part in relations_of(archive, main_part(archive, _PRESENTATION)).values():
            if kind in ("commentAuthors", "authors"):
                parse_member(archive, part, authors)
        self._authors = authors.names
        self._heads: set[str] = set()
        self._pictures = Descriptions()

    def add(self, part: str, number: int) -> str:
        """Add a slide and what belongs to it; return what is wrong with it, or ""."""
        if not self._archive.has(part):
            return "missing"
        slide = _Shapes(self._pictures)
        problem = parse_member(self._archive, part, slide)
        if slide.is_hidden:
            return problem
        title = one_line(" ".join(slide.title), MAX_TITLE_CHARACTERS)
        self._builder.add_heading(1, " ".join(slide.title)) if title else self._builder.mark(1, f"Slide {number}")
        for block in slide.blocks:
            self._builder.add(block, tight=True)
        self._add_feet(slide)
        return self._add_linked(part) or problem

    def _add_feet(self, slide: "_Shapes") -> None:
        """Add the heads and feet of a slide or of its notes that differ from all before."""
        for foot in slide.feet:
            if foot not in self._heads:
                self._heads.add(foot)
                self._builder.add(foot)

    def _add_linked(self, part: str) -> str:
        """Add charts, diagrams, comments and notes of a slide."""
        problem = ""
        notes: list[str] = []
        for kind, name in relations_of(self._archive, part).values():
            if kind == "notesSlide":
                shapes = _Shapes(self._pictures)
                problem = parse_member(self._archive, name, shapes) or problem
                notes += shapes.blocks
                self._add_feet(shapes)
            elif kind == "comments":
                comments = Comments(self._authors)
                problem = parse_member(self._archive, name, comments) or problem
                for line in comments.lines:
                    self._builder.add(line)
            elif kind in ("oleObject", "package"):
                self.embedded.append(embedded_file(self._archive, name))
            else:
                for text in text_of_drawing(self._archive, kind, name):
                    self._builder.add(text)
        if notes:
            self._builder.add("Notes: " + "\n".join(notes))
        return problem


class _Shapes:
    """Collects the paragraphs of a part, and the rows of its tables."""

    def __init__(self, pictures: Descriptions) -> None:
        self._pictures = pictures
        self.title: list[str] = []
        self.blocks: list[str] = []
        self.feet: list[str] = []
        self.is_hidden = False
        self._hidden = HiddenObjects()
        self._above: dict[int, str] = {}
        self._level = "0"
        self._numbering: tuple[str, str] | None = None
        self._counts: dict[str, int] = {}
        self._column = 0
        self._goes_on = False
        self._alternatives: list[int] = []
        self._n_characters = 0
        self._formula: Formula | None = None
        self._placeholder = ""
        self._words: list[str] = []
        self._is_text = False
        self._n_skipped = 0
        self._row: list[str] | None = None
        self._cell: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._n_skipped:
            self._n_skipped += 1
            return
        self._hidden.start(name, attributes)
        match name:
            case "AlternateContent":
                self._alternatives.append(self._n_characters)
            case "Fallback" if self._alternatives and self._n_characters > self._alternatives[-1]:
                self._n_skipped = 1  # what the element before it says to newer programs
            case "sld":
                self.is_hidden = not is_on({"val": attributes.get("show", "1")})
            case "t" | "text":
                self._is_text = True
            case "oMath":
                self._formula = Formula(self._words)
            case _ if self._formula is not None:
                self._formula.start(name, attributes)
            case _:
                self._start_part(name, attributes)

    def _start_part(self, name: str, attributes: Mapping[str, str]) -> None:
        match name:
            case "sp":
                self._placeholder, self._counts = "", {}
            case "cNvPr" if not self._hidden.are_around:
                self._describe(attributes)
            case "ph":
                self._placeholder = attributes.get("type", "")
            case "br":
                self._words.append("\n")
            case "pPr":
                self._level, self._numbering = attributes.get("lvl", "0"), None
            case "buAutoNum":
                self._numbering = attributes.get("type", ""), attributes.get("startAt", "1")
            case "tr":
                self._row, self._column = [], 0
            case "tc":
                self._cell = []
                self._goes_on = is_on({"val": attributes.get("vMerge", "0")})

    def _describe(self, attributes: Mapping[str, str]) -> None:
        if line := self._pictures.line(attributes.get("title"), attributes.get("descr")):
            self.blocks.append(line)

    def end(self, name: str) -> None:
        if self._n_skipped:
            self._n_skipped -= 1
            return
        match name:
            case "AlternateContent":
                self._alternatives.pop()
            case "t":
                self._is_text = False
            case "oMath":
                self._formula = None
            case _ if self._formula is not None:
                self._formula.end(name)
            case "p" | "text":
                self._is_text = False
                self._end_paragraph()
            case "tc":
                self._end_cell()
            case "tr":
                self.blocks += filter(None, (as_line(self._row or ()),))
                self._row = None
            case _ if name in OBJECTS:
                self._placeholder = ""
                self._hidden.end(name)

    def _end_cell(self) -> None:
        if self._row is not None and self._cell is not None:
            words = " ".join(" ".join(self._cell).split())
            words = words or (self._above.get(self._column, "") if self._goes_on else "")
            self._above[self._column] = words
            self._row.append(words)
        self._cell = None
        self._column += 1

    def characters(self, text: str) -> None:
        if self._is_text and not self._hidden.are_around:
            self._words.append(text)
            self._n_characters += len(text)

    def _end_paragraph(self) -> None:
        words, self._words = "".join(self._words).strip(), []
        if words and self._placeholder in _FEET:
            self.feet.append(f"{_FEET[self._placeholder]}: {words}")
        if not words or self._placeholder in _FURNITURE:
            return
        for block in self._placed(self._numbered(words)):
            self.blocks.append(block)

    def _numbered(self, words: str) -> str:
        """Return a paragraph with its number, if it is an item of a numbered list."""
        numbering, self._numbering = self._numbering, None
        if numbering is None:
            self._counts.pop(self._level, None)
            return words
        self._counts = {level: count for level, count in self._counts.items() if level <= self._level}
        start = int(numbering[1]) if numbering[1].isdecimal() and len(numbering[1]) < 6 else 1
        number = self._counts[self._level] = self._counts.get(self._level, start - 1) + 1
        kind = next((written for name, written in _NUMERALS.items() if numbering[0].startswith(name)), "decimal")
        before = "(" if numbering[0].endswith("ParenBoth") else ""
        after = ")" if "Paren" in numbering[0] else "." if numbering[0].endswith("Period") else ""
        return f"{before}{numeral(number, kind)}{after} {words}"

    def _placed(self, words: str) -> Iterator[str]:
        if self._cell is not None:
            self._cell.append(words)
        elif self._placeholder in _TITLES:
            self.title.append(words)
        else:
            yield words
