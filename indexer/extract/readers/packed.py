"""Read the files in an archive (ZIP, TAR) or one packed file by the readers of their formats, as attachments are."""

import bz2
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import Format, format_of, unpacked_name
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.attachments import of_this_file
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_ARCHIVE_MEMBERS, MAX_ATTACHMENT_BYTES
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.ignore import is_leftover

_PACKERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_LEFT_OUT = ("__MACOSX/", "node_modules/")


def read(path: Source) -> FileText:
    """Return the text of the files in the archive at `path`. Raises `ExtractionError`."""
    attachments, builder = of_this_file(), TextBuilder()
    for name, load in _files_in(path):
        parts = name.split("/")
        is_passed_over = any(part.startswith(".") for part in parts) or is_leftover(parts[-1])
        if not is_passed_over and not any(folder in name for folder in _LEFT_OUT):
            attachments.add(builder, name, "", load, 1, kind="File")
    return replace(builder.file_text(), title="", warning=attachments.warning, untitled=True)


def _files_in(path: Source) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Return the name of each file, and what loads it."""
    with path.open("rb") as file:
        head = file.read(2)
    if head == b"PK":
        return _in_zip(path)
    name = unpacked_name(path.name)
    is_alone = name != path.name and format_of(name) is not Format.ARCHIVE
    return iter([(name, partial(_unpacked, path))]) if is_alone else _in_tar(path)


def _unpacked(path: Source) -> bytes:
    """Return the bytes of one packed file, at most one more than may be read."""
    try:
        with path.open("rb") as file, _PACKERS[PurePath(path.name).suffix.lower()](file) as packed:
            return bytes(packed.read(MAX_ATTACHMENT_BYTES + 1))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ExtractionError("damaged: it cannot be unpacked", "download it again") from error


def _in_zip(path: Source) -> Iterator[tuple[str, Callable[[], bytes]]]:
    with Archive(path, "an archive") as archive:
        for name in archive.names:
            if not name.endswith("/"):
                yield name, partial(_member, archive, name)


def _member(archive: Archive, name: str) -> bytes:
    return archive.read(name) or b""


def _in_tar(path: Source) -> Iterator[tuple[str, Callable[[], bytes]]]:
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r|*") as archive:
            for number, member in enumerate(archive):
                if number >= MAX_ARCHIVE_MEMBERS:
                    return
                if member.isfile() and member.size <= MAX_ATTACHMENT_BYTES:
                    content = archive.extractfile(member)
                    yield member.name, partial(bytes, content.read() if content else b"")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ExtractionError("damaged: it cannot be unpacked", "download it again") from error
