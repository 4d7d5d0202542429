"""OCR by tesseract itself, over a made scan: grey, noisy and a little askew. Skipped where tesseract is missing."""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pypdfium2
import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.pdf.recognition import Recognition
from longsearch.indexer.extract.reader import ExtractorProcess
from tests.indexer.pdf_writing import lines_of, pdf

pytestmark = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")

_DPI = 200
PAGES = (
    "When the first of these cells is sealed\nthe old queen leaves within a day or two\nand takes half of the workers",
    "The lease may be ended by either party\nwith three months of notice in writing",
)


def scan(path: Path, pages: tuple[str, ...]) -> None:
    """Write a PDF that holds nothing but pictures of these pages, as a scanner makes them."""
    random = np.random.default_rng(0)
    printed, scanned = pypdfium2.PdfDocument(pdf([lines_of(text) for text in pages])), pypdfium2.PdfDocument.new()
    for page in printed:
        bitmap = page.render(scale=_DPI / 72, grayscale=True)
        picture = bitmap.to_numpy().reshape(bitmap.height, bitmap.width).astype(np.float64)
        for column in range(bitmap.width):  # half a degree askew
            picture[:, column] = np.roll(picture[:, column], column // 115)
        noisy = np.clip(picture * 0.8 + 30 + random.normal(0, 12, picture.shape), 0, 255).astype(np.uint8)
        made = pypdfium2.PdfBitmap.new_native(bitmap.width, bitmap.height, pypdfium2.raw.FPDFBitmap_Gray)
        rows = np.zeros((bitmap.height, made.stride), np.uint8)
        rows[:, : bitmap.width] = noisy
        ctypes.memmove(made.buffer, rows.tobytes(), rows.nbytes)
        width, height = page.get_size()
        image = pypdfium2.PdfImage.new(scanned)
        image.set_bitmap(made)
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        sheet = scanned.new_page(width, height)
        sheet.insert_obj(image)
        sheet.gen_content()
    scanned.save(path)


def test_a_scan_is_read_by_tesseract_with_its_pages_and_only_once(tmp_path: Path) -> None:
    scan(tmp_path / "scan.pdf", PAGES)
    with ExtractorProcess() as extractor, pytest.raises(ExtractionError, match="no text in 2 pages"):
        extractor.extract(tmp_path / "scan.pdf")
    wish = Recognition("eng", tmp_path / "a.ocr")
    with ExtractorProcess(ocr=wish) as extractor:
        document = extractor.extract(tmp_path / "scan.pdf").document
        first, second = document.page_starts
        assert " ".join(document.text[first:second].split()) == " ".join(PAGES[0].split())
        assert " ".join(document.text[second:].split()) == " ".join(PAGES[1].split())
        assert document.ocr_pages == (1, 2)
        assert wish.n_pages == 2
        assert extractor.extract(tmp_path / "scan.pdf").document == document
        assert wish.n_pages == 2
