"""The file of a segment: named arrays, one after another, that are mapped into memory. Knows no word and no vector.

The file begins with its length, then a header in JSON: the segment's token, which the index repeats, and the type,
shape and place of each array. A file is written under another name and renamed when it is complete.
"""

import json
import mmap
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import apsw
import numpy as np
from numpy.typing import DTypeLike, NDArray

from longsearch.engine.platforms.buffers import keep_freed_memory
from longsearch.engine.store import manifest
from longsearch.engine.store.manifest import Kind, Manifest

_MAGIC = b"longsearch segment 1\n"
_HEADER_BYTES = 4096
_ALIGNMENT = 64
_OPEN_FILES = 64  # kept mapped by a process; an index has about ten, and a process may search several
_KEPT_BYTES = 512 << 20
_LET_GO = frozenset({"places", "counts", "rests"})  # a search reads a few long pieces of them, or a few rows
_STATUS = Path("/proc/self/statm")  # Linux: the pages of a process, of which the third number belongs to files
_maps: WeakKeyDictionary[mmap.mmap, list[tuple[int, int]]] = WeakKeyDictionary()
"""For each mapped segment the arrays that are let go: where each begins, and its length."""

Arrays = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]
"""For each array its type and shape."""


def path_of(index: Path, kind: str, token: str) -> Path:
    """The path of a segment of the index at `index`."""
    return index.with_name(f"{index.name}-{kind}-{token}")


class Segments:
    """The segments of an index at one moment. Each part is read once, when it is first asked for."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self._manifests: dict[Kind, Manifest] = {}
        self._opened: dict[Kind, list[tuple[Arrays, NDArray[np.int64]]] | None] = {}

    def manifest(self, kind: Kind) -> Manifest:
        """What the index says about the segments of this kind."""
        if kind not in self._manifests:
            self._manifests[kind] = manifest.read(self.db, kind)
        return self._manifests[kind]

    def opened(self, kind: Kind) -> list[tuple[Arrays, NDArray[np.int64]]] | None:
        """The arrays of each segment that counts, and the ids about which it is wrong.

        None if there are none, or if one is missing or damaged.
        """
        if kind not in self._opened:
            self._opened[kind] = _opened(Path(self.db.filename), self.manifest(kind))
        return self._opened[kind]


def _opened(index: Path, listed: Manifest) -> list[tuple[Arrays, NDArray[np.int64]]] | None:
    let_pages_go()
    try:
        found = [
            (mapped(path_of(index, listed.kind, one.token), one.token), listed.dead(one)) for one in listed.segments
        ]
    except (OSError, ValueError, KeyError):
        return None
    return found or None


def let_pages_go(kept_bytes: int = _KEPT_BYTES) -> None:
    """Give back the memory of postings and rests if files fill more than `kept_bytes` of this process.

    The system keeps these pages in its own cache. Without this, a process that has searched a million passages a
    hundred times holds 1 GB of them. Signs and codes stay: a search reads 6,000 rows of codes from all over the file,
    and to map these again takes 25 ms.
    """
    if _STATUS.exists() and int(_STATUS.read_text().split()[2]) * mmap.PAGESIZE > kept_bytes:
        for one, pieces in tuple(_maps.items()):
            for start, n_bytes in pieces:
                one.madvise(mmap.MADV_DONTNEED, start, n_bytes)


def all_of(index: Path) -> list[Path]:
    """Every segment file beside the index at `index`, also those that do not count any more or not yet."""
    return [path for kind in Kind for path in index.parent.glob(f"{index.name}-{kind}-*")]


class SegmentWriter:
    """Writes the arrays of a segment in blocks, each array from its beginning to its end, in the order of `shapes`."""

    def __init__(self, file: Any, places: Mapping[str, tuple[np.dtype[Any], int, int]]) -> None:
        """`places`: for each array its type, and where it begins and ends in the file."""
        self._file, self._places = file, places

    def write(self, name: str, blocks: Iterable[NDArray[Any]]) -> None:
        """Write the whole array `name`. Raises ValueError if the blocks do not fill it."""
        dtype, start, stop = self._places[name]
        self._file.seek(start)
        for block in blocks:
            self._file.write(np.ascontiguousarray(block, dtype).data)
        if self._file.tell() != stop:
            raise ValueError(f"{name} has {self._file.tell() - start} bytes, not {stop - start}")

    def write_together(self, names: Sequence[str], blocks: Iterable[Sequence[NDArray[Any]]]) -> None:
        """Write several arrays at once, from blocks of all of them. Raises ValueError as `write` does."""
        ends = [self._places[name][1] for name in names]
        for block in blocks:
            for number, (name, part) in enumerate(zip(names, block, strict=True)):
                self._file.seek(ends[number])
                ends[number] += self._file.write(np.ascontiguousarray(part, self._places[name][0]).data)
        for name, end in zip(names, ends, strict=True):
            if end != self._places[name][2]:
                raise ValueError(f"{name} ends at byte {end}, not {self._places[name][2]}")


@contextmanager
def writing(index: Path, kind: str, shapes: Shapes) -> Iterator[tuple[str, SegmentWriter]]:
    """Yield the token of a new segment and its writer. On an error, no file is left. Raises OSError on a full disk."""
    token = secrets.token_hex(8)
    path = path_of(index, kind, token)
    new = path.with_name(path.name + ".new")
    header, places, size = _layout(token, shapes)
    try:
        with os.fdopen(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600), "wb"
        ) as file:
            file.write(header)
            yield token, SegmentWriter(file, places)
            file.truncate(size)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


@lru_cache(_OPEN_FILES)
def mapped(path: Path, token: str) -> Arrays:
    """The arrays of a segment, mapped into memory. Raises OSError or ValueError if this is not the whole file."""
    keep_freed_memory()  # a search among a million passages needs buffers of 20 MB
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
        size = os.fstat(file.fileno()).st_size
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if not head.startswith(_MAGIC) or len(head) < _HEADER_BYTES:
        raise ValueError(f"{path.name} is no segment")
    header = json.loads(head[len(_MAGIC) :].rstrip(b"\0"))
    if header["token"] != token or header["size"] != size:
        raise ValueError(f"{path.name} is another segment, or incomplete")
    arrays = {
        name: np.frombuffer(whole, dtype, int(np.prod(shape, dtype=np.int64)), start).reshape(shape)
        for name, (dtype, shape, start) in header["arrays"].items()
    }
    _maps[whole] = [
        (start - start % mmap.PAGESIZE, arrays[name].nbytes)  # madvise takes whole pages
        for name, (_, _, start) in header["arrays"].items()
        if name in _LET_GO and arrays[name].nbytes
    ]
    return arrays


def _layout(token: str, shapes: Shapes) -> tuple[bytes, dict[str, tuple[np.dtype[Any], int, int]], int]:
    """(header, for each array its type and where it begins and ends, size of the file)."""
    arrays: dict[str, tuple[str, tuple[int, ...], int]] = {}
    places: dict[str, tuple[np.dtype[Any], int, int]] = {}
    end = _HEADER_BYTES
    for name, (dtype, shape) in shapes.items():
        kind = np.dtype(dtype)
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = start + int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        places[name] = kind, start, end
        arrays[name] = kind.str, tuple(map(int, shape)), start
    header = _MAGIC + json.dumps({"token": token, "size": end, "arrays": arrays}).encode()
    return header.ljust(_HEADER_BYTES, b"\0"), places, end
