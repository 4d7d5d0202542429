"""Write small PDFs by hand, so that a test knows every word, position and page of its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE_HEIGHT_PT = 792
TOP_PT = 720
LEFT_PT = 72


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text on a page."""

    text: str
    """Latin-1 characters only."""
    y: float
    """Baseline, in points from the bottom of the page."""
    x: float = LEFT_PT
    size: float = 11


def lines_of(text: str, top: float = TOP_PT, size: float = 11, pitch: float = 14) -> list[Line]:
    """Return one `Line` for each line of `text`, `pitch` points apart; an empty line leaves a gap."""
    return [Line(line, top - index * pitch, size=size) for index, line in enumerate(text.split("\n")) if line]


def content(lines: Sequence[Line]) -> bytes:
    """Return the content stream that shows `lines`."""
    return b"\n".join(
        b"BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET" % (line.size, line.x, line.y, _escaped(line.text)) for line in lines
    )


def _escaped(text: str) -> bytes:
    return text.encode("latin-1").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """Return the body of a stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def assemble(objects: Mapping[int, bytes], root: int, info: int | None = None) -> bytes:
    """Return a PDF file of `objects` (number -> body) with a cross-reference table."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets: dict[int, int] = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    xref, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % offsets[number] if number in offsets else b"0000000000 00000 f \n"
    trailer_info = b"/Info %d 0 R " % info if info else b""
    out += b"trailer\n<< /Size %d /Root %d 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer_info, xref)
    return bytes(out)


CATALOG, PAGES, FONT, INFO, OUTLINES, FIRST_PAGE = 1, 2, 3, 4, 5, 10
DEFAULT_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def pdf(
    pages: Sequence[Sequence[Line] | bytes],
    title: str = "",
    outline: Sequence[tuple[str, int]] = (),
    font: bytes = DEFAULT_FONT,
    extra: Mapping[int, bytes] | None = None,
) -> bytes:
    """Return a PDF whose `pages` are lines, or raw content streams.

    `outline` holds (title, 0-based page). `extra` objects replace the usual ones; new ones have numbers from 1000.
    """
    page_numbers = [FIRST_PAGE + 2 * index for index in range(len(pages))]
    kids = b" ".join(b"%d 0 R" % number for number in page_numbers)
    objects = {
        CATALOG: b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>",
        PAGES: b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(pages), kids),
        FONT: font,
        INFO: b"<< /Title (%s) >>" % _escaped(title),
        OUTLINES: b"<< /Type /Outlines >>",
    }
    for number, page in zip(page_numbers, pages, strict=True):
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 %d] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> /XObject << /X0 1000 0 R >> >> >>" % (PAGE_HEIGHT_PT, number + 1)
        )
        objects[number + 1] = stream(page if isinstance(page, bytes) else content(page))
    first = FIRST_PAGE + 2 * len(pages)
    objects |= _outline_objects(outline, first, page_numbers) | dict(extra or {})
    return assemble(objects, root=CATALOG, info=INFO)


def _outline_objects(outline: Sequence[tuple[str, int]], first: int, page_numbers: Sequence[int]) -> dict[int, bytes]:
    if not outline:
        return {}
    last = first + len(outline) - 1
    objects = {OUTLINES: b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(outline))}
    for index, (title, page) in enumerate(outline):
        following = b"/Next %d 0 R" % (first + index + 1) if first + index < last else b""
        objects[first + index] = b"<< /Title (%s) /Parent 5 0 R %s /Dest [%d 0 R /XYZ null null null] >>" % (
            _escaped(title),
            following,
            page_numbers[page],
        )
    return objects


def write_pdf(path: Path, pages: Sequence[Sequence[Line] | bytes], **settings: object) -> Path:
    """Write `pdf(...)` to `path`."""
    path.write_bytes(pdf(pages, **settings))  # type: ignore[arg-type]
    return path


FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
FORM_OF_ITSELF = {1000: stream(b"/X0 Do /X0 Do", FORM + b"/Resources << /XObject << /X0 1000 0 R >> >>")}
"""A form that shows itself twice."""


def looping_forms(depth: int, fan_out: int) -> Mapping[int, bytes]:
    """Return forms that show one another `fan_out ** depth` times: hours of work in 2 kB."""
    link = b"/Resources << /XObject << /X0 %d 0 R >> >>"
    return {1000 + level: stream(b"/X0 Do " * fan_out, FORM + link % (1001 + level)) for level in range(depth)} | {
        1000 + depth: stream(b"BT ET", FORM)
    }


TEXT_PAGES = [lines_of(f"The page called {name} has words\nand a second line") for name in ("one", "two", "three")]
"""Three pages that tests can tell apart."""
