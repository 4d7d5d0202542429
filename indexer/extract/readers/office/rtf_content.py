r"""Turns the control words of an RTF file into blocks: paragraphs, headings, rows, and what lies beside the text.

Knows no bytes: `rtf_characters` has spelled them out. A group whose name is not known is passed through, unless the
file says that a reader may leave it out (`\*`). Numbers of lists stand in the text, for old programs (`\listtext`);
those that do not are counted (`rtf_lists`, `rtf_old_lists`).

Longer than 300 lines because each control word changes the state that all others look at.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.office.rtf_old_lists import OldCounters, OldNumber
from longsearch.indexer.extract.readers.office.word.flows import Block, marked
from longsearch.indexer.extract.readers.office.word.numbering import BULLET, Counters, Numbering
from longsearch.indexer.extract.readers.office.word.symbols import symbol
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.table_head import TableHead, as_line

_TOKEN = re.compile(
    r"\\(?:(?P<word>[a-zA-Z]+)(?P<number>-?\d{1,10})? ?|(?P<sign>[^a-zA-Z]))|(?P<brace>[{}])|[^\\{}]+", re.DOTALL
)
_SKIPPED_NAMES = """
fonttbl colortbl pict objdata nonshppict filetbl listtable listoverridetable revtbl rsidtbl generator themedata
datastore colorschememapping latentstyles xmlnstbl fldinst bkmkstart bkmkend xe tc tcn mmathPr mmathPict do objclass
objname objalias nesttableprops nonesttables pgptbl wgrffmtfilter template passwordhash userprops docvar picprop sn
sv sp atrfstart atrfend atndate atntime atnparent atnref atnicn ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn private
panose falt fname listname listlevel levelnumbers leveltext blipuid bliptag defchp defpap upr shprslt pntxtb pntxta
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
"""Groups that hold no text of the document, or say once more what another group says."""
_KNOWN_IF_STARRED = frozenset(
    {"shpinst", "annotation", "atnid", "atnauthor", "ud", "moMath", "moMathPara", "shppict", "shptxt"}
)
_BESIDE = {
    "header": "Header", "headerl": "Header", "headerr": "Header", "headerf": "Header", "footer": "Footer",
    "footerl": "Footer", "footerr": "Footer", "footerf": "Footer", "footnote": "Footnote", "annotation": "Comment",
    "shptxt": "Text box",
}  # fmt: skip
"""Groups whose text follows the paragraph, marked as what it is."""
_CHARACTERS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "column": "\n",
}  # fmt: skip
_SIGNS = {"~": " ", "_": "-", "\\": "\\", "{": "{", "}": "}", "\n": "", "\r": ""}
_INFO = frozenset({"title", "author", "keywords", "subject"})
_OTHER_INFO_NAMES = "printim revtim buptim operator doccomm company manager category hlinkbase"
_OTHER_INFO = frozenset(_OTHER_INFO_NAMES.split())
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_ONLY_A_NUMBER = re.compile(r"\W*(?:page|seite|p|s)?\W*\d*(?:\W+\w{0,4}\W*\d+)?\W*", re.IGNORECASE)


@dataclass(slots=True)
class _Group:
    """What holds until the end of a group."""

    name: str = ""
    is_skipped: bool = False
    is_hidden: bool = False
    font: int = -1
    is_new: bool = True
    """Whether nothing but `\\*` has come in it."""
    is_optional: bool = False


@dataclass(slots=True)
class _Flow:
    """Paragraphs one after another: those of the document, or of what lies beside it."""

    mark: str = ""
    blocks: list[Block] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    beside: list[Block] = field(default_factory=list)
    level: int = 0
    list_id: int = 0
    place: int = 0
    """The level of the list, from 0."""
    old_number: OldNumber | None = None
    """How the number of the paragraph looks (`\\pn`)."""
    has_number: bool = False
    """Whether the number of the paragraph stands in its text."""
    is_in_table: bool = False
    cell: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    head: TableHead = field(default_factory=TableHead)


