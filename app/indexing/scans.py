"""Scanned pages: how long OCR takes here, and which folders are to be read while the machine is idle and on mains.

A person's wish is a small file beside the index. With `ocr` in the settings every folder is wished for.
"""

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from longsearch.app.paths import base_index_path, speed_path
from longsearch.app.settings.reading import current
from longsearch.engine.json_files import load_object, replace_object
from longsearch.engine.types.progress import ScannedPages
from longsearch.indexer.extract.pdf.ocr import INSTALL_HINT, TOOL
from longsearch.indexer.extract.pdf.recognition import Recognition
from longsearch.indexer.extract.pool import default_n_children
from longsearch.indexer.extract.wire.protocol import NO_OCR_TOOL

USUAL_S = 5.0
"""Seconds a page before this machine has recognised one: measured 3 to 7 s on one core."""
_KEY = "ocr"


def recognition(root: Path, ocr: str | None) -> Recognition | None:
    """Return how pages without text are read. `ocr`: tesseract's languages; None: only pages that are known already."""
    cache = base_index_path(root).with_suffix(".ocr")
    if ocr is not None:
        return Recognition(ocr, cache, note_speed=note_speed)
    return Recognition(languages(), cache, known_only=True) if cache.exists() else None


def languages() -> str:
    """Return the languages for scanned pages, "" for tesseract's default."""
    return current().ocr or ""


def is_wished(root: Path) -> bool:
    """Return whether the scanned pages of a folder are to be read when the machine is idle."""
    return current().ocr is not None or _wish_path(root).exists()


def wish(root: Path, is_wished: bool) -> None:
    """Have the scanned pages of a folder read when the machine is idle, or no longer."""
    if is_wished:
        os.close(os.open(_wish_path(root), os.O_CREAT | os.O_WRONLY, 0o600))
    else:
        _wish_path(root).unlink(missing_ok=True)


def problem() -> str:
    """Return why scanned pages cannot be read here, or ""."""
    return "" if shutil.which(TOOL) else f"{NO_OCR_TOOL}: {INSTALL_HINT}"


def note_speed(seconds: float) -> None:
    """Remember how long tesseract takes for a page; what was known before counts half."""
    speeds, before = load_object(speed_path()), measured_s()
    speeds[_KEY] = {"s_per_page": seconds if before is None else (before + seconds) / 2}
    with contextlib.suppress(OSError):  # reading goes on without the file
        replace_object(speed_path(), speeds)


def scanned_pages(n_pages: int, n_files: int, roots: Sequence[Path]) -> ScannedPages:
    """Return what is to be said of scanned pages in so many files of these folders."""
    own_s = measured_s()
    at_once = min(default_n_children(), max(n_files, 1))
    takes_s = n_pages * (own_s or USUAL_S) / at_once
    wished = bool(roots) and all(map(is_wished, roots))
    return ScannedPages(n_pages, takes_s, own_s is not None, wished, problem())


def wish_all(roots: Sequence[Path], is_wished: bool) -> str:
    """Do `wish` for several folders, and say what comes of it."""
    for root in roots:
        wish(root, is_wished)
    if is_wished:
        return "scanned pages will be read when the computer is idle and plugged in"
    if current().ocr is not None:
        return "the settings say that scanned pages are read: see ocr in longsearch config"
    return "scanned pages will not be read"


def _wish_path(root: Path) -> Path:
    return base_index_path(root).with_suffix(".scans")


def measured_s() -> float | None:
    """Return the seconds that tesseract takes for a page here; None: not measured."""
    known = load_object(speed_path()).get(_KEY)
    value = known.get("s_per_page") if isinstance(known, dict) else None
    return float(value) if isinstance(value, int | float) and value > 0 else None
