"""Read zip archives that may be hostile, within limits of size. Office documents and EPUB use it.

This module knows no format. Office programs and EPUB store members deflated or uncompressed. Any other method is
refused, because zipfile does not limit how much the other decompressors return at once.
"""

import zipfile
import zlib
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_ARCHIVE_MEMBERS, MAX_COMPRESSION_RATIO, MAX_TEXT_FILE_BYTES

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLE_DIRECTORY_WITHIN = 1 << 20
"""Bytes at either end of an OLE file that are searched for its directory."""
_SMALL_BYTES = 1_000_000
"""A member up to this size may have any compression ratio."""
_FETCH_AGAIN = "download it again, or open it in its program and save a copy"


class Archive:
    """An open zip archive. Raises `ExtractionError` if the file is no archive, is encrypted or is a zip bomb."""

    def __init__(self, path: Source, kind: str) -> None:
        """`kind` names the format in error messages, for example "a Word document"."""
        self._kind = kind
        self._n_bytes_read = 0
        _check_head(path, kind)
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            self._file.close()
            raise ExtractionError("damaged or cut off: it cannot be unpacked", _FETCH_AGAIN) from error
        self._members = {member.filename: member for member in self._zip.infolist()}
        if len(self._members) > MAX_ARCHIVE_MEMBERS:
            self.__exit__(None, None, None)
            raise self._bomb(f"it holds {len(self._members):,} files")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> Sequence[str]:
        """The members' names, in the order of the archive."""
        return tuple(self._members)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a member, or None if no member has this name. Raises `ExtractionError`."""
        member = self._members.get(name)
        if member is None:
            return None
        self._check(member)
        try:
            with self._zip.open(member) as file:
                data = file.read(member.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
            raise ExtractionError("damaged: one of its parts cannot be unpacked", _FETCH_AGAIN) from error
        return data

    def check(self, suffixes: tuple[str, ...]) -> None:
        """Check every member with one of these suffixes, for a library that unpacks them by itself."""
        for name, member in self._members.items():
            if name.lower().endswith(suffixes):
                self._check(member)

    def _check(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & 1:
            raise ExtractionError("encrypted: needs a password", "save a copy without the password")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ExtractionError("compressed by a method that longsearch does not read", _FETCH_AGAIN)
        self._n_bytes_read += member.file_size
        if self._n_bytes_read > MAX_TEXT_FILE_BYTES:
            raise self._bomb(f"it unpacks to more than {MAX_TEXT_FILE_BYTES / 1e6:,.0f} MB of text")
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _SMALL_BYTES and ratio > MAX_COMPRESSION_RATIO:
            raise self._bomb(f"one of its parts unpacks to {ratio:,.0f} times its size")

    def _bomb(self, reason: str) -> ExtractionError:
        return ExtractionError(
            f"too large for {self._kind}: {reason}", "if you trust it, save its text in another file"
        )


def _check_head(path: Source, kind: str) -> None:
    """Raise `ExtractionError` if the file does not begin like a zip archive."""
    with path.open("rb") as file:
        head = file.read(_OLE_DIRECTORY_WITHIN)
        if head.startswith(_OLE):
            file.seek(max(0, path.stat().st_size - _OLE_DIRECTORY_WITHIN))
            if _ENCRYPTED_PACKAGE in head or _ENCRYPTED_PACKAGE in file.read():
                raise ExtractionError("encrypted: needs a password", "save a copy without the password")
            raise ExtractionError(
                "an office file from before 2007 under a newer suffix", "open it and save it in the newer format"
            )
    if not head:
        raise ExtractionError("empty file")
    if not head.startswith(b"PK"):
        raise ExtractionError(f"not {kind}: it does not begin like one", "a broken download, or the wrong suffix?")
