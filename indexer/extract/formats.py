"""Decide by a file's suffix whether and how longsearch reads it. Opens no file."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePath

from longsearch.engine.errors import ExtractionError, TemporaryError
from longsearch.indexer.extract.wire.limits import MAX_MARKUP_BYTES


class Format(StrEnum):
    """The format of a file's bytes."""

    PDF = "pdf"
    MARKDOWN = "markdown"
    HTML = "html"
    HTML_BARE = "html without its marks"
    DOCX = "docx"
    EPUB = "epub"
    ORG = "org"
    RST = "rst"
    TEX = "tex"
    PLAIN = "plain"
    SLIDES = "slides"
    OPEN_DOCUMENT = "opendocument"
    SHEETS = "sheets"
    CSV = "csv"
    RTF = "rtf"
    NOTEBOOK = "notebook"
    FB2 = "fb2"
    DJVU = "djvu"
    MOBI = "mobi"
    OLD_OFFICE = "office before 2007"
    ADAPTED = "adapted"
    MAIL = "mail"
    MAILBOX = "mailbox"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    SUBTITLES = "subtitles"
    MHTML = "mhtml"
    ARCHIVE = "archive"
    TNEF = "tnef"
    MSG = "msg"


LIGHT_MARKUP = frozenset({Format.MARKDOWN, Format.ORG, Format.RST, Format.TEX})
"""Formats that are read as plain text if their parser fails: a reader can ignore their marks."""

HOLDS_FILES = frozenset(
    {Format.MAIL, Format.MAILBOX, Format.MSG, Format.TNEF, Format.ARCHIVE, Format.DOCX, Format.SHEETS, Format.SLIDES}
)
"""Formats, besides PDF, in which other files lie. If one of them ends the child, they are only named."""

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
    ".dotx": Format.DOCX,
    ".dotm": Format.DOCX,
    ".doc": Format.OLD_OFFICE,
    ".dot": Format.OLD_OFFICE,
    ".ppt": Format.OLD_OFFICE,
    ".pps": Format.OLD_OFFICE,
    ".pot": Format.OLD_OFFICE,
    ".epub": Format.EPUB,
    ".pptx": Format.SLIDES,
    ".pptm": Format.SLIDES,
    ".ppsx": Format.SLIDES,
    ".ppsm": Format.SLIDES,
    ".potx": Format.SLIDES,
    ".potm": Format.SLIDES,
    ".odt": Format.OPEN_DOCUMENT,
    ".odp": Format.OPEN_DOCUMENT,
    ".odg": Format.OPEN_DOCUMENT,
    ".ott": Format.OPEN_DOCUMENT,
    ".otp": Format.OPEN_DOCUMENT,
    ".otg": Format.OPEN_DOCUMENT,
    ".fodt": Format.OPEN_DOCUMENT,
    ".fodp": Format.OPEN_DOCUMENT,
    ".fodg": Format.OPEN_DOCUMENT,
    ".ods": Format.SHEETS,
    ".ots": Format.SHEETS,
    ".fods": Format.SHEETS,
    ".xlsx": Format.SHEETS,
    ".xlsm": Format.SHEETS,
    ".xltx": Format.SHEETS,
    ".xltm": Format.SHEETS,
    ".xlsb": Format.SHEETS,
    ".xls": Format.SHEETS,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".rtf": Format.RTF,
    ".ipynb": Format.NOTEBOOK,
    ".fb2": Format.FB2,
    ".djvu": Format.DJVU,
    ".djv": Format.DJVU,
    ".mobi": Format.MOBI,
    ".prc": Format.MOBI,
    ".azw": Format.MOBI,
    ".azw3": Format.MOBI,
    ".eml": Format.MAIL,
    ".emlx": Format.MAIL,
    ".mbox": Format.MAILBOX,
    ".mbx": Format.MAILBOX,
    ".ics": Format.CALENDAR,
    ".vcf": Format.CONTACTS,
    ".vcard": Format.CONTACTS,
    ".tnef": Format.TNEF,
    ".msg": Format.MSG,
    ".vtt": Format.SUBTITLES,
    ".srt": Format.SUBTITLES,
    ".mhtml": Format.MHTML,
    ".mht": Format.MHTML,
    ".zip": Format.ARCHIVE,
    ".tar": Format.ARCHIVE,
    ".tgz": Format.ARCHIVE,
    ".tbz": Format.ARCHIVE,
    ".tbz2": Format.ARCHIVE,
    ".txz": Format.ARCHIVE,
}
PACKED = (".gz", ".bz2", ".xz")
"""Suffixes of one packed file. The suffix before it is that of its format: `.tar.gz`, `.txt.xz`."""

