"""Pages drawn as they are printed: what they show, where passages stand, and what a hostile file does."""

import os
import signal
import threading
import zlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.errors import ExtractionError, LongsearchError
from longsearch.engine.page_image import Highlight, PageImage, PageQuestion, TextToHighlight
from longsearch.indexer.extract.printed.renderer import PageRenderer, _image
from longsearch.indexer.extract.wire.limits import MAX_PIXELS
from longsearch.indexer.extract.wire.protocol import Drawn
from tests.indexer.pdf_writing import FORM_OF_ITSELF, TEXT_PAGES, Line, write_pdf

WORDS = [Line("The valve behind the second", 700), Line("pump stayed open.", 686), Line("Nobody saw it.", 400)]


@pytest.fixture(scope="module")
def renderer() -> Iterator[PageRenderer]:
    with PageRenderer() as renderer:
        yield renderer


def pixels(image: PageImage) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    return np.frombuffer(image.rgb, np.uint8).reshape(image.height, image.width, 3)


def ask(
    path: Path, page: int = 1, width: int = 612, height: int | None = None, *highlights: TextToHighlight
) -> PageQuestion:
    return PageQuestion(str(path), page, width, height, highlights)


def test_a_passage_of_two_lines_is_lit_where_its_ink_stands(tmp_path: Path, renderer: PageRenderer) -> None:
    path = write_pdf(tmp_path / "a.pdf", [WORDS])
    highlights = (
        TextToHighlight("The valve behind the second pump stayed open.", 0.0, Highlight.CURRENT),
        TextToHighlight("pump stayed", 0.4, Highlight.EXCERPT),
        TextToHighlight("not on this page", 0.4, Highlight.PASSAGE),
    )
    image = renderer.draw(ask(path, 1, 612, None, *highlights))
    assert (image.width, image.n_pages, len(image.rgb)) == (612, 1, image.width * image.height * 3)
    passage, excerpt, missing = image.highlights
    assert len(passage.boxes) == 2 and len(excerpt.boxes) == 1 and missing.boxes == ()
    for (left, top, right, bottom), baseline in zip(passage.boxes, (792 - 700, 792 - 686), strict=True):
        assert top < baseline <= bottom and abs(left - 72) <= 2
        ink = pixels(image)[:, :, 0] < 128
        assert ink[top:bottom, left:right].any()
    ink = (pixels(image)[:300, :, 0] < 128).copy()
    for left, top, right, bottom in passage.boxes:
        ink[top:bottom, left:right] = False
    assert ink.sum() <= 3, "all ink of the passage lies in its boxes"


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_boxes_turn_with_the_page(tmp_path: Path, renderer: PageRenderer, turn: int) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 11 0 R /Rotate %d" % turn
    page += b" /Resources << /Font << /F1 3 0 R >> >> >>"
    path = write_pdf(tmp_path / "turned.pdf", [WORDS], extra={10: page})
    highlights = TextToHighlight("Nobody saw it.", 0.7, Highlight.CURRENT)
    image = renderer.draw(ask(path, 1, 600, None, highlights))
    ((left, top, right, bottom),) = image.highlights[0].boxes
    assert (pixels(image)[top:bottom, left:right, 0] < 128).any()


def test_a_page_fits_into_width_and_height_and_into_the_most_pixels(tmp_path: Path, renderer: PageRenderer) -> None:
    path = write_pdf(tmp_path / "a.pdf", [WORDS])
    image = renderer.draw(ask(path, width=600, height=300))
    assert image.height in (299, 300) and image.width == pytest.approx(300 * 612 / 792, abs=1)
    image = renderer.draw(ask(path, width=100_000))
    assert 0.9 * MAX_PIXELS < image.width * image.height <= MAX_PIXELS


def test_a_file_that_is_no_pdf_or_gone_or_shorter_is_an_error(tmp_path: Path, renderer: PageRenderer) -> None:
    path = write_pdf(tmp_path / "a.pdf", TEXT_PAGES)
    with pytest.raises(ExtractionError, match="there is no page 9: the file now has 3"):
        renderer.draw(ask(path, 9))
    (tmp_path / "a.md").write_text("# Title")
    with pytest.raises(ExtractionError, match="only a PDF"):
        renderer.draw(ask(tmp_path / "a.md"))
    with pytest.raises(ExtractionError, match="gone"):
        renderer.draw(ask(tmp_path / "b.pdf"))
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(ExtractionError, match="cannot be drawn"):
        renderer.draw(ask(tmp_path / "c.pdf"))
    assert renderer.draw(ask(path)).n_pages == 3


def test_a_page_that_never_ends_or_kills_the_child_costs_a_message(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "slow.pdf", [TEXT_PAGES[0], b"/X0 Do", TEXT_PAGES[2]], extra=FORM_OF_ITSELF)
    with PageRenderer() as renderer:
        renderer.draw(ask(path, 1))
        assert renderer._child is not None
        os.kill(renderer._child.pid, signal.SIGKILL)
        assert renderer.draw(ask(path, 3)).n_pages == 3, "a new child takes over"
        renderer._timeout_s = 1.0
        try:
            renderer.draw(ask(path, 2))  # newer pdfiums may see the circle
        except ExtractionError as error:
            assert "took more than 1 s" in error.message
        renderer._timeout_s = 10.0
        assert renderer.draw(ask(path, 3)).n_pages == 3


def test_closing_ends_a_page_that_is_being_drawn(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", TEXT_PAGES)
    renderer = PageRenderer()
    renderer.draw(ask(path))
    assert renderer._child is not None
    os.kill(renderer._child.pid, signal.SIGSTOP)
    errors: list[LongsearchError] = []

    def draw() -> None:
        try:
            renderer.draw(ask(path, 2))
        except LongsearchError as error:
            errors.append(error)

    thread = threading.Thread(target=draw)
    thread.start()
    renderer.close()
    thread.join(timeout=5)
    assert not thread.is_alive() and len(errors) == 1
    with pytest.raises(LongsearchError, match="closing"):
        renderer.draw(ask(path))


@pytest.mark.parametrize(
    ("rgb", "width", "n_boxes"),
    [(b"\0" * 11, 2, 1), (b"\0" * 13, 2, 1), (b"\0" * 12, 2, 0), (b"", 0, 1), (b"\0" * 30_000_000, 2, 1)],
    ids=["too few bytes", "too many", "other boxes than asked for", "no pixels", "a bomb"],
)
def test_a_child_that_lies_is_not_believed(rgb: bytes, width: int, n_boxes: int) -> None:
    highlights = (TextToHighlight("a", 0.0, Highlight.CURRENT),)
    question = PageQuestion("/a.pdf", 1, 2, None, highlights)
    right = Drawn(2, 2, b64encode(zlib.compress(b"\0" * 12)).decode(), 1, ((),))
    assert _image([right], question).rgb == b"\0" * 12
    wrong = Drawn(width, 2, b64encode(zlib.compress(rgb)).decode(), 1, ((),) * n_boxes)
    with pytest.raises(ExtractionError, match="nonsense"):
        _image([wrong], question)
    with pytest.raises(ExtractionError, match="nonsense"):
        _image([Drawn(2, 2, "no base64", 1, ((),))], question)
