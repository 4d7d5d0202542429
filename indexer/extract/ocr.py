"""Words of a page that holds none, read from its picture by tesseract. Only where a person has asked for it.

Runs in the child, whose limits of memory and session tesseract inherits: killing the child kills it too. Knows no page
and no PDF: a picture comes in, lines go out.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import ExtractionError
from indexer.extract.clean import clean_characters, one_line
from indexer.extract.limits import OCR_PAGE_TIMEOUT_S
from indexer.extract.messages import NO_LETTERS, NO_OCR_TOOL, SCANNED
from indexer.extract.pages import breaks_word

SETTING = "LONGSEARCH_OCR"
TOOL = "tesseract"
INSTALL_HINT = "install it: apt install tesseract-ocr, dnf install tesseract, or brew install tesseract"
DPI = 300
"""What tesseract was trained for."""
_OFF = frozenset({"", "0", "no", "off", "false"})
_ON = frozenset({"1", "yes", "on", "true"})
_LANGUAGES = re.compile(r"[A-Za-z_/]{2,40}(?:\+[A-Za-z_/]{2,40}){0,9}")
_MAX_REASON_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, rendered."""

    width: int
    height: int
    """Both in pixels."""
    gray: bytes
    """A byte a pixel, row by row from the top."""
    dpi: int


class OcrFailedError(Exception):
    """No text could be made of a page; the text says why."""


def ocr_languages(environment: Mapping[str, str]) -> str | None:
    """What `LONGSEARCH_OCR` says: None for no OCR (the default), "" for tesseract's own language, or as "deu+eng".

    Raises `ExtractionError` where it says nothing of the kind.
    """
    value = environment.get(SETTING, "").strip()
    if value.lower() in _OFF:
        return None
    if value.lower() in _ON:
        return ""
    if _LANGUAGES.fullmatch(value) is None:
        raise ExtractionError(f"{SETTING} is not understood", "set it to 1, or to tesseract's languages as in deu+eng")
    return value


def needs_ocr(reason: str) -> bool:
    """Whether a file that is not read whole for this reason may be read by OCR."""
    return SCANNED in reason or NO_LETTERS in reason or NO_OCR_TOOL in reason


def require_tool() -> None:
    """Raises `ExtractionError` where tesseract is not installed."""
    if shutil.which(TOOL) is None:
        raise ExtractionError(NO_OCR_TOOL, INSTALL_HINT)


def recognise(picture: Picture, languages: str) -> tuple[str, ...]:
    """The lines in `picture`, as `indexer.extract.messages.Page.lines`. Raises `OcrFailedError`."""
    program = shutil.which(TOOL)
    if program is None:
        raise OcrFailedError(NO_OCR_TOOL)
    command = [program, "stdin", "stdout", "--dpi", str(picture.dpi), *(["-l", languages] if languages else [])]
    image = b"P5 %d %d 255\n" % (picture.width, picture.height) + picture.gray  # PGM: the simplest there is
    try:
        done = subprocess.run(  # noqa: S603 - a list, no shell; the picture goes in by a pipe
            command,
            input=image,
            capture_output=True,
            timeout=OCR_PAGE_TIMEOUT_S,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # its threads cost more than they bring
        )
    except subprocess.TimeoutExpired as error:
        raise OcrFailedError(f"OCR took more than {OCR_PAGE_TIMEOUT_S:.0f} s") from error
    except OSError as error:
        raise OcrFailedError(f"OCR cannot be started: {error.strerror}") from error
    if done.returncode:
        said = one_line(done.stderr.decode("utf-8", "replace"), _MAX_REASON_CHARACTERS)
        raise OcrFailedError(f"OCR failed: {said or f'status {done.returncode}'}")
    return lines_of(done.stdout.decode("utf-8", "replace"))


def lines_of(recognised: str) -> tuple[str, ...]:
    """tesseract's text, paragraphs between empty lines, as lines with what separates each from the next. Pure."""
    paragraphs: list[list[str]] = [[]]
    for line in clean_characters(recognised.replace("\f", "\n")).split("\n"):
        words = " ".join(line.split())
        if words:
            paragraphs[-1].append(words)
        elif paragraphs[-1]:
            paragraphs.append([])
    return tuple(part for lines in paragraphs for part in _separated(lines))


def _separated(lines: list[str]) -> list[str]:
    parts = []
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if breaks_word(line, following):
            parts.append(line[:-1])
        else:
            parts.append(line + (" " if following else "\n\n"))
    return parts
