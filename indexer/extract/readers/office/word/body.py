"""Turns the events of a part of a Word document into blocks: paragraphs, headings, list items, rows, what lies beside.

All elements that hold text are followed wherever they stand; an element that is not known here is passed through, so
its text is kept. What Word does not show is left out: deletions, hidden text, the instructions of fields.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.office.word.fields import Fields
from longsearch.indexer.extract.readers.office.word.flows import Block, Flow, Paragraph, Table, marked
from longsearch.indexer.extract.readers.office.word.formulas import Formula
from longsearch.indexer.extract.readers.office.word.numbering import BULLET, Counters, Numbering
from longsearch.indexer.extract.readers.office.word.styles import MAX_LEVEL, Styles
from longsearch.indexer.extract.readers.office.word.symbols import symbol
from longsearch.indexer.extract.readers.xml_events import is_on

_SKIPPED_NAMES = """
del moveFrom rt rubyPr pPrChange rPrChange sectPrChange tblPrChange tblPrExChange tcPrChange trPrChange
tblGridChange numberingChange
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
"""Elements that Word does not show, or that hold what a paragraph was before."""
_PROPERTIES = frozenset({"pPr", "trPr", "tcPr", "tblPr", "rPr", "sectPr", "sdtPr", "ffData"})
_NO_TEXT_NAMES = """
instrText delText delInstrText fldData binData posOffset align pctWidth pctHeight pctPosHOffset pctPosVOffset
sectPr pPr rPr tcPr trPr tblPr sdtPr ffData
"""
_NO_TEXT = frozenset(_NO_TEXT_NAMES.split())
"""Elements whose characters are no text. Those of an element that is not known are."""
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES = {"footnoteReference": "Footnote", "endnoteReference": "Endnote"}
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})

Notes = dict[tuple[str, str], tuple[str, tuple[Block, ...]]]
"""(kind, id) -> (what it is marked as, its blocks). Kinds: "Footnote", "Endnote", "Comment"."""


@dataclass(slots=True)
class Definitions:
    """What all parts of one document share."""

    styles: Styles = field(default_factory=Styles)
    numbering: Numbering = field(default_factory=Numbering)
    notes: Notes = field(default_factory=dict)
    named: set[tuple[str, str]] = field(default_factory=set)
    """The notes and comments that the text refers to."""
    counts: dict[str, int] = field(default_factory=dict)
    """Kind of note -> how many the text has referred to."""


