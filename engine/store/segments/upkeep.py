"""Writes segments of what has none, merges small ones, and deletes files that do not count any more.

Sizes go as in a binary counter: a new segment is merged with the one before it as long as that is less than twice as
large. So an index of a million passages has about ten segments, and a passage is written about ten times.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import documents, keywords, manifest
from longsearch.engine.store.manifest import Kind, Listed, Manifest
from longsearch.engine.store.segments.candidate_filter import places_among
from longsearch.engine.store.segments.files import Arrays, DamagedSegmentError, all_of, mapped, path_of
from longsearch.engine.store.segments.postings import document_starts
from longsearch.engine.store.segments.vector_maker import VectorMaker
from longsearch.engine.store.segments.word_maker import WordMaker

log = logging.getLogger("longsearch.segments")

LEAST_PASSAGES = 5_000
"""An index with fewer passages has no segments: FTS5 and sqlite-vec take a few milliseconds."""
CHECK_EVERY = 1_000
"""New passages after which the writer writes a segment: until then a search reads them one by one."""
_WRITTEN_AT_ONCE = 32_768  # passages of a segment that is made of texts or of whole vectors: 400 MB of tokens
_MAX_OUTDATED = 1_000  # in a large index an eighth
_PASSAGES_PER_DOCUMENT = 32  # that many fewer documents than passages make a segment
_Maker = WordMaker | VectorMaker
_MAKERS: Sequence[_Maker] = (WordMaker(), VectorMaker(Kind.VECTORS), VectorMaker(Kind.DOCUMENTS))


def refresh(db: apsw.Connection, index: Path, is_idle: bool = False) -> None:
    """Write and merge what is due. If the writer `is_idle`, also the last few new passages.

    On a full disk nothing is written, which costs only speed.
    """
    for maker in _MAKERS:
        try:
            _refresh(db, index, maker, is_idle)
        except DamagedSegmentError as error:
            log.warning("the segments of %s are made anew: %s", maker.kind, error)
            _refresh(db, index, maker, is_idle)
        except OSError as error:
            log.warning("no segment of %s was written: %s", maker.kind, error)
    if is_idle:
        keywords.forget_words()


def sweep(db: apsw.Connection, index: Path) -> None:
    """Delete segment files that do not count, and the copy of vectors that older versions wrote."""
    counting = {
        path_of(index, maker.kind, one.token) for maker in _MAKERS for one in manifest.read(db, maker.kind).segments
    }
    for path in (*all_of(index), index.with_name(index.name + "-int8")):
        if path not in counting:
            with suppress(OSError):  # Windows keeps a file that a reader has mapped
                path.unlink(missing_ok=True)


def _refresh(db: apsw.Connection, index: Path, maker: _Maker, is_idle: bool) -> None:
    listed = manifest.read(db, maker.kind)
    share = _PASSAGES_PER_DOCUMENT if maker.kind is Kind.DOCUMENTS else 1
    if maker.count(db) < max(1, LEAST_PASSAGES // share):
        return manifest.forget(db, maker.kind)
    if not _is_whole(index, listed):
        listed = Manifest(maker.kind, (), maker.all_ids(db), np.empty((0, 2), np.int64))
    n = sum(one.n for one in listed.segments)
    is_worn = len(listed.outdated) > max(_MAX_OUTDATED, n // 8) or (
        is_idle and _has_wide_postings(index, maker, listed)
    )
    if len(listed.fresh) < (1 if is_idle else max(1, CHECK_EVERY // share)) and not is_worn:
        return None
    segments = list(listed.segments)
    for ids in _cut(db, maker, listed.fresh):
        if len(ids):
            number = segments[-1].number + 1 if segments else 1
            segments.append(Listed(number, maker.write(db, index, ids), len(ids)))
            _merge_due(index, maker, segments, listed, is_all=False)
    if is_worn:
        _rewrite(index, maker, segments, listed)
    manifest.list_segments(db, maker.kind, segments)
    manifest.keep_outdated(db, maker.kind, _still_outdated(index, maker, segments, listed))
    return None


def _cut(db: apsw.Connection, maker: _Maker, ids: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Cut these ids (ascending) into those of each new segment.

    The words of a document come into one segment, so that documents can be counted segment by segment.
    """
    borders = np.arange(_WRITTEN_AT_ONCE, len(ids), _WRITTEN_AT_ONCE)
    if maker.kind is Kind.WORDS and len(borders):
        document_of = documents.documents_of(db, ids.tolist())
        _, first_of = document_starts(np.array([document_of[id_] for id_ in ids.tolist()], np.int64))
        borders = np.unique(first_of[np.searchsorted(first_of, borders, "right") - 1])
    return np.split(ids, borders)


