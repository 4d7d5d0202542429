"""Read DjVu and MOBI with programs that a person has installed: no library with a permissive licence reads them.

mobitool (libmobi) and calibre's ebook-convert make an EPUB of a MOBI; its chapters, title and authors are then read as
those of any other EPUB.
"""

import shutil
from pathlib import Path

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers import epub, plain
from longsearch.indexer.extract.readers.decoding import decode
from longsearch.indexer.extract.sources import Held, Source
from longsearch.indexer.extract.tools import FOLDER, PATH, text_from
from longsearch.indexer.extract.wire.protocol import FileText

_DJVU = ("djvutxt", PATH)
_DJVU_HINT = "install it: apt install djvulibre-bin, dnf install djvulibre, or brew install djvulibre"
_TO_EPUB = (("mobitool", "-e", "-o", FOLDER, PATH), ("ebook-convert", PATH, f"{FOLDER}/book.epub"))
"""The commands that make an EPUB of a MOBI; mobitool needs a fiftieth of calibre's time to start."""
_MOBI_HINT = "install one: apt install libmobi-tools, or calibre"


def read_djvu(path: Source) -> FileText:
    """Return the text layer of a DjVu file, page by page. Raises `ExtractionError`."""
    if shutil.which(_DJVU[0]) is None:
        raise ExtractionError("DjVu needs djvutxt, which is not installed", _DJVU_HINT)
    text = plain.parse(decode(text_from(_DJVU, _path_of(path))))
    if not text.text:
        raise ExtractionError("no text in it: DjVu without a text layer, or damaged", "add one with ocrodjvu")
    return text


def read_mobi(path: Source) -> FileText:
    """Return the text of a MOBI or AZW3. Raises `ExtractionError`."""
    command = next((command for command in _TO_EPUB if shutil.which(command[0])), None)
    if command is None:
        raise ExtractionError("MOBI needs mobitool or ebook-convert, neither of which is installed", _MOBI_HINT)
    book = text_from(command, _path_of(path), "*.epub")
    if not book:
        raise ExtractionError(f"{command[0]} found no book in it", "protected by DRM, or damaged?")
    return epub.read(Held("book.epub", book))


def _path_of(source: Source) -> str:
    """Return the path of a file. An attachment in memory has none, because the child may write no file."""
    if not isinstance(source, Path):
        raise ExtractionError("is not read as an attachment", "save it in a folder that is indexed")
    return str(source)
