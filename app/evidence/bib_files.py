"""References from `.bib` files, such as Better BibTeX keeps up to date. The files are only read."""

import os
from functools import lru_cache
from pathlib import Path

from longsearch.engine.citing.bib_reader import BibEntry, bib_entries, without_latex
from longsearch.engine.citing.references import Reference
from longsearch.engine.errors import LongsearchError


def references_in_bib(path: Path) -> tuple[Reference, ...]:
    """Return the references of a file, read again once it has changed. Raises LongsearchError."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise LongsearchError(f"{path} cannot be read: {error.strerror}", "see `bib` in the settings") from error


@lru_cache(maxsize=8)
def _read(path: Path, _mtime_ns: int, _n_bytes: int) -> tuple[Reference, ...]:
    text = path.read_bytes().decode("utf-8", "replace")
    return tuple(_reference(entry, path.parent) for entry in bib_entries(text))


def _reference(entry: BibEntry, folder: Path) -> Reference:
    fields = entry.fields
    is_arxiv = "arxiv" in (fields.get("archiveprefix", "") + fields.get("eprinttype", "")).lower()
    return Reference(
        citekey=entry.key,
        title=without_latex(fields.get("title", "")),
        doi=without_latex(fields.get("doi", "")),
        arxiv=fields.get("eprint", "") if is_arxiv else "",
        paths=tuple(os.path.normpath(folder / Path(file).expanduser()) for file in entry.files),
    )
