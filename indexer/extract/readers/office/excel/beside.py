"""Reads what lies beside the cells of a sheet: comments, replies, text boxes, the captions of old controls."""

import re
from collections.abc import Mapping

from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.office.excel.workbook import number
from longsearch.indexer.extract.readers.office.pictures import HiddenObjects

_THREAD_NOTE = re.compile(r"\[Threaded comment\].*?(?:Comment|Kommentar|Commentaire):\s*", re.DOTALL | re.IGNORECASE)


class Comments:
    """Takes the events of a list of comments, old or threaded. `lines` holds (cell, line) of each."""

    def __init__(self, persons: Mapping[str, str]) -> None:
        self.lines: list[tuple[str, str]] = []
        self._persons = persons
        self._authors: list[str] = []
        self._words: list[str] = []
        self._is_text = self._is_author = False
        self._attributes: Mapping[str, str] = {}
        self._n_skipped = 0
        self._is_threaded = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or name == "rPh":
            self._n_skipped += 1
            return
        match name:
            case "comment" | "threadedComment":
                self._attributes, self._words = attributes, []
                self._is_threaded = name == "threadedComment"
            case "t":
                self._is_text = True
            case "text" if self._is_threaded:
                self._is_text = True
            case "author":
                self._is_author, self._words = True, []

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
            return
        match name:
            case "t" | "text":
                self._is_text = False
            case "author":
                self._is_author = False
                self._authors.append("".join(self._words).strip())
            case "comment" | "threadedComment":
                self._add("".join(self._words))

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._is_text or self._is_author:
            self._words.append(text)

    def _add(self, text: str) -> None:
        if self._is_threaded:
            author = self._persons.get(self._attributes.get("personId", ""), "")
        else:
            place = number(self._attributes.get("authorId"), len(self._authors))
            author = self._authors[place] if place < len(self._authors) else ""
            author = "" if author.startswith("tc=") else author  # of a threaded comment, which has its own list
        words = " ".join(_THREAD_NOTE.sub("", text).split()).removeprefix(f"{author}: " if author else " ")
        day = self._attributes.get("dT", "").partition("T")[0]
        cell = self._attributes.get("ref", "")
        mark = f"Comment at {cell}" + (f" by {author}" if author else "") + (f", {day}" if day else "")
        if words:
            self.lines.append((cell, f"{mark}: {words}"))


class Captions:
    """Takes the events of an old drawing (VML). `lines` holds the text of its boxes, but not of comments."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._words: list[str] = []
        self._is_text = self._is_note = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name == "shape":
            self._words, self._is_note = [], False
        elif name == "textbox":
            self._is_text = True
        elif name == "ClientData":
            self._is_note = attributes.get("ObjectType") == "Note"
        elif name == "textpath":
            self._words.append(attributes.get("string", ""))

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "textbox":
            self._is_text = False
        elif name in ("div", "br", "p"):
            self._words.append(" ")
        elif name == "shape" and not self._is_note and (words := " ".join("".join(self._words).split())):
            self.lines.append(f"Text box: {words}")

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._is_text:
            self._words.append(text)


class Shapes:
    """Takes the events of a drawing. `lines` holds the text of its boxes, `linked` the ids of charts and diagrams."""

    def __init__(self, descriptions: Descriptions) -> None:
        """`descriptions`: those of the whole workbook."""
        self.pictures: list[str] = []
        """What people wrote of its pictures and shapes."""
        self._descriptions = descriptions
        self.lines: list[str] = []
        self.linked: list[str] = []
        self._paragraphs: list[str] = []
        self._words: list[str] = []
        self._is_text = False
        self._n_skipped = 0
        self._hidden = HiddenObjects()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or (name == "Fallback" and self._has_choice):
            self._n_skipped += 1
            return
        self._hidden.start(name, attributes)
        match name:
            case "t":
                self._is_text = True
            case "br":
                self._words.append(" ")
            case "cNvPr" if not self._hidden.are_around:
                line = self._descriptions.line(attributes.get("title"), attributes.get("descr"))
                self.pictures += [line] if line else []
            case "AlternateContent":
                self._n_before = len(self.lines) + len(self.linked)
            case "chart" if not self._hidden.are_around:
                self.linked.append(attributes.get("id", ""))
            case "relIds" if not self._hidden.are_around:
                self.linked.append(attributes.get("dm", ""))

    _n_before = 0

    @property
    def _has_choice(self) -> bool:
        return len(self.lines) + len(self.linked) > self._n_before

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
            return
        self._hidden.end(name)
        match name:
            case "t":
                self._is_text = False
            case "p":
                words, self._words = " ".join("".join(self._words).split()), []
                self._paragraphs += [words] if words else []
            case "txBody":
                lines, self._paragraphs = self._paragraphs, []
                self.lines += ["Text box: " + "\n".join(lines)] if lines else []

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._is_text and not self._n_skipped and not self._hidden.are_around:
            self._words.append(text)
