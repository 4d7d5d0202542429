"""Extract the text of HTML as a person reads it: no scripts, styles or navigation; a line per block; headings.

selectolax (lexbor) parses the page as it was saved, without anything that a script would have added. What the page
hides is left out, items of numbered lists have their numbers, and a row of a table is a line.
"""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_characters, unwrapped, whole_line
from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.decoding import decode_html, read_bytes
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.html_looks import ListNumbers, Rows, described_nodes, hidden_nodes, shown_words
from longsearch.indexer.extract.readers.html_metadata import metadata_of
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_text import with_closing_tags
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_DROPPED_NAMES = """
head script style nav noscript template iframe object canvas button audio video datalist rp rt rtc annotation
annotation-xml -comment
"""
_BLOCK_NAMES = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main marquee menu ol optgroup p pre search section summary table
tbody tfoot thead title tr ul
"""
_DROPPED = frozenset(_DROPPED_NAMES.split())
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TIGHT = frozenset({"li", "tr", "dt", "dd"})
_CELLS = frozenset({"td", "th"})
_SHADOW = re.compile(r"<template\s(?=[^>]*\bshadowroot(?:mode)?\s*=)[^>]*>", re.IGNORECASE)
"""A template that a browser shows: the inside of an element of the page's own, as saved pages hold it."""
MAX_FRAMES = 4
"""Frames within frames that are read. A page with long cells around each is read twice as often with each more."""
_RUN_OF_SPACE = re.compile(r"\s+")
_MARK_OF_NOTE = re.compile(r"[\[(]?(?:\d{1,3}|[a-z]|[ivx]{2,5}|[*†‡§]{1,3})[\])]?")


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    source = decode_html(read_bytes(path))
    return parse(with_closing_tags(source) if source.startswith("<?xml") else source)


def read_bare(path: Source) -> FileText:
    """Return what stands between the marks of a page that is too deep or too odd for its parser."""
    source = clean_characters(decode_html(read_bytes(path)))
    small, kept, place = source.lower(), [], 0
    while (mark := source.find("<", place)) >= 0:
        if words := source[place:mark].strip():
            kept.append(words)
        end = source.find(">", mark)
        name = next((name for name in ("script", "style") if small.startswith(name, mark + 1)), "")
        end = small.find(f"</{name}", end) if name and end >= 0 else end
        place = end + 1 - bool(name) if end >= 0 else len(source)
    builder = TextBuilder()
    builder.add(unescape(" ".join((*kept, source[place:]))))
    return builder.file_text(warning="too deep or too odd for its parser: read without its marks")


def parse(source: str, title: str = "") -> FileText:
    """Return the text of HTML `source`. `title`, unless "", replaces its own title. Raises `ExtractionError`."""
    tree = _tree(source)
    metadata = metadata_of(tree)
    builder = _Builder(_looks(tree))
    if tree.body is not None:
        builder.walk(tree.body)
    own_title = next((text for field, text, _ in metadata if field == "title"), "")
    return builder.text.file_text(title or own_title, metadata)


@dataclass(frozen=True, slots=True)
class _Looks:
    """What is known of a page's elements before its text is read."""

    hidden: Container[int]
    """The ids of elements that the page does not show."""
    notes: Container[str]
    """As `_notes` has them."""
    described: Mapping[int, str]
    """The ids of pictures -> what is written of each."""


def _looks(tree: LexborHTMLParser) -> _Looks:
    return _Looks(hidden_nodes(tree), _notes(tree), described_nodes(tree))


def _tree(source: str) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(_SHADOW.sub("<div>", clean_characters(source)))
    except SelectolaxError as error:
        # HTML5 defines a tree for any input, so parsing fails only for lack of memory: 20 MB of dense markup need 1 GB.
        raise ExtractionError("too much markup to parse in 1 GB of memory", "save it as text, or split it") from error


