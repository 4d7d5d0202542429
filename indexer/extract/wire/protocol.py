"""The messages between the parent and the child that reads files: dataclasses, sent as JSON in frames.

JSON instead of pickle: a child that a hostile file controls must not run code in the parent. This module knows no
pipe. Decoding raises `ValueError`, `KeyError` or `TypeError` for anything that is not a message.
"""

import json
import struct
from dataclasses import dataclass, fields
from typing import Any

from longsearch.indexer.extract.wire.limits import MAX_BOXES, MAX_FRAME_BYTES, MAX_PAGES, MAX_PIXELS
from longsearch.indexer.extract.wire.values import (
    MarkApart,
    RawMark,
    RawMetadata,
    box,
    headings,
    marks,
    metadata,
    number,
    seconds,
    spans,
    string,
)

DAMAGED = "damaged"
NO_LETTERS = "the fonts do not say which letters they show"
NO_OCR_TOOL = "OCR needs tesseract, which is not installed"
"""Values of `Page.problem`."""

SCANNED = "scanned?"
"""Part of the reason for a PDF whose pages lack text. The index's migration to schema 10 looks for it."""

_MAX_KEY_CHARACTERS = 32
_MAX_LABEL_CHARACTERS = 40
HEADER = struct.Struct(">I")


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
    ocr_cache: str = ""
    """The file of pages that were recognised before (see `pdf.recognition`), or ""."""
    ocr_known_only: bool = False
    """Whether tesseract is not called for pages that are not in this file."""
    head_only: bool = False
    """Whether a PDF's first pages are enough, because only its title and its metadata are wanted."""
    command: tuple[str, ...] = ()
    """The command that reads the file, if its format is `ADAPTED`."""
    alone: bool = False
    """Whether the files inside it are only named, because one of them ended a child."""
    apart: tuple[MarkApart, ...] = ()
    """Marks that a viewer keeps beside a PDF."""
    is_handed: bool = False
    """Whether the child gets the file open (see `handing`); else it opens the path itself."""
    is_draft: bool = False
    """Whether the text shall say where links lead and where notes belong (see `readers.draft`)."""


@dataclass(frozen=True, slots=True)
class Started:
    """The child has started and has loaded the reader; the time of the file begins."""


@dataclass(frozen=True, slots=True)
class GoesOn:
    """The reader goes on; sent now and then before the text."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The PDF is open; its pages follow."""

    n_pages: int
    title: str
    """The title in the metadata, or ""."""
    warning: str = ""
    """Why the file may be incomplete, or ""."""
    metadata: RawMetadata = ()
    """The fields of the file's information dictionary."""


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
    scanned: bool = False
    """Whether it shows something and has no text, so that OCR could read it."""
    ocr_key: str = ""
    """If the lines are from OCR, the key of the page's picture in the cache; else ""."""
    ocr_s: float = 0.0
    """The seconds that OCR took; 0 if the lines were in the cache."""
    beside: tuple[str, ...] = ()
    """The texts beside the page's own, a line each: notes, comments, and values of fields if the page has no text."""
    label: str = ""
    """The page's number or name as it is printed, such as "iv"; "" if the file does not say it."""
    marks: tuple[RawMark, ...] = ()
    """What people marked and noted on it."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a PDF, sent after its pages."""

    entries: tuple[tuple[int, str, int], ...]
    """(level from 1, title, 0-based page) of each entry."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What lies inside a PDF and on none of its pages: an attached file, or a form of XML. Sent after the pages."""

    page: int
    """0-based: the page that it is pinned to, else the last one."""
    text: str
    headings: tuple[tuple[int, str, int], ...] = ()
    """(level, title, start in `text`) of each heading."""
    warning: str = ""
    """Which attachments could not be read, or ""."""


@dataclass(frozen=True, slots=True)
class Described:
    """The XMP of a PDF; sent last, so that a hang over it costs no page."""

    metadata: RawMetadata


