"""Read a form of Adobe's XML Forms Architecture: the words of its template, and the values in its data.

Such a PDF has a page that only asks to wait. Its packets are XML; only Adobe's programs draw the pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.pdf.annotations import TICK
from longsearch.indexer.extract.readers import xml_events
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS

_MAX_LINES = 20_000
_HIDDEN = frozenset({"hidden", "invisible"})


def lines_of(packets: Sequence[tuple[str, bytes]]) -> list[str]:
    """Return the form's words in their order, each field with its value; then the values that no field shows."""
    data = _Data()
    template = _Template(data.values)
    whole = b"".join(content for _, content in packets)
    named = {name: content for name, content in packets if content}
    for name, handler in (("datasets", data), ("template", template)):
        xml_events.parse(named.get(name, whole), handler)
    rest = [f"{name}: {value}" for name, values in data.values.items() for value in values]
    return [line for line in (*template.lines, *rest) if line][:_MAX_LINES]


@dataclass(slots=True)
class _Data:
    """Collects the leaves of the data that hold text, by their names."""

    values: dict[str, list[str]] = field(default_factory=dict)
    _depth: int = 0
    """0 outside of the data."""
    _names: list[str] = field(default_factory=list)
    _text: str = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._depth or name == "data":
            self._depth += 1
            self._names.append(name)
            self._text = ""

    def characters(self, text: str) -> None:
        if self._depth > 1 and len(self._text) < 100_000:
            self._text += text

    def end(self, name: str) -> None:
        if not self._depth:
            return
        self._depth -= 1
        leaf = self._names.pop()
        if text := one_line(self._text, 100_000):
            self.values.setdefault(leaf, []).append(text)
        self._text = ""


@dataclass(slots=True)
class _Template:
    """Collects the captions and the drawn words of the template, and takes the value of each field."""

    values: dict[str, list[str]]
    lines: list[str] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    """The names of the open fields and drawings."""
    _open: list[str] = field(default_factory=list)
    _text: str = ""
    _caption: str = ""
    _items: list[list[str]] = field(default_factory=list)
    """What a field offers: as it is shown, and as it is saved."""
    _n_items: int = 0
    """Open lists of what a field offers."""
    _is_saved: bool = False
    _is_box: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open.append("hidden" if attributes.get("presence") in _HIDDEN else name)
        if name in ("field", "draw", "exclGroup"):
            self._names.append(attributes.get("name", ""))
            self._text = self._caption = ""
            self._items, self._is_box = [], False
        elif name == "items":
            # what is saved comes second, whatever the order in the file
            self._n_items += 1
            self._is_saved = attributes.get("save") == "1"
            self._items.insert(len(self._items) if self._is_saved else 0, [])
        elif name == "checkButton":
            self._is_box = True

    def characters(self, text: str) -> None:
        is_shown = "text" in self._open[-3:] or "exData" in self._open
        if is_shown and ("draw" in self._open or "caption" in self._open) and "hidden" not in self._open:
            self._text += text
        elif self._n_items and self._items and not text.isspace():
            self._items[-1 if self._is_saved else 0].append(text.strip())

    def end(self, name: str) -> None:
        self._open.pop()
        self._n_items -= name == "items" and self._n_items > 0
        if name == "caption":
            self._caption, self._text = one_line(self._text, MAX_TITLE_CHARACTERS), ""
        elif name in ("p", "br"):
            self._text += " "
        elif name == "draw" and self._names:
            self.lines.append(one_line(self._text, 100_000))
            self._names.pop()
        elif name in ("field", "exclGroup") and self._names:
            self._end_field(self._names.pop())

    def _end_field(self, name: str) -> None:
        known = self.values.get(name)
        value = self._shown(known.pop(0) if known else "")
        label = self._caption or name
        if value or self._caption:
            self.lines.append(f"{label.rstrip(':')}: {value}" if value else label)
        self._caption = self._text = ""

    def _shown(self, value: str) -> str:
        """Return a value as the form shows it: the words of a choice, and a tick."""
        if self._is_box and self._items:
            return TICK if value and self._items[-1][:1] == [value] else ""
        shown, saved = self._items[0] if self._items else [], self._items[-1] if self._items else []
        return shown[saved.index(value)] if value in saved and saved.index(value) < len(shown) else value
