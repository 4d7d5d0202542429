"""Extract the text of Markdown as a person reads it: no marks or link targets, but code; headings with their offsets.

markdown-it-py parses CommonMark and tables. Front matter gives the title and lines for author, tags and the like. Marks
of other dialects (footnotes, mathematics) stay as written; a wiki link is reduced to its words.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from longsearch.indexer.extract.clean import clean_characters, unwrapped
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.front_matter import split_front_matter
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.table_head import CELL_SEPARATOR
from longsearch.indexer.extract.wire.protocol import FileText

_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]{1,300}\|)?([^\[\]|]{1,300})\]\]")
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
_HIDING = re.compile(r"<[^<>]*(?:\bhidden\b|display\s*:\s*none)", re.IGNORECASE)
_MOST_LEVELS = 100
"""How deep the parser goes; a list in a list takes two. Outlines go deeper than the 20 of its own."""
_IMAGE = re.compile(r"<img\b[^<>]*?\salt\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_SPACES = re.compile(" {2,}")
_HARD_BREAK = "\r"  # no other return is left in the source


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """Return the text of Markdown `source`. Raises ValueError if it is nested too deeply."""
    # "linkify" and typography are off: the text is stored as its author typed it.
    parser = MarkdownIt("commonmark", {"maxNesting": _MOST_LEVELS}).enable("table")
    front = split_front_matter(clean_characters(source))
    builder = _Builder()
    for block in front.blocks:
        builder.text.add(block, tight=True)
    for token in parser.parse(front.body):
        if token.level >= _MOST_LEVELS - 1:
            raise ValueError("nested so deeply that the parser leaves out what lies below")
        builder.take(token)
    return builder.text.file_text(front.title, front.metadata)


class _Builder:
    """Turns the flat token list of markdown-it into blocks."""

    def __init__(self) -> None:
        self.text = TextBuilder()
        self._heading_level = 0
        self._marker = ""
        self._cells: list[str] | None = None
        self._descriptions = Descriptions()
        self._pictures: list[str] = []

    def take(self, token: Token) -> None:
        """Add the text of `token`, or note where a heading, an item or a row begins and ends."""
        match token.type:
            case "heading_open":
                self._heading_level = int(token.tag[1:])
            case "heading_close":
                self._heading_level = 0
            case "list_item_open":
                self._marker = f"{token.info}{token.markup} " if token.info else "- "
            case "list_item_close":
                self._marker = ""
            case "tr_open":
                self._cells = []
            case "tr_close":
                row, self._cells = CELL_SEPARATOR.join(self._cells or ()), None
                self.text.add(row, tight=True)
                self._add_pictures()
            case _:
                self._take_words(token)

    def _take_words(self, token: Token) -> None:
        match token.type:
            case "inline":
                words, images = inline_text(token.children or ()), images_in(token.children or ())
                words = _SPACES.sub(" ", words).strip() if images else words
                self._pictures += [image for image in images if image not in words]
                self._add(words)
            case "fence" | "code_block":
                self.text.add(token.content)
            case "html_block":
                hides = _HIDING.search(token.content)
                self._pictures += [] if hides else images_of_html(token.content)
                self._add(html.parse(token.content).text if hides else _TAG.sub(" ", token.content))

    def _add(self, block: str) -> None:
        if self._heading_level:
            self.text.add_heading(self._heading_level, block)
        elif self._cells is not None:
            self._cells.append(block)
        else:
            self.text.add(self._marker + block if block else "", tight=bool(self._marker))
            self._marker = "" if block else self._marker
        if self._cells is None:
            self._add_pictures()

    def _add_pictures(self) -> None:
        """Let what is written of pictures follow the block in which they stand."""
        pictures, self._pictures = self._pictures, []
        for picture in pictures:
            self.text.add(self._descriptions.line(picture))


def inline_text(tokens: Sequence[Token]) -> str:
    """Return the words of a block's `tokens`."""
    return unwrapped("".join(_inline_parts(tokens))).replace(_HARD_BREAK, "\n")


def images_in(tokens: Sequence[Token]) -> list[str]:
    """Return what is written of the pictures in a block."""
    written = (
        [inline_text(token.children or ())] if token.type == "image" else images_of_html(token.content)
        for token in tokens
        if token.type in ("image", "html_inline")
    )
    return [text for texts in written for text in texts]


def images_of_html(source: str) -> list[str]:
    """Return what is written of the pictures in a piece of HTML."""
    return [unescape(found[1] or found[2] or "") for found in _IMAGE.finditer(source)]


def _inline_parts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text":
                yield _WIKI_LINK.sub(r"\1", token.content)
            case "code_inline":
                yield token.content
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield _HARD_BREAK
