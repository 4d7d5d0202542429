"""Which files are read, by the suffix of their name. Knows nothing of what is inside them."""

import os
from enum import StrEnum
from pathlib import PurePath


class Format(StrEnum):
    """How a file's bytes are to be understood."""

    PDF = "pdf"
    MARKDOWN = "markdown"
    HTML = "html"
    DOCX = "docx"
    EPUB = "epub"
    ORG = "org"
    RST = "rst"
    TEX = "tex"
    PLAIN = "plain"


LIGHT_MARKUP = frozenset({Format.MARKDOWN, Format.ORG, Format.RST, Format.TEX})
"""Can be read as plain text where their parser fails: their marks are light enough to be read past."""

FORMAT_OF_SUFFIX = {
    ".pdf": Format.PDF,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".txt": Format.PLAIN,
    ".text": Format.PLAIN,
    ".rst": Format.RST,
    ".org": Format.ORG,
    ".tex": Format.TEX,
    ".docx": Format.DOCX,
    ".docm": Format.DOCX,
    ".epub": Format.EPUB,
}


def format_of(name: bytes | str) -> Format | None:
    """The format of a file called `name` (a path will do), or None where it is not read."""
    return FORMAT_OF_SUFFIX.get(PurePath(os.fsdecode(name)).suffix.lower())


def is_readable(name: bytes | str) -> bool:
    """Whether a file called `name` is one that longsearch reads."""
    return format_of(name) is not None
