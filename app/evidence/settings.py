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
    bib: Path | None
    """A `.bib` file, such as Better BibTeX keeps up to date."""
    zotero: Path | None
    """Zotero's `zotero.sqlite`."""


def citations(environment: Mapping[str, str] = os.environ) -> Citations:
    """Return the settings. Raises LongsearchError for a form that does not exist."""
    form = environment.get("LONGSEARCH_CITATION", "").strip() or next(iter(FORMS))
    if form not in FORMS:
        raise LongsearchError(
            f"quotations cannot be copied as {form!r}", f"LONGSEARCH_CITATION may be {', '.join(FORMS)}"
        )
    zotero = _path(environment.get("LONGSEARCH_ZOTERO", ""))
    if zotero is not None and zotero.is_dir():
        zotero /= "zotero.sqlite"
    return Citations(form, _path(environment.get("LONGSEARCH_BIB", "")), zotero)


def _path(text: str) -> Path | None:
    return expanded(text.strip()).absolute() if text.strip() else None
