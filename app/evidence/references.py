"""Cites kept passages with the keys of the person's reference manager, as the settings name it, and exports them.

Keys come first from `.bib` files, such as Better BibTeX keeps up to date, then from Zotero. Both are only read.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from longsearch.app.evidence.places import placed
from longsearch.app.evidence.zotero import references_in_zotero
from longsearch.app.settings.reading import current
from longsearch.engine.citing.bib_reader import BibEntry, bib_entries, without_latex
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.forms import FORMATS, FORMS
from longsearch.engine.citing.references import Reference, References
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


@dataclass(frozen=True, slots=True)
class Citations:
    """The settings of citations."""

    form: str
    """A name in `engine.citing.forms.FORMS`."""
    bib: tuple[Path, ...]
    """`.bib` files, such as Better BibTeX keeps up to date."""
    zotero: Path | None
    """Zotero's `zotero.sqlite`."""


def citations() -> Citations:
    """Return the settings in force. Raises LongsearchError if an environment variable of them is wrong."""
    said = current("citation_form", "bib", "zotero")
    return Citations(said.citation_form, said.bib, None if said.zotero is None else _database(said.zotero))


def _database(path: Path) -> Path:
    """Return Zotero's database in its data folder; a path that is no folder stays."""
    return path / "zotero.sqlite" if path.is_dir() else path


def cited(passages: list[Evidence], settings: Citations) -> list[Evidence]:
    """Return the passages with what the reference manager knows of their documents. Raises LongsearchError."""
    sources = [References(references_in_bib(path)) for path in settings.bib]
    if settings.zotero is not None:
        sources.append(References(references_in_zotero(settings.zotero)))
    for source in sources:
        passages = [source.cite(one) for one in passages]
    return passages


def exported(passages: Sequence[Evidence], format_: str) -> tuple[str, list[str]]:
    """Return the text of an export in a format of `FORMATS`, and notes on passages that do not stand there any more."""
    found = placed(passages)
    notes = [f"{one.evidence.title}: {one.state.value}" for one in found if one.state]
    return written([one.evidence for one in found], format_), notes


def written(passages: list[Evidence], format_: str) -> str:
    """Return passages in a format of `FORMATS`, cited as the person's references do. Raises LongsearchError."""
    return FORMATS[format_][1](cited(passages, citations()))


def copied(one: Evidence) -> str:
    """Return a passage in the form of the settings. Raises LongsearchError if the references cannot be read."""
    settings = citations()
    return FORMS[settings.form](one if settings.form == "plain" else cited([one], settings)[0])