def _is_whole(index: Path, listed: Manifest) -> bool:
    """Whether there are segments, and their files are there, complete and as this longsearch writes them."""
    try:
        paths = [path_of(index, listed.kind, one.token) for one in listed.segments]
        found = [mapped(path, one.token) for path, one in zip(paths, listed.segments, strict=True)]
        has_all = all(path.exists() for path in paths)  # whoever finds damage deletes a file, which may be mapped here
        has_all &= listed.kind is not Kind.WORDS or all("positions" in one.raw for one in found)
        has_all &= not any("rests" in one.raw for one in found)  # until schema 18 vectors were in twice int8
        return bool(found) and has_all and all(one.sums and not one.is_damaged for one in found)
    except (OSError, ValueError, KeyError):
        return False


def _has_wide_postings(index: Path, maker: _Maker, listed: Manifest) -> bool:
    """Whether places and counts of words have more bytes than today, as an older longsearch wrote them."""
    own = listed.segments if maker.kind is Kind.WORDS else ()
    return any("pairs" not in _arrays(index, maker, one).raw for one in own)


def _merge_due(index: Path, maker: _Maker, segments: list[Listed], listed: Manifest, is_all: bool) -> None:
    """Merge the last segments, in place; all of them if `is_all`."""
    while len(segments) > 1 and (is_all or segments[-2].n < 2 * segments[-1].n):
        first, second = segments[-2:]
        arrays = _arrays(index, maker, first), _arrays(index, maker, second)
        alive = _alive(arrays[0], listed.dead(first)), _alive(arrays[1], listed.dead(second))
        token = maker.merge(index, arrays, alive)
        segments[-2:] = [Listed(second.number, token, int(alive[0].sum() + alive[1].sum()))]


def _rewrite(index: Path, maker: _Maker, segments: list[Listed], listed: Manifest) -> None:
    """Merge all segments, in place, so that none holds a passage that has gone."""
    if len(segments) > 1:
        return _merge_due(index, maker, segments, listed, is_all=True)
    arrays = _arrays(index, maker, segments[0])
    alive = _alive(arrays, listed.dead(segments[0]))
    token = maker.merge(index, (arrays, arrays), (alive, np.zeros_like(alive)))
    segments[:] = [Listed(segments[0].number + 1, token, int(alive.sum()))]
    return None


def _still_outdated(index: Path, maker: _Maker, segments: Sequence[Listed], listed: Manifest) -> NDArray[np.int64]:
    """The rows of `listed.outdated` about which one of these segments is wrong."""
    held = np.zeros(len(listed.outdated), np.bool_)
    for one in segments:
        ids = _arrays(index, maker, one)["ids"]
        is_wrong = listed.outdated[:, 1] >= one.number
        is_wrong[is_wrong] = np.isin(listed.outdated[is_wrong, 0], ids, assume_unique=True)
        held |= is_wrong
    return listed.outdated[held]


def _arrays(index: Path, maker: _Maker, segment: Listed) -> Arrays:
    return mapped(path_of(index, maker.kind, segment.token), segment.token)


def _alive(segment: Arrays, dead: NDArray[np.int64]) -> NDArray[np.bool_]:
    alive = np.ones(len(segment["ids"]), np.bool_)
    alive[places_among(segment["ids"], dead)[0]] = False
    return alive
