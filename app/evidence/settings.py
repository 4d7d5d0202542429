"""How a person wants quotations to be cited, and where their reference manager keeps its data."""

from dataclasses import dataclass
from pathlib import Path

from longsearch.app.settings.reading import current


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
