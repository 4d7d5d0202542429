"""Reads files of Word, PowerPoint and Excel from before 2007 through LibreOffice, if it is installed.

No library with a permissive licence reads the text of these formats whole. LibreOffice makes files of the newer formats
of them, which their own readers then read. A file that is called so and is RTF, a web page or a newer file is read as
what it is.
"""

import shutil
from pathlib import Path, PurePath

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers import html
from longsearch.indexer.extract.readers.office import rtf, slides
from longsearch.indexer.extract.readers.office.word import document
from longsearch.indexer.extract.sources import Held, Source
from longsearch.indexer.extract.tools import FOLDER, OFFICE, PATH, text_from
from longsearch.indexer.extract.wire.protocol import FileText

_NEWER = {
    ".doc": "docx", ".dot": "docx", ".ppt": "pptx", ".pps": "pptx", ".pot": "pptx", ".xls": "xlsx", ".xlt": "xlsx",
}  # fmt: skip
_HINT = "install LibreOffice: apt install libreoffice, dnf install libreoffice, or brew install --cask libreoffice"
_OLE = b"\xd0\xcf\x11\xe0"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with path.open("rb") as file:
        head = file.read(1024).lstrip()
    if head.startswith(b"{\\rtf"):
        return rtf.read(path)
    if head[:200].lower().startswith((b"<!doctype html", b"<html")):
        return html.read(path)
    is_word = _NEWER[PurePath(path.name).suffix.lower()] == "docx"
    read_newer = document.read if is_word else slides.read
    if head.startswith(b"PK"):
        return read_newer(path)
    if not head.startswith(_OLE):
        raise ExtractionError("not an office file: it does not begin like one", "give it the suffix of its real format")
    return read_newer(converted(path))


def is_installed() -> bool:
    """Return whether LibreOffice is there."""
    return any(map(shutil.which, OFFICE))


def converted(path: Source) -> Held:
    """Return the file in the newer format of its program. Raises `ExtractionError`."""
    program = next(filter(shutil.which, OFFICE), None)
    if program is None:
        raise ExtractionError("an office file from before 2007 needs LibreOffice, which is not installed", _HINT)
    if not isinstance(path, Path):  # an attachment in memory, because the child may write no file
        raise ExtractionError("is not read as an attachment", "save it in a folder that is indexed")
    suffix = _NEWER[path.suffix.lower()]
    profile = f"-env:UserInstallation=file://{FOLDER}/profile"
    options = ("--headless", "--norestore", "--convert-to", suffix, "--outdir", FOLDER, PATH)
    data = text_from((program, profile, *options), str(path), f"*.{suffix}")
    if not data:
        raise ExtractionError(f"{program} cannot read it", "encrypted, or damaged?")
    return Held(f"{path.stem}.{suffix}", data)
