"""Which files are read, by the suffix of their name. Knows nothing of what is inside them."""

import os
import stat
from enum import StrEnum
from pathlib import Path, PurePath

from engine.errors import ExtractionError, PassingError


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


def checked_format(path: Path) -> Format:
    """Return the format of the file at `path`. Raises `ExtractionError` if there is no need to open the file."""
    file_format = format_of(path.name)
    if file_format is None:
        raise ExtractionError("not a format that longsearch reads", f"it reads {' '.join(sorted(FORMAT_OF_SUFFIX))}")
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise ExtractionError("the file is gone") from error
    except OSError as error:
        raise PassingError(f"cannot be opened: {error.strerror}", "check that you may read it") from error
    if not stat.S_ISREG(status.st_mode):
        raise ExtractionError("not a regular file")  # reading a named pipe would wait for a writer
    if status.st_size == 0:
        raise ExtractionError("empty file")
    return file_format