_READER_VERSIONS = {
    Format.PDF: 3,
    Format.PLAIN: 1,
    Format.MARKDOWN: 3,
    Format.CSV: 1,
    Format.FB2: 2,
    Format.DOCX: 4,
    Format.SHEETS: 3,
    Format.SLIDES: 3,
    Format.OPEN_DOCUMENT: 3,
    Format.RTF: 3,
    Format.HTML: 3,
    Format.EPUB: 4,
    Format.TEX: 3,
    Format.ORG: 2,
    Format.RST: 3,
    Format.MAIL: 3,
    Format.MAILBOX: 3,
    Format.CALENDAR: 1,
    Format.NOTEBOOK: 1,
}
"""The version of each reader; 0 for those that are not here. Raise it when a reader finds more in the same bytes: files
that an earlier version read are then read again at the next sweep, and embedded again if their text has changed."""

_IN_MAILDIR = re.compile(r"(?:^|/)(?:cur|new)/\d{6,}\.[^/.]+\.[^/]+$|(?:^|/)\d{6,}\.[^/]+[:;!]2,[A-Za-z]*$")
"""A message of a Maildir: `cur/1588578000.M20046P2137.host:2,S`. It has no suffix that says so."""
_adapters: dict[str, tuple[str, ...]] = {}


def use_adapters(commands: Mapping[str, Sequence[str]]) -> None:
    """Read files of these suffixes (".xyz") with these commands from now on; see `extract.tools.text_from`.

    A person's own adapters go before the readers that longsearch has. To be called before folders are listed.
    """
    _adapters.clear()
    _adapters.update({suffix.lower(): tuple(command) for suffix, command in commands.items()})


def adapter_of(name: bytes | str) -> tuple[str, ...]:
    """Return the command that reads a file with this name; () if it has no adapter."""
    return _adapters.get(_suffix(name), ())


def format_of(name: bytes | str) -> Format | None:
    """Return the format of a file with this name or path, or None if longsearch does not read it."""
    suffix = _suffix(name)
    if suffix in _adapters:
        return Format.ADAPTED
    if suffix in PACKED:  # the suffix before it says what is packed
        return Format.ARCHIVE if is_readable(unpacked_name(os.fsdecode(name))) else None
    found = FORMAT_OF_SUFFIX.get(suffix)
    return Format.MAIL if found is None and _IN_MAILDIR.search(os.fsdecode(name)) else found


def unpacked_name(name: str) -> str:
    """Return a packed file's name before it was packed: notes.txt of notes.txt.gz."""
    return name[: -len(suffix)] if (suffix := _suffix(name)) in PACKED else name


def _suffix(name: bytes | str) -> str:
    return PurePath(os.fsdecode(name)).suffix.lower()


def reader_version(name: bytes | str) -> int:
    """Return the version of the reader of files with this name."""
    file_format = format_of(name)
    return _READER_VERSIONS.get(file_format, 0) if file_format else 0


def is_readable(name: bytes | str) -> bool:
    """Return whether longsearch reads a file with this name."""
    return format_of(name) is not None


def attempts(path: Path, file_format: Format) -> list[Format]:
    """Return the formats as which to read a file, until one of them does not end the child.

    Light markup that is too large or too hard to parse is read as plain text, a page without its marks. What holds
    other files is read again without them: the same format, a second time.
    """
    if file_format is Format.HTML:
        return [file_format, Format.HTML_BARE]
    if file_format in LIGHT_MARKUP:
        return [Format.PLAIN] if path.stat().st_size > MAX_MARKUP_BYTES else [file_format, Format.PLAIN]
    return [file_format] * (2 if file_format in HOLDS_FILES else 1)


def checked_format(path: Path) -> Format:
    """Return the format of the file at `path`. Raises `ExtractionError` if there is no need to open the file."""
    file_format = format_of(str(path))
    if file_format is None:
        raise ExtractionError("not a format that longsearch reads", f"it reads {' '.join(sorted(FORMAT_OF_SUFFIX))}")
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise ExtractionError("the file is gone") from error
    except OSError as error:
        raise TemporaryError(f"cannot be opened: {error.strerror}", "check that you may read it") from error
    if not stat.S_ISREG(status.st_mode):
        raise ExtractionError("not a regular file")  # reading a named pipe would wait for a writer
    if status.st_size == 0:
        raise ExtractionError("empty file")
    return file_format
