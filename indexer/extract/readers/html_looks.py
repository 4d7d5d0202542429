"""Finds what a browser makes of a page's marks: what it hides, what fields hold, numbers of lists, rows of tables."""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from longsearch.indexer.extract.readers.mathml import MathLine
from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.table_head import TableHead

_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all"
    r"|content-visibility\s*:\s*hidden)\s*(?:!\s*important\s*)?(?=;|$)",
    re.IGNORECASE,
)
_SHOWING = re.compile(r"(?:^|;)\s*display\s*:\s*(?!none)\w", re.IGNORECASE)
_WITH_STYLE = "[style*='none' i],[style*='hidden' i],[style*='collapse' i],[style*='mso-hide' i]"
_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_PLAIN_SELECTOR = re.compile(r"[\w.#*>~+\s=\"'\[\]-]+")
"""A selector without pseudo-classes: what a pointer or a click changes is not decided here."""
_MAX_STYLE_CHARACTERS = 200_000
_MAX_RULES = 500
_LAYOUT = "table,h1,h2,h3,h4,h5,h6,pre,form,article,section,hr"
"""What makes a cell a part of the page, and not a value in a table."""
_MAX_ROW_CHARACTERS = 4_000
_MAX_SPAN = 1_000
_TICKS = frozenset({"checkbox", "radio"})
_TYPED_NAMES = "text search email tel url number date time month week datetime-local"
_TYPED = frozenset(_TYPED_NAMES.split())
"""Kinds of fields that show what was typed into them. Passwords and hidden fields are not shown."""
_NUMERALS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


def hidden_nodes(tree: LexborHTMLParser) -> set[int]:
    """Return the ids of the elements that the page hides by an attribute, a style, or a rule of its own style sheet.

    Rules are followed only in a page without scripts, which might show the element again.
    """
    hidden = {node.mem_id for node in tree.css("[hidden]") if node.attributes.get("hidden") != "until-found"}
    hidden |= {node.mem_id for node in tree.css("dialog:not([open])")}
    if tree.css_first("script") is None:
        for sheet in tree.css("style"):
            _follow(sheet.text()[:_MAX_STYLE_CHARACTERS], tree, hidden)
    for node in tree.css(_WITH_STYLE):
        if _HIDING.search(node.attributes.get("style") or ""):
            hidden.add(node.mem_id)
    return hidden


def described_nodes(tree: LexborHTMLParser) -> dict[int, str]:
    """Return the ids of pictures -> what is written of each; "" for those that are there for looks alone."""
    found = {}
    for node in tree.css("img, svg, [role=img][aria-label]"):
        attributes = node.attributes
        if node.tag == "img":
            written = attributes.get("alt") or attributes.get("title")
        elif node.tag == "svg":
            own = ": ".join(part.text(strip=True) for part in node.css("svg > title, svg > desc"))
            written = attributes.get("aria-label") or own
        elif node.text().strip():
            continue  # a sign, such as an emoji, which the page shows
        else:
            written = attributes.get("aria-label")
        is_for_looks = attributes.get("aria-hidden") == "true" or attributes.get("role") in ("presentation", "none")
        found[node.mem_id] = "" if is_for_looks else written or ""
    return found


def _follow(sheet: str, tree: LexborHTMLParser, hidden: set[int]) -> None:
    """Follow the rules of a style sheet in their order; not those for printers or narrow screens."""
    for selector, style in _RULE.findall(_without_conditions(_COMMENT.sub("", sheet)))[:_MAX_RULES]:
        hides, shows = _HIDING.search(style), _SHOWING.search(style)
        if not (hides or shows) or not _PLAIN_SELECTOR.fullmatch(selector.replace(",", " ")):
            continue
        try:
            found = {node.mem_id for node in tree.css(selector.strip())}
        except (SelectolaxError, ValueError):
            continue
        hidden |= found if hides else set()
        hidden -= found if shows and not hides else set()


def _without_conditions(sheet: str) -> str:
    """Return a style sheet without blocks such as `@media print { … }`."""
    kept, depth, begin = [], 0, 0
    for match in re.finditer(r"@[\w-]+[^{};]*\{|[{}]", sheet):
        if match[0].startswith("@"):
            if not depth:
                kept.append(sheet[begin : match.start()])
            depth += 1
        elif depth:
            depth += 1 if match[0] == "{" else -1
            begin = match.end()
    return "".join((*kept, sheet[begin:] if not depth else ""))


