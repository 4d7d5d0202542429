"""Finds what supports the claims of a draft: of each sentence that cites, the nearest passage of the source it cites.

It never says that a claim is true. It shows where to look, and which citations lead to no document.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longsearch.app.evidence.sources import Sources
from longsearch.app.evidence.verifying import nearest
from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.scope import Scope
from longsearch.engine.citing.drafts import Claim
from longsearch.engine.types.results import ChanceLevel, Quotation

_MOST = 5
"""Documents of a source that are searched for one claim."""
_LEVELS = {ChanceLevel.GOOD: 3, ChanceLevel.WEAK: 2, None: 1, ChanceLevel.CHANCE: 0}


@dataclass(frozen=True, slots=True)
class Support:
    """What a cited source says that is nearest to a claim."""

    claim: Claim
    place: Quotation | None
    """None if no document is known as the source, or none says anything near."""
    level: ChanceLevel | None
    """How much better than chance the place is; None if that is unknown."""
    note: str
    """Which of the citations lead to no document, or ""."""


def supports(
    scope: Scope, claims: Sequence[Claim], source: VectorSource, file: Path | None = None
) -> Iterator[Support]:
    """Yield what supports each claim best. `file`: the draft, beside which links and `.bib` files are looked for."""
    sources = Sources(scope, source, file)
    for claim in claims:
        note = "; ".join(filter(None, map(sources.missing, claim.cited)))
        paths = sorted(frozenset[str]().union(*map(sources.documents, claim.cited)))[:_MOST]
        found = [near for path in paths if (near := nearest(scope, claim.text, source, path))]
        place, level = max(found, key=lambda one: _LEVELS[one[1]], default=(None, None))
        yield Support(claim, place, level, note)
