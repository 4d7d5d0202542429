"""Extract the text of Word documents through HTML: headings, lists, tables, footnotes, endnotes, accepted changes.

mammoth converts the meaning of styles, not their looks; only the meaning matters here. python-docx gives
paragraphs and tables but no lists, footnotes or tracked changes, and it needs lxml. mammoth gets a copy of the archive
that holds only the checked XML parts: none of them declares an entity, and no picture or link is followed.
"""

import io
import re
import zipfile
from dataclasses import replace

import mammoth

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers import html as html_text
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.office.properties import CORE, core_properties, title_in
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_KIND = "a Word document"
_PARTS = (".xml", ".rels")
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
"""
_CELL_OF_ONE = re.compile(r"<(t[dh])[^<>]*><p>((?:[^<]|<(?!/?(?:p|t[dh])\b))*)</p></\1>")
"""A table cell with one paragraph, as nearly all cells. If the paragraph stayed, its text would leave the row."""
_SOURCE = "Word properties"
_BACK_LINK = re.compile('<a href="#[^"]*">↑</a>')
"""The link back that mammoth puts after each note."""
_RUBY = re.compile(rb"</?w:ruby(?:Base)?(?:\s[^<>]*)?>")
"""The tags around a Japanese word with its reading. mammoth leaves out what it does not know: without these tags, the
reading (w:rt) alone."""
_DAMAGED_HINT = "open it in a word processor and save a copy"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with Archive(path, _KIND) as archive:
        # customXml holds a program's own data: the text never needs it, and it may be large.
        names = [name for name in archive.names if name.endswith(_PARTS) and not name.startswith("customXml/")]
        parts = {name: archive.read(name) or b"" for name in names}
    if "[Content_Types].xml" not in parts:
        raise ExtractionError("a zip archive, but not a Word document", "give it the suffix of its real format")
    if any(
        b"<!DOCTYPE" in data.replace(b"\0", b"") for data in parts.values()
    ):  # without NULs, so that UTF-16 is searched too
        raise ExtractionError("declares XML entities, as no Word document does", _DAMAGED_HINT)
    metadata = core_properties(parts.get(CORE, b""), _SOURCE)
    return replace(html_text.parse(_html(_stored(parts)), title=title_in(metadata)), metadata=metadata)


def _stored(parts: dict[str, bytes]) -> io.BytesIO:
    """Return an uncompressed zip archive of `parts`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, _RUBY.sub(b"", data))
    file.seek(0)
    return file


def _html(file: io.BytesIO) -> str:
    try:
        result = mammoth.convert_to_html(
            file,
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=lambda _: [],
            external_file_access=False,
        )
    except MemoryError:
        raise
    except Exception as error:  # broken XML raises exceptions of nearly any class
        raise ExtractionError("damaged, or not a Word document: no text can be found in it", _DAMAGED_HINT) from error
    return _BACK_LINK.sub("", _CELL_OF_ONE.sub(r"<\1>\2</\1>", str(result.value)))
