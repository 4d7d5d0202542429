"""Recognise the words in a picture of a page, with tesseract. Runs only if a person asks for OCR.

tesseract runs in the child's session and inherits its memory limit; killing the child kills tesseract too. This module
knows neither pages nor PDFs: it takes a picture and returns lines.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_characters, one_line
from longsearch.indexer.extract.pdf.pages import breaks_word, is_one_run, line_of_page
from longsearch.indexer.extract.wire.limits import OCR_PAGE_TIMEOUT_S
from longsearch.indexer.extract.wire.protocol import NO_OCR_TOOL

TOOL = "tesseract"
INSTALL_HINT = "apt install tesseract-ocr, dnf install tesseract, or brew install tesseract"
DPI = 300
"""The resolution that tesseract was trained for."""
_LANGUAGES = re.compile(r"[A-Za-z_/]{2,40}(?:\+[A-Za-z_/]{2,40}){0,9}")
_NO_LANGUAGES = frozenset({"osd", "equ"})  # tesseract lists these data too: the direction of a page, and formulas
_MAX_REASON_CHARACTERS = 120
_LIST_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered page."""

    width: int
    height: int
    """Both in pixels."""
    gray: bytes
    """One byte per pixel, row by row from the top."""
    dpi: int


def is_blank(picture: Picture) -> bool:
    """Return whether all of the picture has one colour, so that no word can be on it."""
    return picture.gray.count(picture.gray[:1]) == len(picture.gray)


class OcrFailedError(Exception):
    """OCR failed on a page; the error's text says why."""


def are_languages(text: str) -> bool:
    """Return whether `text` may name languages of tesseract, such as deu+eng. Nothing else may reach its command."""
    return _LANGUAGES.fullmatch(text) is not None


def require_tool() -> None:
    """Raise `ExtractionError` if tesseract is not installed."""
    if shutil.which(TOOL) is None:
        raise ExtractionError(NO_OCR_TOOL, INSTALL_HINT)


def known_languages() -> tuple[str, ...]:
    """Return the languages that tesseract has here. Raises `ExtractionError` if it does not say."""
    require_tool()
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell
            [str(shutil.which(TOOL)), "--list-langs"], capture_output=True, timeout=_LIST_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ExtractionError("tesseract does not list its languages", "try: tesseract --list-langs") from error
    lines = clean_characters(done.stdout.decode("utf-8", "replace")).split("\n")
    return tuple(
        line.strip() for line in lines[1:] if are_languages(line.strip()) and line.strip() not in _NO_LANGUAGES
    )


def recognise(picture: Picture, languages: str) -> tuple[str, ...]:
    """Return the lines in `picture`, in the form of `wire.protocol.Page.lines`. Raises `OcrFailedError`."""
    program = shutil.which(TOOL)
    if program is None:
        raise OcrFailedError(NO_OCR_TOOL)
    command = [program, "stdin", "stdout", "--dpi", str(picture.dpi), *(["-l", languages] if languages else [])]
    image = b"P5 %d %d 255\n" % (picture.width, picture.height) + picture.gray  # PGM, the simplest image format
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell; the picture goes through a pipe
            command,
            input=image,
            capture_output=True,
            timeout=OCR_PAGE_TIMEOUT_S,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads cost more time than they save
        )
    except subprocess.TimeoutExpired as error:
        raise OcrFailedError(f"OCR took more than {OCR_PAGE_TIMEOUT_S:.0f} s") from error
    except OSError as error:
        raise OcrFailedError(f"OCR cannot be started: {error.strerror}") from error
    if done.returncode:
        message = one_line(done.stderr.decode("utf-8", "replace"), _MAX_REASON_CHARACTERS)
        raise OcrFailedError(f"OCR failed: {message or f'status {done.returncode}'}")
    return lines_of(done.stdout.decode("utf-8", "replace"))


def lines_of(recognised: str) -> tuple[str, ...]:
    """Split tesseract's output, whose paragraphs stand between empty lines, into lines with their separators. Pure."""
    paragraphs: list[list[str]] = [[]]
    for line in clean_characters(recognised.replace("\f", "\n")).split("\n"):
        words = line_of_page(line)
        if words:
            paragraphs[-1].append(words)
        elif paragraphs[-1]:
            paragraphs.append([])
    return tuple(part for lines in paragraphs for part in _with_separators(lines))


def _with_separators(lines: list[str]) -> list[str]:
    parts = []
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if breaks_word(line, following):
            parts.append(line[:-1])
        else:
            parts.append(line + ("" if is_one_run(line, following) else " " if following else "\n\n"))
    return parts
