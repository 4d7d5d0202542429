"""The references of the person's reference manager, as the settings name it: keys first from `.bib` files."""

from longsearch.app.evidence.bib_files import references_in_bib
from longsearch.app.evidence.settings import Citations
from longsearch.app.evidence.zotero import references_in_zotero
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.references import References


def cited(passages: list[Evidence], settings: Citations) -> list[Evidence]:
    """Return the passages with what the reference manager knows of their documents. Raises LongsearchError."""
    sources = [References(references_in_bib(path)) for path in settings.bib]
    if settings.zotero is not None:
        sources.append(References(references_in_zotero(settings.zotero)))
    for source in sources:
        passages = [source.cite(one) for one in passages]
    return passages
