"""Which files are read, by the suffix of their name. Knows nothing of what is inside them."""

import os
from enum import StrEnum
from pathlib import PurePath


class Format(StrEnum):
    """How a file's bytes are to be understood."""

    PDF = "pdf"
    MARKDOWN = "markdown"
    HTML = "html"
    PLAIN = "plain"


# reStructuredText, Org and TeX are read as plain text: their markup is light enough to be read past.
FORMAT_OF_SUFFIX = {
    ".pdf": Format.PDF,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".txt": Format.PLAIN,
    ".text": Format.PLAIN,
    ".rst": Format.PLAIN,
    ".org": Format.PLAIN,
    ".tex": Format.PLAIN,
}


def format_of(name: bytes | str) -> Format | None:
    """The format of a file called `name` (a path will do), or None where it is not read."""
    return FORMAT_OF_SUFFIX.get(PurePath(os.fsdecode(name)).suffix.lower())


def is_readable(name: bytes | str) -> bool:
    """Whether a file called `name` is one that longsearch reads."""
    return format_of(name) is not None
