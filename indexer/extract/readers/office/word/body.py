"""Turns the events of a part of a Word document into blocks: paragraphs, headings, list items, rows, what lies beside.

All elements that hold text are followed wherever they stand; an element that is not known here is passed through, so
its text is kept. What Word does not show is left out: deletions, hidden text, the instructions of fields.

Longer than 300 lines because each element changes the state that all others look at: what is open, hidden, left out.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.office.formulas import Formula
from longsearch.indexer.extract.readers.office.word.definitions import COMMENT, Definitions, note_mark
from longsearch.indexer.extract.readers.office.word.fields import Fields, link_target
from longsearch.indexer.extract.readers.office.word.flows import Block, Flow, Paragraph, Table, marked
from longsearch.indexer.extract.readers.office.word.marks import Marks
from longsearch.indexer.extract.readers.office.word.numbering import Counters
from longsearch.indexer.extract.readers.office.word.properties import describe_cell, describe_field, describe_paragraph
from longsearch.indexer.extract.readers.office.word.symbols import symbol
from longsearch.indexer.extract.readers.xml_events import is_on

_SKIPPED_NAMES = """
del moveFrom rt rubyPr pPrChange rPrChange sectPrChange tblPrChange tblPrExChange tcPrChange trPrChange
tblGridChange numberingChange
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
"""Elements that Word does not show, or that hold what a paragraph was before."""
_DELETED = frozenset({"del", "moveFrom"})
_PROPERTIES = frozenset({"pPr", "trPr", "tcPr", "tblPr", "rPr", "sectPr", "sdtPr", "ffData"})
_NO_TEXT_NAMES = """
instrText delText delInstrText fldData binData posOffset align pctWidth pctHeight pctPosHOffset pctPosVOffset
sectPr pPr rPr tcPr trPr tblPr sdtPr ffData
"""
_NO_TEXT = frozenset(_NO_TEXT_NAMES.split())
"""Elements whose characters are no text. Those of an element that is not known are."""
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnoteReference": "Footnote", "endnoteReference": "Endnote", "commentReference": COMMENT}
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})


