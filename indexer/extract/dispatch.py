"""Calls the reader of a format. Loads its module, and the libraries behind it, when the first such file arrives."""

from collections.abc import Callable
from importlib import import_module

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import LIGHT_MARKUP, Format
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_READERS = "longsearch.indexer.extract.readers"
_MODULES = {
    Format.MARKDOWN: "markdown",
    Format.HTML: "html",
    Format.HTML_BARE: "html:read_bare",
    Format.DOCX: "office.word.document",
    Format.EPUB: "epub",
    Format.ORG: "org",
    Format.RST: "rst",
    Format.TEX: "tex",
    Format.PLAIN: "plain",
    Format.SLIDES: "office.slides",
    Format.OLD_OFFICE: "office.converted",
    Format.OPEN_DOCUMENT: "office.odf",
    Format.SHEETS: "office.sheets",
    Format.CSV: "office.delimited",
    Format.RTF: "office.rtf",
    Format.NOTEBOOK: "office.notebook",
    Format.FB2: "books.fb2",
    Format.DJVU: "books.converted:read_djvu",
    Format.MOBI: "books.converted:read_mobi",
    Format.MAIL: "mail.eml",
    Format.MAILBOX: "mail.mbox",
    Format.CALENDAR: "calendar",
    Format.CONTACTS: "contacts",
    Format.SUBTITLES: "subtitles",
    Format.MHTML: "mhtml",
    Format.ARCHIVE: "packed",
    Format.TNEF: "mail.outlook:read_tnef",
    Format.MSG: "mail.outlook:read_msg",
}
"""The function that reads each format except PDF: its module's `read`, or the name after a colon.

It takes a `Source` and returns a `FileText`."""


def read_text(source: Source, file_format: Format) -> FileText:
    """Read a file that is not a PDF; as plain text if the parser of its light markup fails.

    Raises `ExtractionError`, and `OSError` if the file cannot be opened.
    """
    read = function_for(file_format)
    try:
        return read(source)
    except (MemoryError, ExtractionError, OSError):
        raise
    except Exception as error:  # a parser raises exceptions of nearly any class
        if file_format not in LIGHT_MARKUP:
            raise ExtractionError("damaged, or too deeply nested to be read", "save a copy as plain text") from error
    return read_text(source, Format.PLAIN)


def function_for(file_format: Format) -> Callable[[Source], FileText]:
    """Import the module of `file_format` and return its function."""
    module, _, name = _MODULES[file_format].partition(":")
    read: Callable[[Source], FileText] = getattr(import_module(f"{_READERS}.{module}"), name or "read")
    return read
