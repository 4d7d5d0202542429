"""Collects what people marked in a part of a Word document: comments, tracked changes, highlighted words."""

from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.wire.limits import MAX_MARK_CHARACTERS, MAX_MARKS
from longsearch.indexer.extract.wire.values import RawMark

_BEFORE_CHARACTERS = 60
_MAX_NAME_CHARACTERS = 120
_COLORS = {
    "yellow": "#ffff00", "green": "#00ff00", "cyan": "#00ffff", "magenta": "#ff00ff", "blue": "#0000ff",
    "red": "#ff0000", "darkBlue": "#000080", "darkCyan": "#008080", "darkGreen": "#008000",
    "darkMagenta": "#800080", "darkRed": "#800000", "darkYellow": "#808000", "darkGray": "#808080",
    "lightGray": "#c0c0c0", "black": "#000000",
}  # fmt: skip


class Marks:
    """Hears the text of a part as it is written, and of which marks it is a part."""

    def __init__(self) -> None:
        self.found: list[RawMark] = []
        self._tail = ""
        self._open: dict[str, tuple[str, list[str]]] = {}
        """A mark that goes on -> (what precedes it, its words)."""
        self._inserting: list[str] = []
        self._color = ""
        self._deleted: tuple[str, list[str]] | None = None

    def write(self, text: str) -> None:
        """Text is written."""
        is_lit = f"lit {self._color}"
        for key in [key for key in self._open if key.startswith("lit ") and key != is_lit]:
            self._close(key, "highlight", key.removeprefix("lit "))
        if self._color:
            self.begin(is_lit)
        for _, words in self._open.values():
            words.append(text)
        self._tail = (self._tail + text)[-_BEFORE_CHARACTERS:]

    def begin(self, key: str) -> None:
        """A mark begins, unless it goes on."""
        if len(self._open) < MAX_MARKS:
            self._open.setdefault(key, (self._tail, []))

    def comment(self, identity: str, note: str, author: str) -> None:
        """A comment is referred to; it is about the words since its range began."""
        self._close(f"comment {identity}", "comment", "", note, author)

    def insert(self, author: str) -> None:
        """Words that somebody inserted begin."""
        self._inserting.append(author)
        self.begin(f"insertion {len(self._inserting)}")

    def end_insert(self) -> None:
        """They end."""
        if self._inserting:
            self._close(f"insertion {len(self._inserting)}", "insertion", "", "", self._inserting.pop())

    def delete(self, author: str) -> None:
        """What `author` deleted begins. These words are not in the text."""
        self._deleted = (author, [])

    def deleted(self, text: str) -> None:
        """Some of these words."""
        if self._deleted is not None:
            self._deleted[1].append(text)

    def end_delete(self) -> None:
        """They end."""
        if self._deleted is not None:
            author, words = self._deleted
            self._add("deletion", "", "".join(words), self._tail, "", author)
            self._deleted = None

    def light(self, name: str) -> None:
        """The run that is open has this colour behind its words; "": none."""
        self._color = _COLORS.get(name, "")

    def close(self) -> list[RawMark]:
        """Return what was found; the part ends."""
        self._color = ""
        self.write("")
        return self.found

    def _close(self, key: str, kind: str, color: str, note: str = "", author: str = "") -> None:
        before, words = self._open.pop(key, (self._tail, []))
        self._add(kind, color, "".join(words), before, note, author)

    def _add(self, kind: str, color: str, words: str, before: str, note: str, author: str) -> None:
        if len(self.found) < MAX_MARKS and (words.strip() or note):
            shown = words.strip()[:MAX_MARK_CHARACTERS]
            author = one_line(author, _MAX_NAME_CHARACTERS)
            self.found.append((kind, color, shown, before, note[:MAX_MARK_CHARACTERS], author))
