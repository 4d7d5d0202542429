"""PDFs with scanned pages, and a program that stands in for tesseract."""

import os
import sys
from pathlib import Path

import pytest

from longsearch.indexer.extract.wire import jail

TEXT = b"BT /F1 12 Tf 72 700 Td (The harbour master wrote these words by hand) Tj ET"
BLANK = b""


def picture(level: str) -> bytes:
    """The content of a page that shows a box of this gray and holds no text."""
    return f"{level} g 100 100 200 300 re f".encode()


def write_pdf(path: Path, *pages: bytes) -> None:
    """Write a PDF with these pages, each given as its content stream."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, content in enumerate(pages):
        page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"{page} /Contents {5 + 2 * n} 0 R >>".encode())
        objects.append(b"<< /Length %d >> stream\n%b\nendstream" % (len(content), content))
    body = b"%PDF-1.4\n"
    for number, content in enumerate(objects, start=1):
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    path.write_bytes(body + b"trailer << /Root 1 0 R /Size %d >>\n%%%%EOF\n" % (len(objects) + 1))


def fake_tesseract(place: Path, patch: pytest.MonkeyPatch) -> Path:
    """Put a program called tesseract on the path. Returns the folder that gets a file with each call.

    There is no jail, in which the program could not note its calls; test_extract_jail has OCR in it.
    """
    patch.setattr(jail, "version", lambda: 0)
    folder, log = place / "bin", place / "calls"
    folder.mkdir()
    log.mkdir()
    (folder / "tesseract").write_text(
        f"#!{sys.executable} -I\nimport sys, tempfile\npicture = sys.stdin.buffer.read()\n"
        f"tempfile.mkstemp(dir={str(log)!r})\n"
        "print(f'A scanned page about herring number {min(picture[17:])} lay in the drawer of the harbour office.')\n"
    )
    (folder / "tesseract").chmod(0o755)
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log
