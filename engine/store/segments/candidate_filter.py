"""Which passages a search may find, by their documents and by what they hold. Reads FTS5 expressions.

An expression, as `index.lookup` writes it, is a form in quotation marks. A star at its end stands for any ending of the
word. `NEAR("one" "other", 5)` is an expression too, and so are several in brackets with OR, AND or NOT between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.store import documents

_DENSE = 32  # so many ids to each that is wanted
TOKEN = late_pattern(r'"(?:[^"]|"")*"\*?|NEAR\(|[()]|AND|OR|NOT|\d+')
_SIGNS = ("OR", "AND", "NOT")
Set = TypeVar("Set")
Ids = NDArray[np.int64] | NDArray[np.uint32]
"""Ids of passages; those of a segment may have four bytes."""


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """A passage is allowed if no field excludes it."""

    documents: NDArray[np.int64] | None = None
    """Ids of documents, ascending: only their passages; None for all."""
    holding: NDArray[np.int64] | None = None
    """Ids of passages, ascending: only these; None for all."""
    excluded: NDArray[np.int64] | None = None
    """Ids of passages, ascending: none of these."""

    @property
    def is_empty(self) -> bool:
        """Whether it is plain that no passage is allowed."""
        return any(ids is not None and not len(ids) for ids in (self.documents, self.holding))

    def mask(self, passage_ids: Ids, document_ids: NDArray[np.int64], first_of: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,): whether each of these passages (n,) is allowed. Those of document i begin at `first_of[i]`."""
        if self.documents is None:
            mask = np.ones(len(passage_ids), np.bool_)
        else:
            mask = np.repeat(among(document_ids, self.documents), np.diff(first_of))
        if self.holding is not None:
            mask &= among(passage_ids, self.holding)
        if self.excluded is not None:
            mask &= ~among(passage_ids, self.excluded)
        return mask

    def admitted(self, passage_ids: NDArray[np.int64], document_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of these passages (n,), ascending, that are allowed; `document_ids` (n,): the document of each."""
        mask = np.ones(len(passage_ids), np.bool_)
        if self.documents is not None:
            mask &= np.isin(document_ids, self.documents)
        if self.holding is not None:
            mask &= among(passage_ids, self.holding)
        if self.excluded is not None:
            mask &= ~among(passage_ids, self.excluded)
        return passage_ids[mask]

    def ids(self, db: apsw.Connection) -> NDArray[np.int64]:
        """The ids of all allowed passages, ascending, for the slow twins."""
        if self.documents is not None:
            found = documents.passages_of(db, self.documents.tolist())
        else:
            found = documents.all_passages(db) if self.holding is None else self.holding
        if self.holding is not None:
            found = np.intersect1d(found, self.holding, assume_unique=True)
        return found if self.excluded is None else np.setdiff1d(found, self.excluded, assume_unique=True)


def among(ids: Ids, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,): whether each of `ids` (n,), ascending, is one of `wanted`, ascending."""
    if len(ids) and ids[-1] - ids[0] <= _DENSE * len(wanted):
        # among a million a flag for each is found in 5 ms, not 40
        flags = np.zeros(ids[-1] - ids[0] + 1, np.bool_)
        flags[wanted[slice(*np.searchsorted(wanted, (ids[0], ids[-1] + 1)))] - ids[0]] = True
        is_wanted: NDArray[np.bool_] = flags[ids - ids[0]]
        return is_wanted
    mask = np.zeros(len(ids), np.bool_)
    mask[places_among(ids, wanted)[0]] = True
    return mask


def places_among(ids: Ids, wanted: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(where in `ids`, where in `wanted`) are the ids that both hold; both ascend."""
    places = np.searchsorted(ids, wanted.astype(ids.dtype))  # of the same type: otherwise numpy converts all ids first
    found = places < len(ids)
    found[found] = ids[places[found]] == wanted[found]
    return places[found], np.flatnonzero(found)


class Sets(Protocol[Set]):
    """Makes sets of passages, and joins two of them."""

    def held(self, form: str) -> Set:
        """Those that hold a form."""

    def near(self, forms: Sequence[str], within: int) -> Set:
        """Those that hold these forms with at most `within` words between."""

    def either(self, one: Set, other: Set) -> Set:
        """Those in any of the two."""

    def both(self, one: Set, other: Set) -> Set:
        """Those in both."""

    def without(self, one: Set, other: Set) -> Set:
        """Those in the first alone."""


def evaluated(left: list[str], sets: Sets[Set], level: int = 0) -> Set:
    """The passages that match an expression, given as its tokens, the last one first; takes these away.

    NOT binds most, then AND, then OR, as in FTS5. At `level` 0 any sign joins, at 1 AND and NOT, at 2 NOT.
    """
    if level < len(_SIGNS):
        found = evaluated(left, sets, level + 1)
        while left and left[-1] == _SIGNS[level]:
            left.pop()
            join = (sets.either, sets.both, sets.without)[level]
            found = join(found, evaluated(left, sets, level + 1))
        return found
    read = left.pop()
    if read[0] == '"':
        return sets.held(read)
    if read == "(":
        found = evaluated(left, sets)
        left.pop()
        return found
    forms = []
    while left[-1][0] == '"':
        forms.append(left.pop())
    within, _ = int(left.pop()), left.pop()
    return sets.near(forms, within)