class Content:
    """Takes the tokens of a file."""

    def __init__(self, builder: TextBuilder, lists: Numbering | None = None) -> None:
        """`lists`: those that the file defines."""
        self._counters = Counters(lists) if lists else None
        self._old_counters = OldCounters()
        self._descriptions = Descriptions()
        self._property = ""
        """The name of the property of a shape or a picture that is open."""
        self._property_text = ""
        self.info: dict[str, str] = {}
        self.created = ""
        self._builder = builder
        self._groups = [_Group("document", is_new=False)]
        self._flows = [_Flow()]
        self._levels: dict[int, int] = {}
        self._style = 0
        self._symbol_fonts: dict[int, str] = {}
        self._author = ""
        self._counts: dict[str, int] = {}
        self._heads: set[str] = set()
        self._merges: list[str] = []
        self._merge = ""
        self._edges: list[int] = []
        """Where each column of the row begins, and where the last one ends."""
        self._above: dict[int, str] = {}
        self._date: list[int] = []

    def read(self, source: str) -> None:
        """Read the whole file."""
        for token in _TOKEN.finditer(source):
            if token["brace"]:
                self._begin() if token["brace"] == "{" else self._end()
            elif token["word"]:
                self._word(token["word"], int(token["number"]) if token["number"] else None)
            elif token["sign"]:
                self._sign(token["sign"])
            else:
                self._text(token[0].replace("\n", "").replace("\r", ""))
        while len(self._groups) > 1:
            self._end()
        self._end_paragraph(self._flows[0])
        self._flush(self._flows[0])

    def _begin(self) -> None:
        group = replace(self._groups[-1], is_new=True, is_optional=False)
        self._groups.append(group)

    def _end(self) -> None:
        if len(self._groups) == 1:
            return
        group = self._groups.pop()
        if group.name in _BESIDE and self._groups[-1].name != group.name and len(self._flows) > 1:
            self._end_beside(self._flows.pop())
        elif group.name == "sv" and self._groups[-1].name != "sv":
            self._end_property()
        elif group.name == "creatim" and self._groups[-1].name != "creatim" and len(self._date) == 3:
            self.created = "-".join(f"{part:02}" for part in self._date)

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self._groups[-1].is_optional = True
        else:
            self._text(_SIGNS.get(sign, ""))

    def _word(self, word: str, number: int | None) -> None:
        group = self._groups[-1]
        if group.is_new:
            self._name(group, word)
        if group.is_skipped:
            self._skipped_word(group, word, number)
            return
        if word in _CHARACTERS:
            self._text(_CHARACTERS[word])
        elif (follow := _WORDS.get(word)) is not None:
            follow(self, number)
        elif word in ("v", "deleted", "htmlrtf"):  # the last: what stands there for programs without HTML
            group.is_hidden = number != 0
        elif word == "plain":
            group.is_hidden = False
        elif word == "f":
            group.font = number or 0
        elif word in ("yr", "mo", "dy") and group.name == "creatim":
            self._date.append(number or 0)

    def _name(self, group: _Group, word: str) -> None:
        """Take the first word of a group for its name, if it is one."""
        group.is_new = False
        if word in _SKIPPED or (group.is_optional and word not in _KNOWN_IF_STARRED):
            group.name, group.is_skipped = word, True
            if word == "pn":
                self._flows[-1].old_number = OldNumber()
        elif word == "ud":
            group.is_skipped = False
        elif word in _BESIDE and not group.is_skipped:
            group.name = word
            self._flows.append(_Flow(_BESIDE[word]))
        elif word in ("info", "stylesheet", "atnauthor", "atnid", "creatim", *_INFO):
            group.name = word
        elif word in _OTHER_INFO:
            group.is_skipped = True

    def _skipped_word(self, group: _Group, word: str, number: int | None) -> None:
        """Take what matters of a group without text: the fonts; a row in a cell, which ends among its properties."""
        if group.name == "nesttableprops" and word == "nestrow":
            self._end_nested_row(None)
        elif group.name == "pn":
            self._flows[-1].old_number = (self._flows[-1].old_number or OldNumber()).said(word, number)
        elif group.name != "fonttbl":
            return
        elif word == "f":
            group.font = number or 0
        elif word == "fcharset" and number == 2:
            self._symbol_fonts[group.font] = "symbol"

    def _text(self, text: str) -> None:
        group = self._groups[-1]
        group.is_new = False
        if not text or group.is_skipped:
            self._skipped_text(group.name, text)
            return
        if group.name in _INFO:
            self.info[group.name] = self.info.get(group.name, "") + text
        elif group.name == "stylesheet":
            if found := _HEADING.search(text):
                self._levels[self._style] = int(found[1])
        elif group.name == "atnauthor":
            self._author = text.strip()
        elif group.name in ("info", "creatim", "atnid") or group.is_hidden:
            return
        elif group.font in self._symbol_fonts:
            self._flows[-1].words.append("".join(map(_symbol, text)))
        else:
            self._flows[-1].words.append(text)

    def _skipped_text(self, name: str, text: str) -> None:
        """Take the name and the value of a shape's property, what stands before and behind a paragraph's number."""
        flow = self._flows[-1]
        if name == "sn":
            self._property, self._property_text = text.strip(), ""
        elif name == "sv":
            self._property_text += text
        if name == "pntxtb" and flow.old_number is not None:
            flow.old_number = replace(flow.old_number, before=flow.old_number.before + text)
        elif name == "pntxta" and flow.old_number is not None:
            flow.old_number = replace(flow.old_number, after=flow.old_number.after + text)

    def _end_property(self) -> None:
        """Let what a person wrote of a picture or a shape follow the paragraph."""
        line = self._descriptions.line(self._property_text) if self._property == "wzDescription" else ""
        if line and not self._groups[-1].is_hidden:
            self._flows[-1].beside.append(Block(line, is_apart=True))

    def _set_style(self, number: int | None) -> None:
        if self._groups[-1].name == "stylesheet":
            self._style = number or 0
        else:
            self._flows[-1].level = self._levels.get(number or 0, 0)

    def _has_number(self, _: int | None) -> None:
        self._flows[-1].has_number = True

    def _set_list(self, number: int | None) -> None:
        if self._groups[-1].name != "stylesheet":
            self._flows[-1].list_id = number or 0

    def _set_place(self, number: int | None) -> None:
        if self._groups[-1].name != "stylesheet":
            self._flows[-1].place = number or 0

    def _set_outline(self, number: int | None) -> None:
        if self._groups[-1].name != "stylesheet":
            self._flows[-1].level = (number or 0) + 1 if number is not None and number < 9 else 0

    def _begin_style(self, _: int | None) -> None:
        """Paragraphs take their looks anew."""
        flow = self._flows[-1]
        flow.level = flow.list_id = flow.place = 0
        flow.is_in_table, flow.old_number = False, None

    def _in_table(self, _: int | None) -> None:
        self._flows[-1].is_in_table = True

    def _paragraph(self, _: int | None) -> None:
        flow = self._flows[-1]
        if flow.is_in_table:
            flow.cell.append(" ".join(reversed(self._taken(flow))))
        else:
            self._end_paragraph(flow)

    def _end_paragraph(self, flow: _Flow) -> None:
        text, label = self._taken(flow)
        if flow.row or flow.cell:  # a row that never ended
            self._end_row(None)
        if text:
            flow.head = TableHead()  # a table ends where text begins
            is_item = bool(label or "\t" in text[:12]) and not flow.level
            words = text.replace("\t", " ", 1) if is_item or flow.level else text
            words = words if label == "" or (label == BULLET and flow.level) else f"{label} {words}"
            flow.blocks.append(Block(words, flow.level, is_item))
        flow.blocks += flow.beside
        flow.beside = []
        if flow is self._flows[0]:
            self._flush(flow)

    def _taken(self, flow: _Flow) -> tuple[str, str]:
        """End a paragraph: return its text, and the number that its list gives it, unless the text has it."""
        text, flow.words = "".join(flow.words).strip(), []
        has_number, flow.has_number = flow.has_number, False
        label = self._label(flow) if text else ""
        return text, "" if has_number else label

    def _label(self, flow: _Flow) -> str:
        if self._counters is not None and flow.list_id:
            return self._counters.label(str(flow.list_id), flow.place)
        return self._old_counters.label(flow.old_number)

    def _cell_text(self, flow: _Flow) -> str:
        """End a cell: return its paragraphs on one line."""
        words = (*flow.cell, " ".join(reversed(self._taken(flow))))
        flow.cell = []
        return " ".join(" ".join(words).split())

    def _end_cell(self, _: int | None) -> None:
        flow = self._flows[-1]
        flow.row.append(self._cell_text(flow))

    def _end_nested_cell(self, _: int | None) -> None:
        flow = self._flows[-1]
        flow.nested.append(self._cell_text(flow))

    def _end_nested_row(self, _: int | None) -> None:
        flow = self._flows[-1]
        if line := as_line(flow.nested):
            flow.beside.append(Block(line, tight=True))
        flow.nested = []

    def _end_row(self, _: int | None) -> None:
        self._end_nested_row(None)  # one that never ended
        flow = self._flows[-1]
        left = self._cell_text(flow)
        flow.row += [left] if left else []
        for column, merge in enumerate(self._merges[: len(flow.row)]):
            if merge == "clvmrg" and not flow.row[column]:
                flow.row[column] = self._above.get(column, "")
        self._above = dict(enumerate(flow.row))
        starts = self._edges[: len(flow.row)] if len(self._edges) > len(flow.row) else ()
        flow.blocks += [Block(line, tight=True) for line in flow.head.lines(flow.row, starts)]
        flow.blocks += flow.beside
        flow.row, flow.beside = [], []
        if flow is self._flows[0]:
            self._flush(flow)

    def _begin_row(self, _: int | None) -> None:
        self._merges, self._merge, self._edges = [], "", [-1_000_000]  # left of all

    def _merge_first(self, _: int | None) -> None:
        self._merge = "clvmgf"

    def _merge_on(self, _: int | None) -> None:
        self._merge = "clvmrg"

    def _end_column(self, edge: int | None) -> None:
        self._edges.append(edge or 0)
        self._merges.append(self._merge)
        self._merge = ""

    def _alternative(self, _: int | None) -> None:
        """A footnote is an endnote."""
        if self._flows[-1].mark == "Footnote":
            self._flows[-1].mark = "Endnote"

    def _end_beside(self, flow: _Flow) -> None:
        self._flows.append(flow)
        self._end_paragraph(flow)
        self._flows.pop()
        mark, text = flow.mark, " ".join(block.text for block in flow.blocks)
        if mark in ("Header", "Footer"):
            if text in self._heads or _ONLY_A_NUMBER.fullmatch(text):
                return
            self._heads.add(text)
        elif mark in ("Footnote", "Endnote"):
            self._counts[mark] = self._counts.get(mark, 0) + 1
            mark = f"{mark} {self._counts[mark]}"
        elif mark == "Comment" and self._author:
            mark, self._author = f"Comment by {self._author}", ""
        outer = self._flows[-1]
        outer.beside += marked(mark, flow.blocks)
        if outer is self._flows[0] and not outer.words and not outer.row and mark in ("Header", "Footer"):
            outer.blocks, outer.beside = [*outer.blocks, *outer.beside], []

    def _flush(self, flow: _Flow) -> None:
        blocks, flow.blocks = flow.blocks, []
        for block in blocks:
            if block.level:
                self._builder.add_heading(block.level, block.text)
            else:
                self._builder.add(block.text, block.tight)


def _symbol(character: str) -> str:
    return character if character.isspace() else symbol("symbol", ord(character))


_WORDS: dict[str, Callable[[Content, int | None], None]] = {
    "par": Content._paragraph,
    "sect": Content._paragraph,
    "page": Content._paragraph,
    "pard": Content._begin_style,
    "intbl": Content._in_table,
    "cell": Content._end_cell,
    "nestcell": Content._end_nested_cell,
    "nestrow": Content._end_nested_row,
    "row": Content._end_row,
    "trowd": Content._begin_row,
    "clvmgf": Content._merge_first,
    "clvmrg": Content._merge_on,
    "cellx": Content._end_column,
    "s": Content._set_style,
    "ls": Content._set_list,
    "ilvl": Content._set_place,
    "listtext": Content._has_number,
    "pntext": Content._has_number,
    "outlinelevel": Content._set_outline,
    "ftnalt": Content._alternative,
}
