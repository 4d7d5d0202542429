"""What the index says about its segments: which count, what none of them has, and what they are wrong about.

As long as a kind has no segment, nothing is noted for it: then the first segments are made of all passages.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import apsw
import numpy as np
from numpy.typing import NDArray


class Kind(StrEnum):
    """What a segment holds, and of what."""

    WORDS = "words"
    """The words of passages."""
    VECTORS = "vectors"
    """The vectors of passages."""
    DOCUMENTS = "documents"
    """The vectors of documents."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A segment that counts."""

    number: int
    """Higher: written later."""
    token: str
    """Names its file."""
    n: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """All segments of one kind at one moment."""

    kind: Kind
    segments: tuple[Listed, ...]
    """Oldest first."""
    fresh: NDArray[np.int64]
    """Ids of passages or documents that no segment has as they are now, ascending."""
    outdated: NDArray[np.int64]
    """(n, 2): ids, ascending, and the last segment number that is wrong about each."""

    def dead(self, segment: Listed) -> NDArray[np.int64]:
        """Ids about which this segment is wrong: they are gone, or another segment or the index knows better."""
        dead: NDArray[np.int64] = self.outdated[self.outdated[:, 1] >= segment.number, 0]
        return dead


def read(db: apsw.Connection, kind: Kind) -> Manifest:
    """What the index says about the segments of this kind."""
    rows = db.execute("SELECT number, token, n FROM segments WHERE kind = ? ORDER BY number", (kind,))
    segments = tuple(Listed(*row) for row in rows)
    fresh = db.execute("SELECT id FROM fresh_ids WHERE kind = ? ORDER BY 1", (kind,)).fetchall()
    outdated = db.execute("SELECT id, number FROM outdated_ids WHERE kind = ? ORDER BY 1", (kind,))
    return Manifest(
        kind, segments, np.array(fresh, np.int64).reshape(-1), np.array(outdated.fetchall(), np.int64).reshape(-1, 2)
    )


def note_added(db: apsw.Connection, kind: Kind, ids: Iterable[int]) -> None:
    """Note that these passages have new words, or these passages or documents a new vector."""
    if _last_number(db, kind) is not None:
        rows = ((kind, id_) for id_ in ids)
        db.executemany("INSERT OR IGNORE INTO fresh_ids VALUES (?, ?)", rows)


def note_removed(db: apsw.Connection, kind: Kind, given: Sequence[int]) -> None:
    """Note that these passages are no longer in the word index, or that these vectors are gone."""
    last = _last_number(db, kind)
    if last is not None:
        ids = json.dumps(list(given))
        db.execute("DELETE FROM fresh_ids WHERE kind = ? AND id IN (SELECT value FROM json_each(?))", (kind, ids))
        db.execute("INSERT OR REPLACE INTO outdated_ids SELECT ?, value, ? FROM json_each(?)", (kind, last, ids))


def list_segments(db: apsw.Connection, kind: Kind, segments: Sequence[Listed]) -> None:
    """Let these segments count in place of all others. Together they must hold everything as it is now."""
    forget(db, kind)
    db.executemany(
        "INSERT INTO segments VALUES (?, ?, ?, ?)", ((kind, one.number, one.token, one.n) for one in segments)
    )


def keep_outdated(db: apsw.Connection, kind: Kind, outdated: NDArray[np.int64]) -> None:
    """Note again what the listed segments are wrong about; `outdated` as in `Manifest`."""
    rows = ((kind, id_, number) for id_, number in outdated.tolist())
    db.executemany("INSERT OR REPLACE INTO outdated_ids VALUES (?, ?, ?)", rows)


def forget(db: apsw.Connection, kind: Kind) -> None:
    """Let no segment of this kind count."""
    for table in ("segments", "fresh_ids", "outdated_ids"):
        db.execute(f"DELETE FROM {table} WHERE kind = ?", (kind,))  # noqa: S608 - constants


def _last_number(db: apsw.Connection, kind: Kind) -> int | None:
    number = db.execute("SELECT max(number) FROM segments WHERE kind = ?", (kind,)).get
    return None if number is None else int(number)
