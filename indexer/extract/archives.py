"""Zip archives that mean harm: members are read within bounds, or it is said why not. For DOCX and EPUB.

Knows neither format. Word and EPUB store their members deflated or as they are; anything else is refused, since
zipfile does not bound what the other decompressors return at once.
"""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from engine.errors import ExtractionError
from indexer.extract.limits import MAX_ARCHIVE_MEMBERS, MAX_COMPRESSION_RATIO, MAX_TEXT_FILE_BYTES

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLE_DIRECTORY_WITHIN = 1 << 20
"""Bytes at either end of an OLE file among which its directory is looked for."""
_SMALL_BYTES = 1_000_000
"""Below, a member may be as dense as it likes."""
_FETCH_AGAIN = "fetch it again, or open it in its program and save a copy"


class Archive:
    """An open zip archive. Raises `ExtractionError` where it is none, is encrypted or is a bomb."""

    def __init__(self, path: Path, kind: str) -> None:
        """`kind` names the format in what is said ("a Word document")."""
        self._kind = kind
        self._n_bytes_read = 0
        _check_head(path, kind)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise ExtractionError("damaged or cut off: it cannot be unpacked", _FETCH_AGAIN) from error
        self._members = {member.filename: member for member in self._zip.infolist()}
        if len(self._members) > MAX_ARCHIVE_MEMBERS:
            raise self._bomb(f"{len(self._members):,} files in it")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> Sequence[str]:
        """The members' names, in the archive's order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes | None:
        """A member's bytes, or None where there is none of that name. Raises `ExtractionError`."""
        member = self._members.get(name)
        if member is None:
            return None
        self._check(member)
        try:
            with self._zip.open(member) as file:
                data = file.read(member.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
            raise ExtractionError("damaged: a part of it cannot be unpacked", _FETCH_AGAIN) from error
        return data

    def _check(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & 1:
            raise ExtractionError("encrypted: needs a password", "save a copy without the password")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ExtractionError("compressed in a way that is not read", _FETCH_AGAIN)
        self._n_bytes_read += member.file_size
        if self._n_bytes_read > MAX_TEXT_FILE_BYTES:
            raise self._bomb(f"more than {MAX_TEXT_FILE_BYTES / 1e6:,.0f} MB of text when unpacked")
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _SMALL_BYTES and ratio > MAX_COMPRESSION_RATIO:
            raise self._bomb(f"a part of it unpacks to {ratio:,.0f} times its size")

    def _bomb(self, what: str) -> ExtractionError:
        return ExtractionError(f"too large for {self._kind}: {what}", "if you trust it, save its text as another file")


def _check_head(path: Path, kind: str) -> None:
    """Raises `ExtractionError` where the file does not begin as a zip archive."""
    with path.open("rb") as file:
        head = file.read(_OLE_DIRECTORY_WITHIN)
        if head.startswith(_OLE):
            file.seek(max(0, path.stat().st_size - _OLE_DIRECTORY_WITHIN))
            if _ENCRYPTED_PACKAGE in head or _ENCRYPTED_PACKAGE in file.read():
                raise ExtractionError("encrypted: needs a password", "save a copy without the password")
            raise ExtractionError("an office file of before 2007 under this name", "open it and save it as .docx")
    if not head:
        raise ExtractionError("empty file")
    if not head.startswith(b"PK"):
        raise ExtractionError(f"not {kind}: it does not begin as one", "a broken download under this name?")