class Body:
    """Takes the events of one part."""

    def __init__(
        self, definitions: Definitions, flow: Flow, linked: Callable[[str, str], Iterable[Block]] = lambda *_: ()
    ) -> None:
        """`linked` returns the text of what an element refers to: (name of the element, id of the relation)."""
        self._definitions = definitions
        self._counters = Counters(definitions.numbering)
        self._linked = linked
        self._flows = [flow]
        self._tables: list[Table] = []
        self._fields = Fields()
        self._formula: Formula | None = None
        self._n_math = 0
        self._is_own_paragraph = False
        self._in_box = False
        self._n_skipped = 0
        self._name = ""
        self._is_text = False
        self._properties: list[str] = []
        self._hidden: list[bool] = []
        self._n_characters = 0
        self._alternatives: list[int] = []
        self._note: tuple[str, str, str] | None = None

    # --- events

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped:
            self._n_skipped += 1
            return
        self._name = name
        if name == "t":
            self._is_text = True
        elif self._properties or name in _PROPERTIES:
            self._start_property(name, attributes)
        elif name in _SKIPPED:
            self._n_skipped = 1
        elif name in _CHARACTERS:
            self._write(_CHARACTERS[name])
        elif self._formula is not None or name == "oMath":
            self._start_formula(name, attributes)
        elif (begin := _STARTS.get(name)) is not None:
            begin(self, attributes)
        elif name in _NOTES:
            self._refer(_NOTES[name], attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        self._name = ""
        if self._n_skipped:
            self._n_skipped -= 1
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

    # --- text

    def _write(self, text: str) -> None:
        if self._fields.hides or (self._hidden and self._hidden[-1]):
            return
        self._n_characters += len(text)
        if (paragraph := self._flows[-1].paragraph) is not None:
            paragraph.words.append(text)
        elif not text.isspace():
            self._flows[-1].add((Block(text.strip()),))

    def _beside(self, blocks: Iterable[Block]) -> None:
        """Put `blocks` behind the open paragraph."""
        if self._hidden and self._hidden[-1]:
            return
        kept = tuple(blocks)
        self._n_characters += sum(len(block.text) for block in kept)
        paragraph = self._flows[-1].paragraph
        paragraph.beside.extend(kept) if paragraph else self._flows[-1].add(kept)

    # --- properties

    def _start_property(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _PROPERTIES:
            self._properties.append(name)
        elif name.endswith("Change"):
            self._n_skipped = 1
        elif self._properties[0] == "pPr":
            self._describe_paragraph(name, attributes)
        elif self._properties[0] == "rPr":
            if name == "vanish":
                self._hide(is_on(attributes))
            elif name == "rStyle" and (hides := self._definitions.styles.hides(attributes.get("val", ""))) is not None:
                self._hide(hides)
        elif self._tables and self._properties[0] in ("trPr", "tcPr"):
            self._describe_cell(self._tables[-1], name, attributes)
        elif self._properties[0] == "ffData":
            self._describe_field(name, attributes)
        elif name in ("headerReference", "footerReference"):
            self._flow_of_document.add(self._linked(name, attributes.get("id", "")))

    @property
    def _flow_of_document(self) -> Flow:
        return self._flows[0]

    def _hide(self, is_hidden: bool) -> None:
        if self._hidden:
            outer = self._hidden[-2] if len(self._hidden) > 1 else False
            self._hidden[-1] = is_hidden or outer

    def _describe_paragraph(self, name: str, attributes: Mapping[str, str]) -> None:
        paragraph, value = self._flows[-1].paragraph, attributes.get("val", "")
        if self._properties[-1] == "sectPr" and name in ("headerReference", "footerReference"):
            self._beside(self._linked(name, attributes.get("id", "")))
        if paragraph is None or "sectPr" in self._properties:
            return
        match name:
            case "pStyle":
                paragraph.style = value
            case "numId":
                paragraph.list_id = value
            case "ilvl":
                paragraph.place = int(value) if value.isdecimal() else 0
            case "outlineLvl":
                paragraph.outline = int(value) if value.isdecimal() else MAX_LEVEL
            case "framePr":
                paragraph.is_drop_cap = attributes.get("dropCap", "none") != "none"
            case "del" | "moveFrom" if self._properties[-1] == "rPr":
                paragraph.is_gone = True
            case "vanish" if self._properties[-1] == "rPr":
                paragraph.is_mark_hidden = is_on(attributes)

    @staticmethod
    def _describe_cell(table: Table, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        match name:
            case "del" | "hidden" if is_on(attributes):
                table.is_row_gone = True
            case "tblHeader":
                table.is_head = is_on(attributes)
            case "gridBefore":
                table.skip_columns(int(value) if value.isdecimal() else 0)
            case "gridSpan":
                table.span(int(value) if value.isdecimal() else 1)
            case "vMerge":
                table.go_on(value in ("", "continue"))
            case "hMerge" if value in ("", "continue"):
                table.remove_cell()
            case "cellDel":
                table.remove_cell()

    def _describe_field(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name in ("checked", "default") and self._in_box:
            self._fields.check(is_on(attributes))
        elif name == "checkBox":
            self._in_box = True
            self._fields.check(False)
        elif name == "listEntry":
            self._fields.offer(value)
        elif name == "result" and value.isdecimal():
            self._fields.choose(int(value))

    # --- paragraphs

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
            flow.add(self._blocks_of(paragraph))
        if flow.is_implied:
            self._flows.pop()
            self._beside(marked("Text box", flow.blocks))

    def _finish(self, flow: Flow) -> None:
        """Add the paragraph that no other one went on with."""
        if (left := flow.unfinished) is not None:
            flow.unfinished = None
            flow.add(self._blocks_of(left))

    def _blocks_of(self, paragraph: Paragraph) -> Iterable[Block]:
        """Return a paragraph as a heading, an item of a list or plain text, and what follows it."""
        text = "".join(paragraph.words).strip()
        styles = self._definitions.styles
        level = styles.heading_level(paragraph.style)
        if paragraph.outline is not None:
            level = paragraph.outline + 1 if paragraph.outline < MAX_LEVEL else 0
        label = self._label(paragraph, bool(text))
        if not text:
            return (Block(label), *paragraph.beside) if label not in ("", BULLET) else paragraph.beside
        if level:
            words = f"{label} {text}" if label not in ("", BULLET) else text
            return (Block(words, level), *paragraph.beside)
        return (Block(f"{label} {text}" if label else text, tight=bool(label)), *paragraph.beside)

    def _label(self, paragraph: Paragraph, has_text: bool) -> str:
        """Return the number or the bullet of a paragraph."""
        if paragraph.is_mark_hidden and not has_text:
            return ""
        styles, numbering = self._definitions.styles, self._definitions.numbering
        list_id, place, style = styles.numbering(paragraph.style)
        if style and place is None:
            place = numbering.level_of_style(list_id, style)
        if paragraph.list_id is not None:
            own = None if paragraph.list_id == list_id else numbering.level_of_style(paragraph.list_id, paragraph.style)
            list_id, place = paragraph.list_id, place if own is None else own
        if paragraph.place is not None:
            place = paragraph.place
        return self._counters.label(list_id, place or 0) if list_id not in ("", "0") else ""

    def _begin_run(self, _: Mapping[str, str]) -> None:
        paragraph = self._flows[-1].paragraph
        outer = bool(self._hidden) and self._hidden[-1]
        self._hidden.append(outer or bool(paragraph and self._definitions.styles.hides(paragraph.style)))

    def _end_run(self) -> None:
        if self._hidden:
            self._hidden.pop()

    # --- tables

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

    # --- text boxes, notes, what is linked

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
        is_comment = self._name == "comment"
        kind = "Comment" if is_comment else self._name.capitalize()
        day = attributes.get("date", "").partition("T")[0]
        by = f" by {attributes['author']}" if is_comment and attributes.get("author") else ""
        mark = f"Comment{by}" + (f", {day}" if day else "") if is_comment else kind
        if attributes.get("type", "normal") in _SEPARATORS:
            self._n_skipped = 1
            return
        self._note = (kind, attributes.get("id", ""), mark)
        self._flows.append(Flow())

    def _end_note(self) -> None:
        if self._note is not None and len(self._flows) > 1:
            kind, identity, mark = self._note
            flow = self._flows.pop()
            self._finish(flow)
            self._definitions.notes[kind, identity] = (mark, tuple(flow.blocks))
            self._note = None

    def _refer(self, kind: str, attributes: Mapping[str, str]) -> None:
        """Put a note or a comment behind the paragraph that refers to it."""
        definitions = self._definitions
        key = (kind, attributes.get("id", ""))
        mark, blocks = definitions.notes.get(key, ("", ()))
        if key in definitions.named or (self._hidden and self._hidden[-1]):
            return
        definitions.named.add(key)
        if kind != "Comment":
            definitions.counts[kind] = definitions.counts.get(kind, 0) + 1
            mark = f"{kind} {definitions.counts[kind]}"
        self._beside(marked(mark, blocks))

    def _refer_to_comment(self, attributes: Mapping[str, str]) -> None:
        self._refer("Comment", attributes)

    def _link(self, attributes: Mapping[str, str]) -> None:
        identity = attributes.get("dm" if self._name == "relIds" else "id", "")
        self._beside(self._linked(self._name, identity))

    def _write_symbol(self, attributes: Mapping[str, str]) -> None:
        try:
            self._write(symbol(attributes.get("font", ""), int(attributes.get("char", ""), 16)))
        except (ValueError, OverflowError):
            return

    def _write_path(self, attributes: Mapping[str, str]) -> None:
        """Take the words of an old WordArt, such as a watermark: they are an attribute."""
        self._beside(marked("Text box", (Block(attributes.get("string", "")),)))

    def _mark_field(self, attributes: Mapping[str, str]) -> None:
        made = self._fields.mark(attributes.get("fldCharType", ""))
        self._in_box = False
        if made:
            self._write(made)

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
    "commentReference": Body._refer_to_comment,
    "fldChar": Body._mark_field,
    "sym": Body._write_symbol,
    "textpath": Body._write_path,
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
}