@dataclass(frozen=True, slots=True)
class FileText:
    """The whole text of a file that is not a PDF. Fields as in `DocumentText`; the title may be ""."""

    text: str
    page_starts: tuple[int, ...]
    title: str
    headings: tuple[tuple[int, str, int], ...]
    """(level, title, start) of each heading."""
    warning: str = ""
    """Which part of the file could not be read, or ""."""
    metadata: RawMetadata = ()
    """The file's metadata, the most trustworthy value first."""
    untitled: bool = False
    """Whether its first line is no title either, as in a table or a mailbox: the file's name serves."""
    quoted: tuple[tuple[int, int], ...] = ()
    """(start, stop) of each paragraph that its style sets off as a quotation, ascending."""
    marks: tuple[RawMark, ...] = ()
    """What people marked and noted in it."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of an answer: the file cannot be read."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of an answer: everything has been sent."""


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """From the parent to the child that draws pages: draw this page of a PDF. Fields as in `PageQuestion`."""

    path: str
    page: int
    width: int
    height: int | None
    texts: tuple[tuple[str, float, int], ...]
    """(text, share, light) of each text to be found."""
    is_handed: bool = False
    """As in `Request`."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The picture of a page."""

    width: int
    height: int
    rgb: str
    """The pixels, compressed with zlib, in base64."""
    n_pages: int
    boxes: tuple[tuple[tuple[int, int, int, int], ...], ...]
    """The boxes of each text of the request."""


AnyRequest = Request | DrawRequest
Message = Started | GoesOn | Opened | Page | Outline | Inside | Described | FileText | Drawn | Failed | Ended
_KINDS: dict[str, type[Message]] = {
    kind.__name__: kind
    for kind in (Started, GoesOn, Opened, Page, Outline, Inside, Described, FileText, Drawn, Failed, Ended)
}
_FIELD_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (Request, DrawRequest, *_KINDS.values())}


def encode(message: Message | AnyRequest) -> bytes:
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


def decode_draw_request(body: bytes) -> DrawRequest:
    """Return the request for a page's picture in a frame's body."""
    return DrawRequest(**json.loads(body)[1])


def decode(body: bytes | bytearray) -> Message:
    """Return the message in a frame's body. Checks every field: the child may lie."""
    try:
        name, fields = json.loads(body)
    except RecursionError as error:  # brackets in brackets, which no message has
        raise ValueError("nested too deeply") from error
    return _checked(_KINDS[name], fields)


def _checked(kind: type[Message], fields: dict[str, Any]) -> Message:
    if kind is Opened:
        n_pages = number(fields["n_pages"], MAX_PAGES)
        return Opened(n_pages, string(fields["title"]), string(fields["warning"]), metadata(fields["metadata"]))
    if kind is Page:
        lines = tuple(string(line) for line in fields["lines"])
        place, texts = number(fields["index"]), (string(fields["large_text"]), string(fields["problem"]))
        ocr_key, ocr_s = string(fields["ocr_key"])[:_MAX_KEY_CHARACTERS], seconds(fields["ocr_s"])
        beside = tuple(string(line) for line in fields["beside"])
        label, found = string(fields["label"])[:_MAX_LABEL_CHARACTERS], marks(fields["marks"])
        return Page(place, lines, *texts, fields["scanned"] is True, ocr_key, ocr_s, beside, label, found)
    if kind is Outline:
        return Outline(headings(fields["entries"]))
    if kind is Inside:
        page, text, warning = number(fields["page"], MAX_PAGES), string(fields["text"]), string(fields["warning"])
        return Inside(page, text, headings(fields["headings"]), warning)
    if kind is Described:
        return Described(metadata(fields["metadata"]))
    if kind is FileText:
        starts = tuple(number(start) for start in fields["page_starts"])
        text, title, warning = (string(fields[name]) for name in ("text", "title", "warning"))
        is_untitled = fields["untitled"] is True
        outline, said = headings(fields["headings"]), metadata(fields["metadata"])
        apart = spans(fields["quoted"]), marks(fields["marks"])
        return FileText(text, starts, title, outline, warning, said, is_untitled, *apart)
    if kind is Drawn:
        width, height = (number(fields[side], MAX_PIXELS) for side in ("width", "height"))
        boxes = tuple(tuple(box(one) for one in own[:MAX_BOXES]) for own in fields["boxes"])
        return Drawn(width, height, string(fields["rgb"]), number(fields["n_pages"], MAX_PAGES), boxes)
    if kind is Failed:
        return Failed(string(fields["message"]), string(fields["hint"]))
    return Started() if kind is Started else GoesOn() if kind is GoesOn else Ended()