class _Builder:
    """Collects the words of the open block. A block ends where another block begins or where its element ends."""

    def __init__(self, looks: _Looks, outer: "_Builder | None" = None, n_frames: int = 0) -> None:
        """`outer`: the builder of the page in a cell of which this text stands. `n_frames`: the frames around it."""
        self.text = TextBuilder()
        self._looks = looks
        self._hidden, self._notes = looks.hidden, looks.notes
        self._is_cell = outer is not None
        self._descriptions: Descriptions = outer._descriptions if outer else Descriptions()
        self._pictures: list[str] = outer._pictures if outer else []
        self._n_frames = n_frames
        self._lists: list[ListNumbers | None] = []
        self._rows = Rows(self._text_of, looks.hidden)
        self._words: list[str] = []
        self._pre_depth = self._quote_depth = self._figure_depth = 0
        self._tight = False
        self._marker = ""

    def walk(self, root: LexborNode) -> None:
        """Visit every node under `root` in document order. Not recursive: hostile pages nest 100,000 levels deep."""
        node: LexborNode | None = root
        while node is not None:
            is_whole = self._skips(node)
            if not is_whole:
                self._enter(node)
                if node.child is not None:
                    node = node.child
                    continue
            while node is not None:
                if not is_whole:
                    self._leave(node)
                is_whole = False
                if node.mem_id == root.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
        self._close_block("")

    def _skips(self, node: LexborNode) -> bool:
        """Return whether `node` is not shown, or is added as a whole: a field, a frame, the row of a table."""
        if node.mem_id in self._hidden:
            return True
        if (written := self._looks.described.get(node.mem_id)) is not None:
            self._pictures.append(written)
            if node.tag == "img":
                return True
        if node.tag in _DROPPED:
            if node.tag == "iframe" and self._n_frames < MAX_FRAMES:
                self._add_frame(node.attributes)
            return True
        if self._notes and node.tag == "a" and (mark := self._mark_of(node)):
            self._words.append(mark)
            return True
        if (words := shown_words(node)) is not None:
            self._words.append(self._spaced(f" {words} ") if words else "")
            return True
        if node.tag != "tr":
            return False
        self._close_block("")
        line = self._rows.line_of(node)
        if line is None:
            return False
        self.text.add(line, tight=True)
        self._add_pictures(line)
        return True

    def _add_frame(self, attributes: Mapping[str, str | None]) -> None:
        """Add the page that an attribute of a frame holds, in place."""
        source = attributes.get("srcdoc")
        if not source or "0" in (attributes.get("width"), attributes.get("height")):
            return
        tree = _tree(source)
        self._close_block("")
        inner = _Builder(_looks(tree), n_frames=self._n_frames + 1)
        inner.text, inner._descriptions = self.text, self._descriptions
        if tree.body is not None:
            inner.walk(tree.body)

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._words.append(self._spaced(node.text_content or ""))
        elif tag == "br":
            self._words.append("\n")
        elif tag == "q":
            self._words.append("“")
        elif tag == "a" and draft.is_read:
            self._words.append(draft.link_begin(node.attributes.get("href")))
        elif tag in _BLOCKS:
            self._begin_block(tag, node)
        if self._notes and (name := _name_of(node)) in self._notes:
            self._begin_note(name, tag)

    def _begin_block(self, tag: str, node: LexborNode) -> None:
        self._close_block("")
        self._tight = tag in _TIGHT
        self._pre_depth += tag == "pre"
        self._quote_depth += tag == "blockquote"
        self._figure_depth += tag == "figure"  # its caption may say the same as its picture
        if tag == "blockquote" and (source := _source_of(node)):
            self._marker = f"{source} "
        if tag == "li":
            numbers = self._lists[-1] if self._lists else None
            self._marker = f"{numbers.next_label(node)} " if numbers else "- "
        elif tag in ("ol", "ul", "menu"):
            self._lists.append(ListNumbers(node) if tag == "ol" else None)
        elif tag == "table":
            self._rows.begin_table()

    def _mark_of(self, node: LexborNode) -> str:
        """Return a draft's mark for a link whose words are the number of a note; "" for other links."""
        target = (node.attributes.get("href") or "")[1:]
        if target not in self._notes or not _MARK_OF_NOTE.fullmatch(node.text().strip()):
            return ""
        own = _name_of(node)
        is_note = own in self._notes and not "".join(self._words).strip()
        return f"{draft.note_mark(own)}: " if is_note else draft.note_mark(target)

    def _begin_note(self, name: str, tag: str) -> None:
        """Begin a note of a draft, unless words of its line stand before it: then its number is meant."""
        mark = f"{draft.note_mark(name)}: "
        if tag in _BLOCKS:
            self._marker = mark
        elif not "".join(self._words).strip():
            self._words.append(mark)

    def _text_of(self, cell: LexborNode) -> str:
        """Return the text of a cell on one line."""
        inner = _Builder(self._looks, self, self._n_frames)
        inner.walk(cell)
        return whole_line(inner.text.file_text().text).removesuffix(" |")

    def _spaced(self, text: str) -> str:
        """Return `text` with its white space as a browser shows it."""
        if self._pre_depth:
            return text
        text = _RUN_OF_SPACE.sub(" ", unwrapped(text))
        after_space = not self._words or self._words[-1][-1:].isspace()
        return text.lstrip() if after_space else text

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _BLOCKS:
            self._figure_depth -= tag == "figure"
            self._close_block(tag)
            self._pre_depth -= tag == "pre"
            self._quote_depth -= tag == "blockquote"
            self._marker = "" if tag == "li" else self._marker
            if tag in ("ol", "ul", "menu") and self._lists:
                self._lists.pop()
        elif tag == "q":
            self._words.append("”" + _source_of(node))
        elif tag == "a" and draft.is_read:
            self._words.append(draft.link_end(node.attributes.get("href")))
        elif tag in _CELLS and node.next is not None:
            self._words.append(" | ")

    def _close_block(self, tag: str) -> None:
        words, self._words = "".join(self._words), []
        if tag in _HEADINGS:
            self.text.add_heading(_HEADINGS[tag], words)
        elif words.strip(" |\n"):
            self.text.add(self._marker + words.strip(), self._tight or bool(self._marker), self._quote_depth > 0)
            self._marker = ""
        if self._pictures and not self._is_cell and (words.strip() or not self._figure_depth):
            self._add_pictures(words)

    def _add_pictures(self, words: str) -> None:
        """Let what is written of pictures follow the block in which they stand, unless its `words` say the same."""
        pictures, self._pictures[:] = self._pictures[:], []
        for written in pictures:
            if whole_line(written) not in whole_line(words):
                self.text.add(self._descriptions.line(written))


def _notes(tree: LexborHTMLParser) -> frozenset[str]:
    """Return the names of what the numbers of notes in a draft lead to; none if no draft is read."""
    numbers = tree.css("a[href^='#']") if draft.is_read else []
    numbers = [node for node in numbers if _MARK_OF_NOTE.fullmatch(node.text().strip())]
    return frozenset((node.attributes.get("href") or "")[1:] for node in numbers)


def _name_of(node: LexborNode) -> str:
    return node.attributes.get("id") or node.attributes.get("name") or ""


def _source_of(node: LexborNode) -> str:
    """Return the source that a quotation of a draft names in an attribute, as a link without words; "" if none."""
    source = node.attributes.get("cite") if draft.is_read else None
    return draft.link_begin(source) + draft.link_end(source)