def shown_words(node: LexborNode) -> str | None:
    """Return the words that a field of a form, a drawing or a formula shows; None if `node` is none of them."""
    attributes = node.attributes if node.tag == "input" else {}
    kind = (attributes.get("type") or "text").lower()
    match node.tag:
        case "input" if kind in _TICKS:
            return "[x]" if "checked" in attributes else ""
        case "input":
            return (attributes.get("value") or "") if kind in _TYPED else ""
        case "textarea":
            return node.text()
        case "select":
            chosen = node.css("option[selected]") or node.css("option")[: "multiple" not in node.attributes]
            return "; ".join(option.text(strip=True) for option in chosen)
        case "svg":
            return " ".join(text.text(separator=" ", strip=True) for text in node.css("text"))
        case "math":
            return _formula(node)
    return None


def _formula(root: LexborNode) -> str:
    """Return a formula on one line. Not recursive: hostile pages nest 100,000 levels deep."""
    line, node = MathLine(), root
    while True:
        if node.tag == "-text":
            line.characters(node.text_content or "")
        elif not (node.tag or "-").startswith("-"):
            line.start(node.tag or "", node.attributes)
            if node.child is not None:
                node = node.child
                continue
            line.end()
        while node.mem_id != root.mem_id and node.next is None and node.parent is not None:
            node = node.parent
            line.end()
        if node.mem_id == root.mem_id or node.next is None:
            return line.text
        node = node.next


class ListNumbers:
    """The numbers of a list's items."""

    def __init__(self, node: LexborNode) -> None:
        attributes = node.attributes
        self._format = _NUMERALS.get(attributes.get("type") or "", "decimal")
        self._step = -1 if "reversed" in attributes else 1
        n_items = sum(child.tag == "li" for child in node.iter()) if self._step < 0 else 1
        self._next = _integer(attributes.get("start"), n_items)

    def next_label(self, item: LexborNode) -> str:
        """Return the label of the next item."""
        own = _integer(item.attributes.get("value"), self._next) if "value" in item.attributes else self._next
        self._next = own + self._step
        return f"{numeral(own, self._format)}."


def _integer(text: str | None, default: int) -> int:
    try:
        return max(min(int(text or ""), 1_000_000), -1_000_000)
    except ValueError:
        return default


@dataclass(slots=True)
class _Span:
    text: str
    n_columns: int
    n_rows: int
    """Rows below that it covers."""


class Rows:
    """Makes a line of each row of a table of values. Tables that lay out a page stay as they are."""

    def __init__(self, text_of: Callable[[LexborNode], str], hidden: Container[int]) -> None:
        """`hidden`: the ids of elements that the page does not show."""
        self._text_of = text_of
        self._hidden = hidden
        self._spans: dict[int, _Span] = {}
        self._head = TableHead()

    def begin_table(self) -> None:
        """A table begins."""
        self._spans = {}
        self._head = TableHead()

    def line_of(self, row: LexborNode) -> str | None:
        """Return the row as a line, at times below the names of the columns; None if it only lays out the page."""
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th") and cell.mem_id not in self._hidden]
        if len(cells) + len(self._spans) < 2 or row.css_first(_LAYOUT) is not None:
            return None
        texts = [self._text_of(cell) for cell in cells]
        if sum(map(len, texts)) > _MAX_ROW_CHARACTERS:
            return None
        placed = self._with_spans(cells, texts)
        is_head = all(cell.tag == "th" for cell in cells)
        return "\n".join(self._head.lines(list(placed.values()), list(placed), is_head))

    def _with_spans(self, cells: list[LexborNode], texts: list[str]) -> dict[int, str]:
        """Return the texts of a row by their first column, with those of cells that reach down from above."""
        placed: dict[int, str] = {}
        column = 0
        for cell, text in zip(cells, texts, strict=True):
            column = self._take(column, placed)
            width = min(max(_integer(cell.attributes.get("colspan"), 1), 1), _MAX_SPAN)
            if (n_rows := min(_integer(cell.attributes.get("rowspan"), 1), _MAX_SPAN)) > 1:
                self._spans[column] = _Span(text, width, n_rows - 1)
            placed[column] = text
            column += width
        self._take(column, placed)
        return placed

    def _take(self, column: int, placed: dict[int, str]) -> int:
        """Add the cells from above that stand at `column` and behind it; return the next free column."""
        while (span := self._spans.get(column)) is not None and span.n_rows > 0:
            placed[column] = span.text
            span.n_rows -= 1
            if not span.n_rows:
                del self._spans[column]
            column += span.n_columns
        return column
