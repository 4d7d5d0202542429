"""Reads the marks that Okular keeps beside a PDF, in its own folder: by the file's size and name.

The child that reads the PDF puts them onto its pages (`pdf.apart`) and reads them like the PDF's own.
"""

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from longsearch.indexer.extract.wire.limits import MAX_MARK_CHARACTERS, MAX_MARKS
from longsearch.indexer.extract.wire.values import MarkApart

_MAX_BYTES = 5_000_000
_MAX_BOXES = 50
_NOTE = "1"
"""The type of a note; marks of words have an element of their own. Lines, forms, stamps and drawings are not read."""
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_KINDS = {"0": "highlight", "1": "squiggly", "2": "underline", "3": "strikeout"}


def kept_beside(path: Path, size: int) -> Path:
    """Return the file in which Okular keeps the marks of a file of this size, if there are any."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "okular" / "docdata" / f"{size}.{path.name}.xml"


def changed_ns(path: Path, size: int) -> int:
    """Return when these marks were changed, in nanoseconds since 1970; 0 if there are none."""
    if path.suffix.lower() != ".pdf":
        return 0
    try:
        return kept_beside(path, size).stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def marks_apart(path: Path) -> tuple[MarkApart, ...]:
    """Return the marks of the PDF at `path` that Okular keeps; () if there are none, or none that can be read."""
    try:
        file = kept_beside(path, path.stat().st_size)
        if not 0 < file.stat().st_size <= _MAX_BYTES:
            return ()
        root = ElementTree.fromstring(file.read_bytes())  # noqa: S314 - expat bounds entities; Okular wrote the file
        return tuple(mark for page in root.iter("page") for mark in _marks_of(page))[:MAX_MARKS]
    except (OSError, ValueError, ElementTree.ParseError):
        return ()


def _marks_of(page: ElementTree.Element) -> Iterator[MarkApart]:
    number = int(page.get("number", "-1"))
    for one in page.iter("annotation"):
        base, words = one.find("base"), one.find("hl")
        kind = _KINDS.get(words.get("type", "0"), "") if words is not None else ""
        kind = "note" if one.get("type") == _NOTE else kind
        if base is None or not kind or number < 0:
            continue
        quads = words.findall("quad") if words is not None else []
        boxes = tuple(_box(quad) for quad in quads[:_MAX_BOXES]) or tuple(map(_rectangle, base.findall("boundary")[:1]))
        color = base.get("color", "")
        author, note = (base.get(name, "")[:MAX_MARK_CHARACTERS] for name in ("author", "contents"))
        yield number, kind, color if _COLOR.fullmatch(color) else "", author, note, boxes


def _box(quad: ElementTree.Element) -> tuple[float, float, float, float]:
    across = [float(quad.get(f"{corner}x", "0")) for corner in "abcd"]
    down = [float(quad.get(f"{corner}y", "0")) for corner in "abcd"]
    return min(across), min(down), max(across), max(down)


def _rectangle(boundary: ElementTree.Element) -> tuple[float, float, float, float]:
    left, top, right, bottom = (float(boundary.get(side, "0")) for side in "ltrb")
    return left, top, right, bottom
