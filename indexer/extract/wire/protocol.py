"""The messages between the parent and the child that reads files: dataclasses, sent as JSON in frames.

JSON instead of pickle: a child that a hostile file controls must not run code in the parent. This module knows no
pipe. Decoding raises `ValueError`, `KeyError` or `TypeError` for anything that is not a message.
"""

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

from longsearch.indexer.extract.wire.limits import (
    MAX_FRAME_BYTES,
    MAX_HEADINGS,
    MAX_PAGES,
    MAX_RAW_CHARACTERS,
    MAX_RAW_VALUES,
)

DAMAGED = "damaged"
NO_LETTERS = "the fonts do not say which letters they show"
NO_OCR_TOOL = "OCR needs tesseract, which is not installed"
"""Values of `Page.problem`. `ocr.needs_ocr` looks for the last two in stored reasons: never reword these."""

SCANNED = "scanned?"
"""Part of the reason for a PDF whose pages lack text. `ocr.needs_ocr` looks for it too: never reword it."""

HEADER = struct.Struct(">I")

RawValue = tuple[str, str, str]
"""A value of metadata as a reader finds it: (field, text, source). `indexer.extract.metadata` cleans it."""
RawMetadata = tuple[RawValue, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """From the parent to the child: read this file."""

    path: str
    """Absolute path; undecodable bytes are surrogate escapes."""
    format: str
    """The value of a `Format`. It may differ from the format of the file's suffix."""
    first_page: int = 0
    """0-based. An earlier child has read the pages before it."""
    pdfium: bool = True
    """False if pdfium hung or crashed while it opened this file."""
    ocr: str | None = None
    """Languages for OCR of pages without text ("" for tesseract's default); None for no OCR."""
    head_only: bool = False
    """Whether a PDF's first pages are enough, because only its title and its metadata are wanted."""
    command: tuple[str, ...] = ()
    """The command that reads the file, if its format is `ADAPTED`."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The PDF is open; its pages follow."""

    n_pages: int
    title: str
    """The title in the metadata, or ""."""
    warning: str = ""
    """Why the file may be incomplete, or ""."""
    metadata: RawMetadata = ()
    """What the file's information dictionary says."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a PDF; pages arrive in order."""

    index: int
    """0-based."""
    lines: tuple[str, ...]
    """Each line ends with the separator from the next: a space, "\\n", "\\n\\n" or nothing."""
    large_text: str = ""
    """On the first page, the text in the largest type near the top, or ""."""
    problem: str = ""
    """Why no library could extract its text, or ""."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a PDF, sent after its pages."""

    entries: tuple[tuple[int, str, int], ...]
    """(level from 1, title, 0-based page) of each entry."""


@dataclass(frozen=True, slots=True)
class Described:
    """What a PDF says of itself in XMP; sent last, so that a hang over it costs no page."""

    metadata: RawMetadata


@dataclass(frozen=True, slots=True)
class FileText:
    """The whole text of a file that is not a PDF. Fields as in `engine.types.DocumentText`; the title may be ""."""

    text: str
    page_starts: tuple[int, ...]
    title: str
    headings: tuple[tuple[int, str, int], ...]
    """(level, title, start) of each heading."""
    warning: str = ""
    """Which part of the file could not be read, or ""."""
    metadata: RawMetadata = ()
    """What the file says of itself, the most trustworthy value first."""
    untitled: bool = False
    """Whether its first line is no title either, as in a table or a mailbox: the file's name serves."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of an answer: the file cannot be read."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an answer: everything has been sent."""


Message = Opened | Page | Outline | Described | FileText | Failed | Ended
_KINDS: dict[str, type[Message]] = {
    kind.__name__: kind for kind in (Opened, Page, Outline, Described, FileText, Failed, Ended)
}
_FIELD_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (Request, *_KINDS.values())}


def encode(message: Message | Request) -> bytes:
    """Return the frame of `message`: its length (4 bytes, big-endian), then JSON."""
    kind = type(message)
    content = {name: getattr(message, name) for name in _FIELD_NAMES[kind]}  # `asdict` would copy every line of a page
    body = json.dumps([kind.__name__, content]).encode("ascii")
    if len(body) > MAX_FRAME_BYTES:
        raise MemoryError(f"a message of {len(body)} bytes")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """Return how many bytes follow a frame's header. Raises `ValueError` if no message is that long."""
    (n_bytes,) = HEADER.unpack(header)
    if n_bytes > MAX_FRAME_BYTES:
        raise ValueError(f"a message of {n_bytes} bytes")
    return int(n_bytes)


def decode_request(body: bytes) -> Request:
    """Return the request in a frame's body."""
    return Request(**json.loads(body)[1])


def decode(body: bytes | bytearray) -> Message:
    """Return the message in a frame's body. Checks every field: the child may lie."""
    name, fields = json.loads(body)
    return _checked(_KINDS[name], fields)


def _checked(kind: type[Message], fields: dict[str, Any]) -> Message:
    if kind is Opened:
        n_pages = _number(fields["n_pages"], MAX_PAGES)
        return Opened(n_pages, _string(fields["title"]), _string(fields["warning"]), _metadata(fields["metadata"]))
    if kind is Page:
        lines = tuple(_string(line) for line in fields["lines"])
        return Page(_number(fields["index"]), lines, _string(fields["large_text"]), _string(fields["problem"]))
    if kind is Outline:
        return Outline(_headings(fields["entries"]))
    if kind is Described:
        return Described(_metadata(fields["metadata"]))
    if kind is FileText:
        starts = tuple(_number(start) for start in fields["page_starts"])
        headings, warning = _headings(fields["headings"]), _string(fields["warning"])
        metadata = _metadata(fields["metadata"])
        text, title, untitled = _string(fields["text"]), _string(fields["title"]), fields["untitled"] is True
        return FileText(text, starts, title, headings, warning, metadata, untitled)
    if kind is Failed:
        return Failed(_string(fields["message"]), _string(fields["hint"]))
    return Ended()


def _headings(entries: list[list[Any]]) -> tuple[tuple[int, str, int], ...]:
    return tuple((_number(level), _string(title), _number(place)) for level, title, place in entries[:MAX_HEADINGS])


def limited(values: Iterable[RawValue]) -> RawMetadata:
    """Return at most `MAX_RAW_VALUES` values, each cut to `MAX_RAW_CHARACTERS`; empty ones are dropped."""
    cut = ((field[:100], text[:MAX_RAW_CHARACTERS], source[:100]) for field, text, source in values if text.strip())
    return tuple(islice(cut, MAX_RAW_VALUES))


def _metadata(values: list[list[Any]]) -> RawMetadata:
    return limited((_string(field), _string(text), _string(source)) for field, text, source in values)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a string")
    return value


def _number(value: object, maximum: int = 1 << 40) -> int:
    if type(value) is not int or not 0 <= value <= maximum:
        raise ValueError(f"{value!r} instead of a number up to {maximum}")
    return value
