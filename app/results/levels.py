"""Leaves out hits that are hardly better than chance."""

from typing import TYPE_CHECKING

from longsearch.engine.amounts import counted

if TYPE_CHECKING:
    from longsearch.engine.types import SearchResults

LEVELS = ("chance", "weak", "good")
"""The values of `engine.types.ChanceLevel`, which is not imported here because it takes 20 ms."""


def at_least(results: "SearchResults", level: str) -> "SearchResults":
    """Return the results without the hits below this level; a hit whose level is unknown stays."""
    from dataclasses import replace

    kept = tuple(
        hit for hit in results.hits if hit.level is None or LEVELS.index(hit.level.value) >= LEVELS.index(level)
    )
    n_left_out = len(results.hits) - len(kept)
    if not n_left_out:
        return results
    note = f"{counted(n_left_out, 'document')} left out: below {level}"
    return replace(results, hits=kept, note="; ".join(filter(None, (results.note, note))))
