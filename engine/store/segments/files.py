"""The file of a segment: named arrays, one after another, that are mapped into memory. Knows no word and no vector.

The file begins with a header in JSON: the segment's token, which the index repeats, the type, shape and place of each
array, and where the checksums of its blocks are. A file is written under another name and renamed when it is complete.

A block is a row of a matrix (of at most 64 kB), or 4 kB of a vector. It is compared with its checksum when a process
first reads it: the sum of its 64-bit words, each times an odd number of its own, modulo 2^64. The upper 32
bits of it are kept; every change of one bit changes them. numpy compares 7 to 10 GB a second.

Longer than 300 lines because the layout of the file, its writer, its reader and its checksums are one thing.
"""

import json
import math
import mmap
import os
import secrets
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import apsw
import numpy as np
from numpy.typing import DTypeLike, NDArray

from longsearch.engine.platforms.buffers import keep_freed_memory
from longsearch.engine.store import manifest
from longsearch.engine.store.manifest import Kind, Manifest

_MAGIC = b"longsearch segment 1\n"
_HEADER_BYTES = 4096
_BLOCK_BYTES = 4096
_NO_BITS = np.uint64(0)
FACTORS = np.arange(1, 8193, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
"""The odd numbers of the words of a block; a matrix whose rows are longer than these is taken for a vector."""
_ALIGNMENT = 64
_OWN = b', "own": '  # before the checksum of the header itself
_OPEN_FILES = 64  # kept mapped by a process; an index has about ten, and a process may search several
_KEPT_BYTES = 512 << 20
_LET_GO = frozenset({"places", "steps", "pairs", "positions"})  # of which a search reads pieces
_NEAR_BYTES = 16_384  # between two rows that are fetched: to read them too takes no longer
_STATUS = Path("/proc/self/statm")  # Linux: the pages of a process, of which the third number belongs to files
_maps: WeakKeyDictionary[mmap.mmap, list[tuple[int, int]]] = WeakKeyDictionary()
"""For each mapped segment the arrays that are let go: where each begins, and its length."""

Sums = NDArray[np.uint64]
Kept = NDArray[np.uint32] | NDArray[np.uint64]
"""The upper halves of sums; an older longsearch kept all of each."""
Shapes = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]
"""For each array its type and shape."""


def path_of(index: Path, kind: str, token: str) -> Path:
    """The path of a segment of the index at `index`."""
    return index.with_name(f"{index.name}-{kind}-{token}")


class DamagedSegmentError(ValueError):
    """A block of a segment does not have its checksum. The file is deleted, so that the writer makes it anew."""


