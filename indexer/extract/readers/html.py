"""Extract the text of HTML as a person reads it: no scripts, styles or navigation; a line per block; headings.

selectolax (lexbor) parses the page as it was saved, without anything that a script would have added.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_characters, unwrapped
from longsearch.indexer.extract.readers.decoding import decode_html, read_bytes
from longsearch.indexer.extract.readers.html_metadata import metadata_of
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.xml_text import with_closing_tags
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_DROPPED_NAMES = """
head script style nav noscript template svg iframe object canvas button select textarea audio video rp rt rtc -comment
"""
_BLOCK_NAMES = """
address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5
h6 header hr html li main ol p pre section summary table tbody tfoot thead title tr ul
"""
_DROPPED = frozenset(_DROPPED_NAMES.split())
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TIGHT = frozenset({"li", "tr", "dt", "dd"})
_CELLS = frozenset({"td", "th"})
_RUN_OF_SPACE = re.compile(r"\s+")


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    source = decode_html(read_bytes(path))
    return parse(with_closing_tags(source) if source.startswith("<?xml") else source)


def parse(source: str, title: str = "") -> FileText:
    """Return the text of HTML `source`. `title`, unless "", replaces its own title. Raises `ExtractionError`."""
    try:
        tree = LexborHTMLParser(clean_characters(source))
    except SelectolaxError as error:
        # HTML5 defines a tree for any input, so parsing fails only for lack of memory: 20 MB of dense markup need 1 GB.
        raise ExtractionError("too much markup to parse in 1 GB of memory", "save it as text, or split it") from error
    metadata = metadata_of(tree)
    builder = _Builder()
    if tree.body is not None:
        builder.walk(tree.body)
    own_title = next((text for field, text, _ in metadata if field == "title"), "")
    return builder.text.file_text(title or own_title, metadata)


class _Builder:
    """Collects the words of the open block. A block ends where another block begins or where its element ends."""

    def __init__(self) -> None:
        self.text = TextBuilder()
        self._words: list[str] = []
        self._pre_depth = 0
        self._tight = False
        self._marker = ""

    def walk(self, root: LexborNode) -> None:
        """Visit every node under `root` in document order. Not recursive: hostile pages nest 100,000 levels deep."""
        node: LexborNode | None = root
        while node is not None:
            child = None if node.tag in _DROPPED else node.child
            self._enter(node)
            if child is not None:
                node = child
                continue
            while node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    node = None
                elif node.next is not None:
                    node = node.next
                    break
                else:
                    node = node.parent
        self._close_block("")

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._words.append(self._spaced(node.text_content or ""))
        elif tag == "br":
            self._words.append("\n")
        elif tag in _BLOCKS:
            self._close_block("")
            self._tight = tag in _TIGHT
            self._marker = "- " if tag == "li" else self._marker
            self._pre_depth += tag == "pre"

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
            self._close_block(tag)
            self._pre_depth -= tag == "pre"
            self._marker = "" if tag == "li" else self._marker
        elif tag in _CELLS and node.next is not None:
            self._words.append(" | ")

    def _close_block(self, tag: str) -> None:
        words, self._words = "".join(self._words), []
        if tag in _HEADINGS:
            self.text.add_heading(_HEADINGS[tag], words)
        elif words.strip(" |\n"):
            self.text.add(self._marker + words.strip(), self._tight or bool(self._marker))
            self._marker = ""
