"""How a person wants quotations to be cited, and where their reference manager keeps its data."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from longsearch.app.paths import expanded
from longsearch.engine.citing.forms import FORMS
from longsearch.engine.errors import LongsearchError


@dataclass(frozen=True, slots=True)
class Citations:
    """The settings of citations."""

    form: str
    """A name in `engine.citing.forms.FORMS`."""
    bib: tuple[Path, ...]
    """`.bib` files, such as Better BibTeX keeps up to date."""
    zotero: Path | None
    """Zotero's `zotero.sqlite`."""


def citations(environment: Mapping[str, str] = os.environ) -> Citations:
    """Return the settings. Raises LongsearchError for a form that does not exist."""
    form = environment.get("LONGSEARCH_CITATION", "").strip() or next(iter(FORMS))
    if form not in FORMS:
        raise LongsearchError(
            f"quotations cannot be copied as {form!r}", f"LONGSEARCH_CITATION may be {', '.join(FORMS)}"
        )
    bib = tuple(map(_path, filter(None, environment.get("LONGSEARCH_BIB", "").split(os.pathsep))))
    zotero = environment.get("LONGSEARCH_ZOTERO", "").strip()
    return Citations(form, bib, _database(_path(zotero)) if zotero else None)


def _path(text: str) -> Path:
    return expanded(text.strip()).absolute()


def _database(path: Path) -> Path:
    """Return Zotero's database in its data folder; a path that is no folder stays."""
    return path / "zotero.sqlite" if path.is_dir() else path