@dataclass(slots=True, eq=False)
class Arrays(Mapping[str, NDArray[Any]]):
    """The arrays of one segment by name. An array that is asked for by its name is compared whole, once."""

    path: Path
    raw: Mapping[str, NDArray[Any]]
    """The same arrays, of which nothing is compared: who reads rows of a matrix compares these."""
    sums: Mapping[str, Kept]
    """For each array the checksum of each block; a segment of an older longsearch has none."""
    unread: dict[str, NDArray[np.bool_]]
    """For each array the blocks that nobody has read; without those that were read whole."""
    n_left_out: np.uint64 = _NO_BITS
    """The lowest bits of a checksum that are not kept."""
    is_damaged: bool = False
    """Whether a block was found that does not have its checksum."""
    whole: mmap.mmap | None = None
    """The file that holds them."""
    starts: Mapping[str, int] = field(default_factory=dict)
    """Where each array begins in it."""
    n_fetches: int = 4
    """How often rows of `codes` are still fetched. A first search reads those of the nearest, then of candidates."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name in self.unread:
            self.part(name, 0, len(self.raw[name]))
            del self.unread[name]
        return self.raw[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def part(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """What is from `start` to `stop` of a vector, of which only these blocks are compared; or a whole matrix.

        Raises DamagedSegmentError.
        """
        found = self.raw[name]
        if name in self.unread and start < stop:
            a_block = _BLOCK_BYTES // found.itemsize
            is_whole = stop - start == len(found)
            first, end = (0, len(self.sums[name])) if is_whole else (start // a_block, -(-stop // a_block))
            if self.unread[name][first:end].any():
                begin = 0 if is_whole else first * _BLOCK_BYTES
                self.fetch(name, np.array([begin]), min((end - first) * _BLOCK_BYTES, found.nbytes - begin))
                sums = block_sums(found if is_whole else found[first * a_block : end * a_block])
                if not np.array_equal(sums >> self.n_left_out, self.sums[name][first:end]):
                    self.tell(name)
                self.unread[name][first:end] = False
        return found[start:stop]

    def rows(self, name: str, places: NDArray[np.int64]) -> NDArray[Any]:
        """The values at `places` (p,) of a vector; only their blocks are compared. Raises DamagedSegmentError."""
        found = self.raw[name]
        if name in self.unread:
            a_block = _BLOCK_BYTES // found.itemsize
            wanted = np.zeros(len(self.unread[name]), np.bool_)
            wanted[places // a_block] = True
            blocks = np.flatnonzero(wanted & self.unread[name])
            self.fetch(name, blocks * _BLOCK_BYTES, _BLOCK_BYTES)
            for block in blocks.tolist():
                self.part(name, block * a_block, min((block + 1) * a_block, len(found)))
        return found[places]

    def fetch(self, name: str, begins: NDArray[np.intp], n_bytes: int) -> None:
        """Have the system read `n_bytes` at each of these places (ascending) of an array at once, and what is between.

        By itself it reads much around each: the first search of a process read all codes of a million passages.
        """
        if self.whole is None or not len(begins):
            return
        borders = np.flatnonzero(np.diff(begins) > n_bytes + _NEAR_BYTES) + 1
        firsts, lasts = begins[np.append(0, borders)], begins[np.append(borders - 1, -1)]
        for first, length in zip(firsts.tolist(), (lasts - firsts + n_bytes).tolist(), strict=True):
            start = self.starts[name] + first
            before = start % mmap.PAGESIZE  # madvise takes whole pages
            with suppress(OSError):  # it is a hint
                self.whole.madvise(mmap.MADV_WILLNEED, start - before, before + length)

    def tell(self, name: str) -> NoReturn:
        """Delete the file, of which this array does not have its checksum. Raises DamagedSegmentError."""
        self.is_damaged = True
        with suppress(OSError):  # read-only, or mapped by Windows: whoever opens it finds it again
            self.path.unlink(missing_ok=True)
        raise DamagedSegmentError(f"{self.path.name}: {name} does not have its checksum")


@dataclass(slots=True, eq=False)
class Segments:
    """The segments of an index at one moment. Each part is read once, when it is first asked for."""

    db: apsw.Connection
    _manifests: dict[Kind, Manifest] = field(default_factory=dict)
    _opened: dict[Kind, list[tuple[Arrays, NDArray[np.int64]]] | None] = field(default_factory=dict)
    phrases: dict[tuple[Path, Hashable], tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=dict)
    """Who holds a phrase in a segment, and how often: it is asked which passages must hold it, and how they rank."""

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
            let_pages_go()
            index, listed, found = Path(self.db.filename), self.manifest(kind), []
            try:
                for one in listed.segments:
                    found.append((mapped(path_of(index, kind, one.token), one.token), listed.dead(one)))
            except (OSError, ValueError, KeyError):
                found = []
            self._opened[kind] = None if any(arrays.is_damaged for arrays, _ in found) else found or None
        return self._opened[kind]

    def leave(self) -> None:
        """Use no segment any more, as if all were missing: one turned out to be damaged."""
        self._opened = dict.fromkeys(Kind)


def let_pages_go(kept_bytes: int = _KEPT_BYTES) -> None:
    """Give back the memory of postings if files fill more than `kept_bytes` of this process.

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
    arrays, places, size = _layout(shapes)
    try:
        with os.fdopen(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600), "wb"
        ) as file:
            file.write(_header(token, size, arrays, {}))
            yield token, SegmentWriter(file, places)
            file.truncate(size)
            _add_checksums(file, new, token, arrays, size)
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
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if not head.startswith(_MAGIC) or len(head) < _HEADER_BYTES:
        raise ValueError(f"{path.name} is no segment")
    content, _, own_checksum = head[len(_MAGIC) :].rstrip(b"\0").rpartition(_OWN)
    try:
        header = json.loads(content + b"}" if content else own_checksum)
    except RecursionError as error:  # endless brackets
        raise ValueError(f"the header of {path.name} is damaged") from error
    if ("checksums" in header or content) and own_checksum != b"%d}" % zlib.crc32(content):
        raise ValueError(f"the header of {path.name} does not have its checksum")
    if header["token"] != token or header["size"] != len(whole):
        raise ValueError(f"{path.name} is another segment, or incomplete")
    arrays = {
        name: np.frombuffer(whole, dtype, int(np.prod(shape, dtype=np.int64)), start).reshape(shape)
        for name, (dtype, shape, start) in header["arrays"].items()
    }
    sum_type = np.dtype(header.get("checksum", "<u8"))  # an older longsearch kept all bits
    known = header.get("checksums", {}).items()
    sums = {name: np.frombuffer(whole, sum_type, n, start) for name, (n, start) in known}
    _maps[whole] = [
        (start - start % mmap.PAGESIZE, arrays[name].nbytes)  # madvise takes whole pages
        for name, (_, _, start) in header["arrays"].items()
        if name in _LET_GO and arrays[name].nbytes
    ]
    unread = {name: np.ones(len(own), np.bool_) for name, own in sums.items()}
    starts = {name: start for name, (_, _, start) in header["arrays"].items()}
    n_left_out = np.uint64(64 - 8 * sum_type.itemsize)
    held = whole if hasattr(whole, "madvise") else None
    return Arrays(path, arrays, sums, unread, n_left_out, whole=held, starts=starts)


