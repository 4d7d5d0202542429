"""Chooses the width of a nested model (MatMamba) for this machine and this moment. Pure: facts in, widths out.

A narrower model reads faster and finds a little less. The bundled model at 1/2 reads 1.4 to 1.9 times as many tokens a
second and loses 0.2 points of nDCG@10, at 1/4 1.7 to 2.9 times as many and 0.6 points (means of eight sets, see
assets/model). At 1/8 it loses 1.9 points, which no saving is worth. So the full width is the rule; an exception must
save much time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longsearch.engine.amounts import duration, quantity
from longsearch.engine.widths import as_fractions

if TYPE_CHECKING:
    from longsearch.engine.types.progress import IndexProgress

LITTLE_TOKENS = 200_000
"""Fewer tokens than this are read at full width on any machine: they take ten minutes even at 330 tokens a second."""
GAIN = {1.0: 1.0, 0.5: 1.4, 0.25: 1.7}
"""How many times as many tokens a second each width reads: the least that was measured on any processor."""
MAINS_S = {0.5: 600.0, 0.25: 8 * 3600.0}
"""A width may be chosen if reading at full width would take longer than this: ten minutes, or a night."""
BATTERY_S = {0.5: 600.0, 0.25: 3600.0}
"""The same on battery, where reading also costs hours of the battery's life."""
SLOW_QUERY_S = 0.25
"""A query whose vector takes longer is felt as a pause."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The facts on which a width depends."""

    widths: tuple[float, ...]
    """That the model was trained at."""
    asked: float | None = None
    """The width that the person asked for; None: choose."""
    is_on_gpu: bool = False
    is_on_battery: bool = False
    n_tokens_waiting: int = 0
    """Tokens of documents that are to be read."""
    tokens_per_s: float | None = None
    """The speed of this machine at full width; None: not measured."""
    query_s: float | None = None
    """Seconds that the vector of a query takes at full width; None: not measured."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A width, and the reason for it in a few plain words."""

    width: float
    reason: str


def width_of_documents(moment: Moment) -> Choice:
    """Choose the width for documents that begin now."""
    if len(moment.widths) == 1:
        return Choice(moment.widths[0], "the model has no other")
    if moment.asked is not None:
        return _asked_for(moment.asked, moment.widths)
    if moment.is_on_gpu:
        return Choice(1.0, "a GPU reads fast enough")
    if moment.n_tokens_waiting < LITTLE_TOKENS:
        return Choice(1.0, "little waits to be read")
    if not moment.tokens_per_s:
        return Choice(1.0, "the speed of this machine is not measured yet")
    takes_s = moment.n_tokens_waiting / moment.tokens_per_s
    limits = BATTERY_S if moment.is_on_battery else MAINS_S
    width = min((w for w in _usable(moment) if w == 1 or takes_s > limits[w]), default=1.0)
    supply = " on battery" if moment.is_on_battery else ""
    waits = f"{quantity(moment.n_tokens_waiting)} tokens wait"
    if width == 1:
        return Choice(1.0, f"{waits}, {duration(takes_s)} of reading{supply}")
    return Choice(width, f"{waits}, {duration(takes_s)} of reading at full width{supply}")


def width_of_queries(moment: Moment) -> Choice:
    """Choose the width for queries. They may be narrower than documents, for all widths share one space."""
    if len(moment.widths) == 1:
        return Choice(moment.widths[0], "the model has no other")
    if moment.asked == 1:
        return Choice(1.0, "asked for")
    if moment.query_s is None:
        return Choice(1.0, "no query was slow yet")
    takes = f"a query takes {moment.query_s * 1000:.0f} ms"
    if moment.query_s <= SLOW_QUERY_S:
        return Choice(1.0, takes)
    fast = [width for width in _usable(moment) if moment.query_s / GAIN[width] <= SLOW_QUERY_S]
    return Choice(max(fast, default=min(_usable(moment))), f"{takes} at full width")


def choices_to_json(widths: tuple[float, ...], documents: Choice, queries: Choice) -> dict[str, Any]:
    """Return the choices for a model of these widths as the JSON object that the documentation describes."""
    return {
        "has_others": len(widths) > 1,
        "documents": documents.width,
        "documents_reason": documents.reason,
        "queries": queries.width,
        "queries_reason": queries.reason,
    }


def describe_choices(choices: Mapping[str, Any]) -> str:
    """Say in words what `choices_to_json` returns."""
    kinds = ("documents", "queries")
    return ", ".join(f"{as_fractions(choices[kind])} for {kind} ({choices[f'{kind}_reason']})" for kind in kinds)


def describe_narrow(progress: "IndexProgress", folder: str) -> str:
    """Say how many documents of an index were read at part of the width, and what to do; "" if none were."""
    if not progress.n_narrow:
        return ""
    were = "document was" if progress.n_narrow == 1 else "documents were"
    return (
        f"{progress.n_narrow:,} {were} read at part of the model's width;"
        f" to read them again at full width: longsearch index {folder} --deepen"
    )


def _usable(moment: Moment) -> list[float]:
    """Return the widths of the model that may be chosen without being asked for."""
    return [width for width in moment.widths if width in GAIN]


def _asked_for(asked: float, widths: tuple[float, ...]) -> Choice:
    """Return the width asked for, or the next wider one that the model was trained at."""
    width = min((w for w in widths if w >= asked), default=max(widths))
    return Choice(
        width, "asked for" if width == asked else f"{as_fractions(asked)} was asked for, the model has no such width"
    )
