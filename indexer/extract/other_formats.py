"""Says what would read the files that longsearch passes over because of their suffix."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath

_SAVE_AS = "open them in their program and save copies as PDF"
_PICTURES = ".png .jpg .jpeg .tif .tiff .bmp .webp .heic .gif"
_HINTS = {
    "open them in their program, and save copies as PDF": (
        ".pages .numbers .key .wpd .wps .pub .vsd .vsdx .mpp .xps .oxps .indd .sxw .sxc .sxi .hwp .abw .one .wri .sdw"
    ),
    "tesseract NAME.png NAME pdf makes a PDF with text of a picture": _PICTURES,
    "ps2pdf of Ghostscript makes PDFs of them": ".ps .eps",
    "export the mail as .mbox or .eml": ".pst .ost .nsf .dbx .olm",
    "unpack them": ".7z .rar .zst .iso .cab",
    "ebook-convert of calibre makes EPUBs of them": ".lit .lrf .pdb .kfx .chm",
    "transcripts of them as .vtt or .srt would be read": ".mp3 .m4a .wav .ogg .flac .mp4 .mkv .mov .avi .webm",
    "export them as CSV": ".mdb .accdb .sqlite .dbf .parquet .sav .dta",
}
_HINT_OF = {suffix: hint for hint, suffixes in _HINTS.items() for suffix in suffixes.split()}
_DOCUMENTS = frozenset(_HINT_OF) - frozenset(_PICTURES.split())
_MAX_SUFFIX = 12
_MAX_KINDS = 100


def suffix_of(path: bytes | str) -> str:
    """Return the suffix under which a file that is passed over is counted; "" if it has none, or a long one."""
    suffix = PurePath(os.fsdecode(path)).suffix.lower()
    return suffix if len(suffix) <= _MAX_SUFFIX else ""


def most_frequent(counts: Counter[str]) -> dict[str, int]:
    """Return the numbers of files by suffix, the most frequent first; those of rare suffixes are under ""."""
    kept = dict(counts.most_common(_MAX_KINDS))
    rest = counts.total() - sum(kept.values())
    return {**kept, "": kept.get("", 0) + rest} if rest else kept


def hint_for(suffix: str) -> str:
    """Return what would read files with this suffix, or ""."""
    return _HINT_OF.get(suffix, "")


def documents_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return (suffix, number of files): what is likely a document first, then the most frequent."""
    return sorted(counts.items(), key=lambda item: (item[0] not in _DOCUMENTS, -item[1], item[0]))