class Body:
    """Takes the events of one part."""

    def __init__(
        self,
        definitions: Definitions,
        flow: Flow,
        linked: Callable[[str, str], Iterable[Block]] = lambda *_: (),
        addresses: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`linked` returns the text of what an element refers to: (name of the element, id of the relation).

        `addresses`: where the relations of links lead, by their ids.
        """
        self.marks = Marks()
        """What people marked in the part."""
        self._definitions = definitions
        self._counters = Counters(definitions.numbering)
        self._linked = linked
        self._addresses = addresses
        self._open_links: list[str] = []
        self._flows = [flow]
        self._tables: list[Table] = []
        self._fields = Fields()
        self._formula: Formula | None = None
        self._n_math = 0
        self._is_own_paragraph = False
        self._n_skipped = 0
        self._name = ""
        self._is_text = False
        self._properties: list[str] = []
        self._hidden: list[bool] = []
        self._n_characters = 0
        self._alternatives: list[int] = []
        self._note: tuple[str, str, str] | None = None
        self._author = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped:
            self._n_skipped += 1
            self._name = name
            return
        self._name = name
        if name == "t":
            self._is_text = True
        elif self._properties or name in _PROPERTIES:
            self._start_property(name, attributes)
        elif name in _SKIPPED:
            self._n_skipped = 1
            if name in _DELETED:
                self.marks.delete(attributes.get("author", ""))
        elif name in _CHARACTERS:
            self._write(_CHARACTERS[name])
        elif self._formula is not None or name == "oMath":
            self._start_formula(name, attributes)
        elif (begin := _STARTS.get(name)) is not None:
            begin(self, attributes)
        elif name in _NOTES:
            self._refer(_NOTES[name], attributes.get("id", ""))

    def end(self, name: str) -> None:
        """An element ends."""
        self._name = ""
        if self._n_skipped:
            self._n_skipped -= 1
            if not self._n_skipped and name in _DELETED:
                self.marks.end_delete()
        elif name == "t":
            self._is_text = False
        elif self._properties:
            if name == self._properties[-1]:
                self._properties.pop()
        elif self._formula is not None and name != "r":
            self._end_formula(self._formula, name)
        elif (finish := _ENDS.get(name)) is not None:
            finish(self)

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._n_skipped:
            if self._name in ("delText", "t"):
                self.marks.deleted(text)
            return
        if self._is_text:
            self._write(text)
        elif self._name == "instrText":
            self._fields.instruct(text)
        elif self._name and self._name not in _NO_TEXT and not self._properties and not text.isspace():
            self._write(text)

    def close(self) -> None:
        """Add what a cut-off part left open."""
        while len(self._flows) > 1 or self._flows[0].paragraph:
            if self._flows[-1].paragraph:
                self._end_paragraph()
            elif self._tables:
                self._end_cell()
                self._end_row()
                self._tables.pop()
            else:
                self._end_box()
        self._finish(self._flows[0])

    def _write(self, text: str) -> None:
        if self._fields.hides or (self._hidden and self._hidden[-1]):
            return
        self._n_characters += len(text)
        self.marks.write(text)
        if (paragraph := self._flows[-1].paragraph) is not None:
            paragraph.words.append(text)
        elif not text.isspace():
            self._flows[-1].add((Block(text.strip()),))

    def _refer(self, kind: str, identity: str) -> None:
        if kind == COMMENT and (kind, identity) not in self._definitions.named:
            self.marks.comment(identity, *self._definitions.comment(identity))
        blocks = self._definitions.refer(kind, identity)
        if kind != COMMENT and draft.is_read and blocks:
            self._write(blocks[0].text.partition(": ")[0])
        self._beside(blocks)

    def _beside(self, blocks: Iterable[Block]) -> None:
        """Put `blocks` behind the open paragraph."""
        if self._hidden and self._hidden[-1]:
            return
        kept = tuple(blocks)
        self._n_characters += sum(len(block.text) for block in kept)
        paragraph = self._flows[-1].paragraph
        paragraph.beside.extend(kept) if paragraph else self._flows[-1].add(kept)

    def _start_property(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _PROPERTIES:
            self._properties.append(name)
        elif name.endswith("Change"):
            self._n_skipped = 1
        elif self._properties[0] == "pPr":
            self._start_paragraph_property(name, attributes)
        elif self._properties[0] == "rPr":
            self._start_run_property(name, attributes)
        elif self._tables and self._properties[0] in ("trPr", "tcPr"):
            describe_cell(self._tables[-1], name, attributes)
        elif self._properties[0] == "ffData":
            describe_field(self._fields, name, attributes)
        elif name in ("headerReference", "footerReference"):
            self._flows[0].add(self._linked(name, attributes.get("id", "")))

    def _start_run_property(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "vanish":
            self._hide(is_on(attributes))
        elif name == "highlight":
            self.marks.light(value)
        elif name == "rStyle" and (hides := self._definitions.styles.hides(value)) is not None:
            self._hide(hides)

    def _start_paragraph_property(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("headerReference", "footerReference"):
            self._beside(self._linked(name, attributes.get("id", "")))
        elif (paragraph := self._flows[-1].paragraph) is not None and "sectPr" not in self._properties:
            describe_paragraph(paragraph, name, attributes, self._properties[-1] == "rPr")

    def _hide(self, is_hidden: bool) -> None:
        if self._hidden:
            outer = self._hidden[-2] if len(self._hidden) > 1 else False
            self._hidden[-1] = is_hidden or outer

    def _begin_paragraph(self, _: Mapping[str, str] | None = None) -> Paragraph:
        flow = self._flows[-1]
        if flow.paragraph is not None:  # one within another
            flow = Flow(is_implied=True)
            self._flows.append(flow)
        paragraph = Paragraph()
        if flow.unfinished is not None:
            paragraph.words, paragraph.beside = flow.unfinished.words, flow.unfinished.beside
            flow.unfinished = None
        flow.paragraph = paragraph
        return paragraph

    def _end_paragraph(self) -> None:
        flow = self._flows[-1]
        paragraph, flow.paragraph = flow.paragraph, None
        if paragraph is None:
            return
        if paragraph.is_gone or paragraph.is_drop_cap:
            flow.unfinished = paragraph
        else:
            flow.add(self._definitions.blocks_of(paragraph, self._counters))
        if flow.is_implied:
            self._flows.pop()
            self._beside(marked("Text box", flow.blocks))

    def _finish(self, flow: Flow) -> None:
        """Add the paragraph that no other one went on with."""
        if (left := flow.unfinished) is not None:
            flow.unfinished = None
            flow.add(self._definitions.blocks_of(left, self._counters))

    def _begin_run(self, _: Mapping[str, str]) -> None:
        self.marks.light("")
        paragraph = self._flows[-1].paragraph
        outer = bool(self._hidden) and self._hidden[-1]
        self._hidden.append(outer or bool(paragraph and self._definitions.styles.hides(paragraph.style)))

    def _end_run(self) -> None:
        if self._hidden:
            self._hidden.pop()

    def _begin_table(self, _: Mapping[str, str]) -> None:
        self._tables.append(Table())

    def _end_table(self) -> None:
        if self._tables:
            self._tables.pop()

    def _begin_row(self, _: Mapping[str, str]) -> None:
        if self._tables:
            self._tables[-1].begin_row()

    def _end_row(self) -> None:
        if self._tables:
            self._flows[-1].add(self._tables[-1].end_row())

    def _begin_cell(self, _: Mapping[str, str]) -> None:
        self._flows.append(self._tables[-1].begin_cell() if self._tables else Flow())

    def _end_cell(self) -> None:
        if len(self._flows) > 1:
            self._finish(self._flows.pop())

    def _begin_box(self, _: Mapping[str, str]) -> None:
        self._flows.append(Flow())

    def _end_box(self) -> None:
        if len(self._flows) > 1:
            box = self._flows.pop()
            self._finish(box)
            self._beside(marked("Text box", box.blocks))

    def _begin_alternatives(self, _: Mapping[str, str]) -> None:
        self._alternatives.append(self._n_characters)

    def _end_alternatives(self) -> None:
        if self._alternatives:
            self._alternatives.pop()

    def _begin_fallback(self, _: Mapping[str, str]) -> None:
        """Leave out what says once more what an element for newer programs has said."""
        if self._alternatives and self._n_characters > self._alternatives[-1]:
            self._n_skipped = 1

    def _begin_note(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("type", "normal") in _SEPARATORS:
            self._n_skipped = 1
            return
        self._author = attributes.get("author", "")
        self._note = (self._name.capitalize(), attributes.get("id", ""), note_mark(self._name, attributes))
        self._flows.append(Flow())

    def _end_note(self) -> None:
        if self._note is not None and len(self._flows) > 1:
            kind, identity, mark = self._note
            flow = self._flows.pop()
            self._finish(flow)
            self._definitions.notes[kind, identity] = (mark, tuple(flow.blocks))
            self._definitions.authors[kind, identity] = self._author
            self._note = None

    def _begin_comment(self, attributes: Mapping[str, str]) -> None:
        self.marks.begin(f"comment {attributes.get('id', '')}")

    def _insert(self, attributes: Mapping[str, str]) -> None:
        self.marks.insert(attributes.get("author", ""))

    def _end_insert(self) -> None:
        self.marks.end_insert()

    def _link(self, attributes: Mapping[str, str]) -> None:
        identity = attributes.get("dm" if self._name == "relIds" else "id", "")
        self._beside(self._linked(self._name, identity))

    def _begin_link(self, attributes: Mapping[str, str]) -> None:
        target = link_target(attributes.get("instr", "")) or self._addresses.get(attributes.get("id", ""), "")
        self._open_links.append(target)
        self._write_mark(draft.link_begin(target))

    def _end_link(self) -> None:
        if self._open_links:
            self._write_mark(draft.link_end(self._open_links.pop()))

    def _write_mark(self, mark: str) -> None:
        if mark:
            self._write(mark)

    def _write_symbol(self, attributes: Mapping[str, str]) -> None:
        try:
            self._write(symbol(attributes.get("font", ""), int(attributes.get("char", ""), 16)))
        except (ValueError, OverflowError):
            return

    def _write_path(self, attributes: Mapping[str, str]) -> None:
        """Take the words of an old WordArt, such as a watermark: they are an attribute."""
        self._beside(marked("Text box", (Block(attributes.get("string", "")),)))

    def _begin_drawing(self, attributes: Mapping[str, str]) -> None:
        """A person may hide a drawing, with all that stands in it, or describe it."""
        if is_on({"val": attributes.get("hidden", "0")}):
            self._hide(True)
        self._describe(attributes)

    def _describe(self, attributes: Mapping[str, str]) -> None:
        """Let what a person wrote of a picture or a shape follow the paragraph."""
        if self._hidden and self._hidden[-1]:
            return
        if line := self._definitions.pictures.line(*map(attributes.get, ("title", "descr", "alt"))):
            n_before = self._n_characters
            self._beside((Block(line, is_apart=True),))
            self._n_characters = n_before  # no text that makes what older programs show superfluous

    def _mark_field(self, attributes: Mapping[str, str]) -> None:
        paragraph = self._flows[-1].paragraph
        level = self._definitions.styles.heading_level(paragraph.style) if paragraph else 0
        self._write_mark(self._fields.mark(attributes.get("fldCharType", ""), level))

    def _start_formula(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._formula is None:
            self._is_own_paragraph = self._flows[-1].paragraph is None
            self._formula = Formula((self._flows[-1].paragraph or self._begin_paragraph()).words)
        self._n_math += name == "oMath"
        if name == "r":
            self._begin_run(attributes)
        else:
            self._formula.start(name, attributes)

    def _end_formula(self, formula: Formula, name: str) -> None:
        formula.end(name)
        self._n_math -= name == "oMath"
        if not self._n_math:
            self._formula = None
            if self._is_own_paragraph:
                self._end_paragraph()


_STARTS: dict[str, Callable[[Body, Mapping[str, str]], object]] = {
    "p": Body._begin_paragraph,
    "r": Body._begin_run,
    "tbl": Body._begin_table,
    "tr": Body._begin_row,
    "tc": Body._begin_cell,
    "txbxContent": Body._begin_box,
    "txBody": Body._begin_box,
    "AlternateContent": Body._begin_alternatives,
    "Fallback": Body._begin_fallback,
    "footnote": Body._begin_note,
    "endnote": Body._begin_note,
    "comment": Body._begin_note,
    "commentRangeStart": Body._begin_comment,
    "ins": Body._insert,
    "moveTo": Body._insert,
    "hyperlink": Body._begin_link,
    "fldSimple": Body._begin_link,
    "fldChar": Body._mark_field,
    "sym": Body._write_symbol,
    "textpath": Body._write_path,
    "docPr": Body._begin_drawing,
    **dict.fromkeys(("cNvPr", "shape", "rect", "oval", "roundrect", "line"), Body._describe),
    **dict.fromkeys(("relIds", "chart", "altChunk", "OLEObject"), Body._link),
}
_ENDS: dict[str, Callable[[Body], object]] = {
    "p": Body._end_paragraph,
    "r": Body._end_run,
    "tbl": Body._end_table,
    "tr": Body._end_row,
    "tc": Body._end_cell,
    "txbxContent": Body._end_box,
    "txBody": Body._end_box,
    "AlternateContent": Body._end_alternatives,
    "footnote": Body._end_note,
    "endnote": Body._end_note,
    "comment": Body._end_note,
    "ins": Body._end_insert,
    "moveTo": Body._end_insert,
    "hyperlink": Body._end_link,
    "fldSimple": Body._end_link,
}
