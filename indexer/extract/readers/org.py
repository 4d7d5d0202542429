"""Extract the text of Org as a person reads it: headlines, words of links; no drawers, planning lines or marks.

We parse Org ourselves: it is a format of lines, and orgparse leaves drawers, blocks, keywords and most marks in the
text. Macros, included files and LaTeX stay as written; no link or file is ever followed.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence

from longsearch.indexer.extract.clean import clean_characters, one_line, unwrapped
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.table_head import CELL_SEPARATOR
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawValue, limited

_HEADLINE = re.compile(r"(\*{1,50})[ \t]+(.*)")
_STATE = re.compile(r"(?:TODO|DONE|NEXT|WAITING|CANCELLED)(?:[ \t]+|$)|\[#[A-Z0-9]\][ \t]*")
_COMMENTED = re.compile(rf"(?:{_STATE.pattern})*COMMENT(?:[ \t]+|$)")
"""A headline whose tree its author has withdrawn."""
_TAGS = re.compile(r"[ \t]+:([\w@#%:]{1,500}):$")
_KEYWORD = re.compile(r"#\+(\w+)(?:\[[^\]]*\])?:[ \t]*(.*)")
_KEPT_KEYWORDS = {"author": "Author: ", "date": "Date: ", "filetags": "Tags: ", "subtitle": "", "caption": ""}
_METADATA_KEYWORDS = frozenset({"author", "date", "filetags", "keywords", "category", "language", "subtitle"})
_SOURCE = "Org keyword"
_BLOCK_BEGIN = re.compile(r"[ \t]*#\+begin_(\w+)", re.IGNORECASE)
_VERBATIM = frozenset({"src", "example", "export", "verse"})
_COMMA = re.compile(r"^[ \t]*,(?=\*|#\+)")
"""The comma that escapes a line of a block that would otherwise begin a headline or a keyword."""
_DRAWER_BEGIN = re.compile(r"[ \t]*:[\w-]+:[ \t]*$")
_END = re.compile(r"[ \t]*(?:#\+end_(\w+)|:end:)[ \t]*$", re.IGNORECASE)
_DRAWER, _HEAD = ":drawer", ":headline"
"""Keys of `_ends` beside the kinds of blocks."""
_MAX_DRAWER_LINES = 1_000
_DROPPED = re.compile(
    r"[ \t]*(?:#(?:[ \t]|$)|(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):[ \t]*[<\[]|\|[-+]+\|?[ \t]*$|-{5,}[ \t]*$)"
)
_ITEM = re.compile(r"[ \t]*(?:[-+]|(\d{1,9}[.)]))[ \t]+(?:\[[ X-]\][ \t]+)?")
_ROW = re.compile(r"[ \t]*\|(.*?)\|?[ \t]*$")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,2000})\](?:\[([^\[\]\n]{1,2000})\])?\]")
_MARKED = re.compile(r"""(?<![^\s({'"-])([*/_=~+])(?=\S)([^\n]{0,500}?\S)\1(?=[\s).,:;!?}'"\[-]|$)""")


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """Return the text of Org `source`."""
    builder = _Builder(clean_characters(source).split("\n"))
    builder.take_all()
    return builder.text.file_text(builder.title, limited((("title", builder.title, _SOURCE), *builder.metadata)))


def inline_text(text: str) -> str:
    """Return `text` without marks, and each link as its words."""
    return _MARKED.sub(r"\2", _LINK.sub(lambda link: link[2] or link[1], text))


def _ends(lines: Sequence[str]) -> defaultdict[str, list[int]]:
    """Return the numbers of the lines that end a block (by its kind), a drawer or a section, ascending.

    One pass finds all of them: a search from every block would take hours on a hostile file.
    """
    found: defaultdict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if _HEADLINE.match(line):
            found[_HEAD].append(index)
        elif match := _END.match(line):
            found[(match[1] or _DRAWER).lower()].append(index)
    return found


def _first_from(places: Sequence[int], start: int) -> int | None:
    index = bisect_left(places, start)
    return places[index] if index < len(places) else None


class _Builder:
    """Reads the lines once, from the top; `_paragraph` holds the lines of the open paragraph."""

    def __init__(self, lines: list[str]) -> None:
        self.text = TextBuilder()
        self.title = ""
        self.metadata: list[RawValue] = []
        self._lines = lines
        self._ends = _ends(lines)
        self._next = 0
        self._paragraph: list[str] = []
        self._in_item = False

    def take_all(self) -> None:
        """Add every line."""
        while self._next < len(self._lines):
            line = self._lines[self._next]
            self._next += 1
            self._take(line)
        self._close()

    def _take(self, line: str) -> None:
        takers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], None]], ...] = (
            (_HEADLINE, self._headline),
            (_KEYWORD, self._keyword),
            (_BLOCK_BEGIN, self._block),
            (_DRAWER_BEGIN, self._drawer),
            (_DROPPED, lambda _: None),
            (_ROW, self._row),
            (_ITEM, self._item),
        )
        if not line.strip():
            self._close()
            return
        for pattern, take in takers:
            if match := pattern.match(line):
                take(match)
                return
        if not line.lstrip().lower().startswith(("#+end", "#+")):
            self._paragraph.append(line.strip())

    def _close(self) -> None:
        """End the open paragraph."""
        lines, self._paragraph = self._paragraph, []
        if lines:
            self.text.add(inline_text(unwrapped("\n".join(lines))), tight=self._in_item)
        self._in_item = False

    def _headline(self, match: re.Match[str]) -> None:
        self._close()
        title = match[2].strip()
        if _COMMENTED.match(title):
            self._next = self._after_tree(len(match[1]))
            return
        while state := _STATE.match(title):
            title = title[state.end() :]
        tags = _TAGS.search(title)
        self.text.add_heading(len(match[1]), inline_text(title[: tags.start()] if tags else title))
        if tags:
            self.text.add("Tags: " + ", ".join(filter(None, tags[1].split(":"))))

    def _after_tree(self, level: int) -> int:
        """Return the first line behind the tree of a headline of this level that was just taken."""
        places = self._ends[_HEAD]
        for place in places[bisect_left(places, self._next) :]:
            if len(self._lines[place].partition(" ")[0].partition("\t")[0]) <= level:
                return place
        return len(self._lines)

    def _keyword(self, match: re.Match[str]) -> None:
        key, value = match[1].lower(), match[2].strip()
        if key in _METADATA_KEYWORDS:
            text = value.strip(":").replace(":", ", ") if key == "filetags" else value
            self.metadata.append((key, inline_text(text), _SOURCE))
        if key == "title":
            self.title = one_line(inline_text(f"{self.title} {value}"), MAX_TITLE_CHARACTERS)
        elif key in _KEPT_KEYWORDS and value:
            self._close()
            self.text.add(_KEPT_KEYWORDS[key] + inline_text(value.strip(":").replace(":", ", ")))

    def _block(self, match: re.Match[str]) -> None:
        """Add the lines of a verbatim block unchanged; read those of a prose block (quote, center) like any others."""
        self._close()
        kind = match[1].lower()
        if kind not in _VERBATIM and kind != "comment":
            return
        stop = self._next_of(kind, len(self._lines))
        if stop is None:
            return
        if kind != "comment":
            self.text.add("\n".join(_COMMA.sub("", line) for line in self._lines[self._next : stop]))
        self._next = stop + 1

    def _drawer(self, match: re.Match[str]) -> None:
        stop = self._next_of(_DRAWER, self._next + _MAX_DRAWER_LINES)
        if stop is None:  # no drawer, but text that looks like one
            self._paragraph.append(match[0].strip())
        else:
            self._next = stop + 1

    def _next_of(self, kind: str, limit: int) -> int | None:
        """Return the next line that ends a block of `kind`, if it stands before `limit` and the next headline."""
        end, headline = (_first_from(self._ends[name], self._next) for name in (kind, _HEAD))
        return end if end is not None and end < limit and (headline is None or end < headline) else None

    def _row(self, match: re.Match[str]) -> None:
        self._close()
        self.text.add(CELL_SEPARATOR.join(inline_text(cell.strip()) for cell in match[1].split("|")), tight=True)

    def _item(self, match: re.Match[str]) -> None:
        self._close()
        self._in_item = True
        self._paragraph.append(f"{match[1] or '-'} {match.string[match.end() :].strip()}")
