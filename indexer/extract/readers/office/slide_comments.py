"""Reads the comments on slides, old and new, and the names of their authors."""

from collections.abc import Mapping


class Authors:
    """The names of those who commented, by id."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name in ("cmAuthor", "author"):
            self.names[attributes.get("id", "")] = attributes.get("name", "")

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """The file has no text."""


class Comments:
    """The comments on a slide, old and new; a line each."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.lines: list[str] = []
        self._names = names
        self._open: list[str] = []
        self._words: list[str] = []
        self._is_text = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name in ("cm", "reply"):
            self._flush()
            author = self._names.get(attributes.get("authorId", ""), "")
            day = (attributes.get("dt") or attributes.get("created") or "").partition("T")[0]
            self._open.append("Comment" + (f" by {author}" if author else "") + (f", {day}" if day else ""))
        elif name in ("t", "text"):
            self._is_text = True

    def end(self, name: str) -> None:
        """An element ends."""
        if name in ("t", "text"):
            self._is_text = False
        elif name in ("p", "br"):
            self._words.append(" ")
        elif name in ("cm", "reply") and self._open:
            self._flush()
            self._open.pop()

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._is_text:
            self._words.append(text)

    def _flush(self) -> None:
        words, self._words = " ".join("".join(self._words).split()), []
        if words and self._open:
            self.lines.append(f"{self._open[-1]}: {words}")
