"""Writes kept passages as highlights into copies of their PDFs, which every viewer shows. The PDFs stay as they are."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from longsearch.app.evidence.places import placed
from longsearch.engine.citing.evidence import Evidence, PlaceState
from longsearch.engine.errors import LongsearchError
from longsearch.engine.page_image import Highlight, PageQuestion, TextToHighlight
from longsearch.engine.sentences import cut_sentences
from longsearch.indexer.extract.printed.renderer import PageRenderer

_WIDTH = 2_000
"""Pixels of the page on which a passage is looked for: a pixel is a third of a point."""
_COLOR = "ffd400"
_LEAST = 25
"""Characters of a sentence that is looked for alone, where a page does not say the whole passage."""
_LOST = (PlaceState.GONE, PlaceState.UNKNOWN)
_Share = tuple[float, float]
"""A point of a page as it is shown: (from the left, from the top), each 0 to 1."""


def highlight(passages: Sequence[Evidence], folder: Path) -> tuple[list[tuple[Path, int]], list[str]]:
    """Write a copy of each PDF into the folder; return (copy, its highlights), and notes on what is left out.

    Raises LongsearchError if a copy is there already, or cannot be written.
    """
    of_file: dict[str, list[Evidence]] = defaultdict(list)
    notes = []
    for one in placed(passages):
        if one.state in _LOST:
            notes.append(f"{one.evidence.title}: {one.state.value}")
        elif one.evidence.page is None or not one.evidence.path.lower().endswith(".pdf"):
            notes.append(f"{one.evidence.title}: only a PDF can be highlighted")
        else:
            of_file[one.evidence.path].append(one.evidence)
    copies = []
    with PageRenderer() as pages:
        for path, own in of_file.items():
            copy = folder / f"{Path(path).stem}.marked.pdf"
            if copy.exists():
                raise LongsearchError(f"{copy} exists already", "move it away, or name another folder")
            missed = _write(Path(path), own, copy, pages)
            notes += [f"{one.title}: not found on p. {one.page} as it is printed" for one in missed]
            copies += [(copy, len(own) - len(missed))] if len(own) > len(missed) else []
    return copies, notes


def _write(path: Path, passages: Sequence[Evidence], copy: Path, pages: PageRenderer) -> list[Evidence]:
    """Write the copy, and return the passages that were not found; all: no copy."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.errors import PyPdfError

    try:
        writer = PdfWriter(clone_from=PdfReader(path))
        missed = [one for one in passages if not _add(writer, path, one, pages)]
        if len(missed) < len(passages):
            copy.parent.mkdir(parents=True, exist_ok=True)
            writer.write(copy)
    except (PyPdfError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LongsearchError(f"{path} cannot be copied with highlights: {error}") from error
    return missed


def _add(writer: Any, path: Path, one: Evidence, pages: PageRenderer) -> bool:
    """Highlight a passage; return whether it was found. It may begin on the page before, or go on overleaf."""
    first = one.page or 1
    sentences = [text for low, high in cut_sentences(one.quote) if len(text := one.quote[low:high]) >= _LEAST]
    left, parts = set(range(len(sentences))), []
    for number in (first, first - 1, first + 1):
        if not 1 <= number <= len(writer.pages):
            continue
        wanted = tuple(TextToHighlight(text, 0.5, Highlight.FOUND) for text in (one.quote, *sentences))
        image = pages.draw(PageQuestion(str(path), number, _WIDTH, None, wanted))
        whole, *each = (
            [((x / image.width, y / image.height), (u / image.width, v / image.height)) for x, y, u, v in found.boxes]
            for found in image.highlights
        )
        if whole:
            parts = [(number, whole)]
            break
        here = [at for at in sorted(left) if each[at]]
        left.difference_update(here)
        parts += [(number, [box for at in here for box in each[at]])] if here else []
    for number, boxes in parts:
        _annotate(writer, number - 1, boxes, one)
    return bool(parts)


def _annotate(writer: Any, page: int, boxes: Sequence[tuple[_Share, _Share]], one: Evidence) -> None:
    from pypdf.annotations import Highlight as Annotation
    from pypdf.generic import ArrayObject, FloatObject, NameObject, TextStringObject

    corners = list(_corners(writer.pages[page], boxes))
    across, down = [x for x, _ in corners], [y for _, y in corners]
    made = Annotation(
        rect=(min(across), min(down), max(across), max(down)),
        quad_points=ArrayObject(FloatObject(round(side, 2)) for corner in corners for side in corner),
        highlight_color=_COLOR,
        printing=True,
    )
    if one.note:
        made[NameObject("/Contents")] = TextStringObject(one.note)
    writer.add_annotation(page, made)


def _corners(page: Any, boxes: Sequence[tuple[_Share, _Share]]) -> Iterator[tuple[float, float]]:
    """Yield the corners of each box in points of the page, in the order of viewers: those above, those below."""
    crop, turned = page.cropbox, page.rotation % 360
    for (left, top), (right, bottom) in boxes:
        for u, v in ((left, top), (right, top), (left, bottom), (right, bottom)):
            a, b = {0: (u, 1 - v), 90: (v, u), 180: (1 - u, v), 270: (1 - v, 1 - u)}[turned]
            yield float(crop.left) + a * float(crop.width), float(crop.bottom) + b * float(crop.height)
