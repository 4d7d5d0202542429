"""Read zip archives that may be hostile, within limits of size. Office documents and EPUB use it.

This module knows no format. Office programs and EPUB store members deflated or uncompressed. Any other method is
refused, because zipfile does not limit how much the other decompressors return at once.
"""

import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Self
from urllib.parse import unquote

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import (
    MAX_ARCHIVE_MEMBERS,
    MAX_COMPRESSION_RATIO,
    MAX_STREAMED_BYTES,
    MAX_TEXT_FILE_BYTES,
)

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLE_DIRECTORY_WITHIN = 1 << 20
"""Bytes at either end of an OLE file that are searched for its directory."""
_SMALL_BYTES = 1_000_000
"""A member up to this size may have any compression ratio."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
_FETCH_AGAIN = "download it again, or open it in its program and save a copy"


class Archive:
    """An open zip archive. Raises `ExtractionError` if the file is no archive, is encrypted or is a zip bomb."""

    def __init__(self, path: Source, kind: str) -> None:
        """`kind` names the format in error messages, for example "a Word document"."""
        self._kind = kind
        self._n_bytes_read = self._n_bytes_streamed = 0
        _check_head(path, kind)
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            self._file.close()
            raise ExtractionError("damaged or cut off: it cannot be unpacked", _FETCH_AGAIN) from error
        self._folded: dict[str, zipfile.ZipInfo] | None = None
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

    def has(self, name: str) -> bool:
        """Return whether a member has this name, or nearly."""
        return self._member(name) is not None

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a member, or None if no member has this name. Raises `ExtractionError`."""
        member = self._member(name)
        if member is None:
            return None
        self._check(member)
        try:
            with self._zip.open(member) as file:
                data = file.read(member.file_size + 1)
        except _BROKEN as error:
            raise ExtractionError("damaged: one of its parts cannot be unpacked", _FETCH_AGAIN) from error
        return data

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes] | None]:
        """Open a member to be read piece by piece; None if no member has this name. Raises `ExtractionError`."""
        member = self._member(name)
        if member is None:
            yield None
            return
        self._check_method(member)
        self._n_bytes_streamed += member.file_size
        self._check_size(member, self._n_bytes_streamed, MAX_STREAMED_BYTES)
        try:
            with self._zip.open(member) as file:
                yield file
        except _BROKEN as error:
            raise ExtractionError("damaged: one of its parts cannot be unpacked", _FETCH_AGAIN) from error

    def _member(self, name: str) -> zipfile.ZipInfo | None:
        """Return the member of this name, or of one that differs in capitals, accents, slashes or escapes alone."""
        if (exact := self._members.get(name)) is not None:
            return exact
        if self._folded is None:
            self._folded = {folded_name(other): member for other, member in reversed(self._members.items())}
        return self._folded.get(folded_name(name))

    def check(self, suffixes: tuple[str, ...]) -> None:
        """Check every member with one of these suffixes, for a library that unpacks them by itself."""
        for name, member in self._members.items():
            if name.lower().endswith(suffixes):
                self._check(member)

    def _check(self, member: zipfile.ZipInfo) -> None:
        self._check_method(member)
        self._n_bytes_read += member.file_size
        self._check_size(member, self._n_bytes_read, MAX_TEXT_FILE_BYTES)

    @staticmethod
    def _check_method(member: zipfile.ZipInfo) -> None:
        if member.flag_bits & 1:
            raise ExtractionError("encrypted: needs a password", "save a copy without the password")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ExtractionError("compressed by a method that longsearch does not read", _FETCH_AGAIN)

    def _check_size(self, member: zipfile.ZipInfo, n_bytes: int, most_bytes: int) -> None:
        if n_bytes > most_bytes:
            raise self._bomb(f"it unpacks to more than {most_bytes / 1e6:,.0f} MB of text")
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _SMALL_BYTES and ratio > MAX_COMPRESSION_RATIO:
            raise self._bomb(f"one of its parts unpacks to {ratio:,.0f} times its size")

    def _bomb(self, reason: str) -> ExtractionError:
        return ExtractionError(
            f"too large for {self._kind}: {reason}", "if you trust it, save its text in another file"
        )


def folded_name(name: str) -> str:
    """Return a name without what programs write differently: capitals, accents in two parts, backslashes, escapes."""
    return unicodedata.normalize("NFC", unquote(name)).replace("\\", "/").lstrip("/").casefold()


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