def _add_checksums(file: Any, path: Path, token: str, arrays: Mapping[str, Any], size: int) -> None:
    """Write the checksums of all arrays behind them, and where they are into the header."""
    file.flush()
    places = {}
    for name, array in mapped.__wrapped__(path, token).raw.items():
        sums = block_sums(array)
        start = -(-size // _ALIGNMENT) * _ALIGNMENT
        file.seek(start)
        size = start + file.write((sums >> np.uint64(32)).astype("<u4").tobytes())
        places[name] = len(sums), start
    file.truncate(size)
    file.seek(0)
    file.write(_header(token, size, arrays, places))


def _layout(shapes: Shapes) -> tuple[dict[str, Any], dict[str, tuple[np.dtype[Any], int, int]], int]:
    """(arrays as in the header, for each its type and where it begins and ends, size of the file so far)."""
    arrays: dict[str, tuple[str, tuple[int, ...], int]] = {}
    places: dict[str, tuple[np.dtype[Any], int, int]] = {}
    end = _HEADER_BYTES
    for name, (dtype, shape) in shapes.items():
        kind = np.dtype(dtype)
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        end = start + int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        places[name] = kind, start, end
        arrays[name] = kind.str, tuple(map(int, shape)), start
    return arrays, places, end


def _header(token: str, size: int, arrays: Mapping[str, Any], checksums: Mapping[str, tuple[int, int]]) -> bytes:
    """The first bytes of the file; `checksums`: their number and place for each array."""
    known = {"token": token, "size": size, "arrays": arrays, "checksum": "<u4", "checksums": checksums}
    content = json.dumps(known).encode().removesuffix(b"}")
    return (_MAGIC + content + _OWN + b"%d}" % zlib.crc32(content)).ljust(_HEADER_BYTES, b"\0")


def block_sums(array: NDArray[Any]) -> Sums:
    """The checksum of each block of an array."""
    content = np.ascontiguousarray(array).view(np.uint8)
    if array.ndim == 1 or content.shape[1] > FACTORS.nbytes:
        content = content.reshape(-1)
        whole = len(content) // _BLOCK_BYTES * _BLOCK_BYTES
        rest = np.zeros((1 if whole < len(content) else 0, _BLOCK_BYTES), np.uint8)
        rest[:, : len(content) - whole] = content[whole:]
        return np.concatenate([block_sums(content[:whole].reshape(-1, _BLOCK_BYTES)), block_sums(rest)])
    words = content.view(f"<u{math.gcd(content.shape[1], 8)}")
    sums: Sums = words @ FACTORS[: words.shape[1]]
    return sums
