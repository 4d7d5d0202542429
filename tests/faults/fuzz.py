"""Feeds mutated inputs to whatever reads bytes that others wrote, and prints what is neither an answer nor an error.

    python -m tests.faults.fuzz --minutes 10 [--only query frames] [--seed N]

The corpus is `SOUND` of tests/indexer/extract/test_extract_fuzz.py (a small file of each format) and the examples
below. An input that fails is kept in the folder that is printed; its name says which reader it belongs to.
"""

import argparse
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw
import numpy as np

from longsearch.app.rpc import _answer
from longsearch.engine.errors import LongsearchError
from longsearch.engine.query_language.query import parse
from longsearch.engine.readouts import numpy_states
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.store import texts
from longsearch.engine.store.segments import files
from longsearch.indexer.extract.wire import protocol
from tests.indexer.extract.test_extract_fuzz import SOUND, read_in_process

Target = Callable[[bytes], object]
MOST_S = 60
"""A reader that takes longer is a finding; outside this script its process would be ended."""
QUERIES = (
    'honey "sleeve blower"~5 -wax OR (pump|blower) author:"Ann Lee" date:2021..2023 sort:date gask* *leeve',
    "NEAR/5(bees, hive) AND NOT c++ since:30d lang:de doi:10.1000/x 1.234,56 € 2021-05-17 §433 title:x in:a/b",
)
FRAMES = [
    b'["Page", {"index": 1, "lines": ["a "], "large_text": "", "problem": "", "scanned": false, "ocr_key": "",'
    b' "ocr_s": 0.0, "beside": [], "label": "iv"}]',
    b'["FileText", {"text": "abc", "page_starts": [0], "title": "", "headings": [[1, "x", 0]], "warning": "",'
    b' "metadata": [["title", "x", "y"]], "untitled": false, "quoted": [[0, 1]]}]',
    b'["Drawn", {"width": 2, "height": 1, "rgb": "eJw=", "n_pages": 1, "boxes": [[[0, 0, 1, 1]]]}]',
    b'["Opened", {"n_pages": 3, "title": "", "warning": "", "metadata": []}]',
]
CALL = b'{"method": "status", "params": {"roots": ["/papers"], "n": 3}}'
_PIECES = (
    *(b"\0", b"\xff", b"(" * 3000, b"[" * 100_000, b'"', b"-1", b"1e999", b"9" * 5000, b"null", b"\xed\xa0\x80"),
    *("\u202e".encode(), b"\x1b[2J", b"{", b"}", b":", b"NaN", b"</", b"&#0;", b"%PDF-", b"PK\x03\x04", b"\n"),
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return `data` after one to four changes: flipped, cut out, doubled, or with a piece inserted."""
    for _ in range(chance.randint(1, 4)):
        at, n = chance.randrange(len(data) + 1), chance.choice((1, 1, 4, 40))
        kind = chance.randrange(5)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[at + n :]
        elif kind == 2:
            data = data[:at] + data[at : at + n] * chance.choice((2, 50)) + data[at + n :]
        elif kind == 3:
            data = data[:at] + chance.choice(_PIECES) + data[at:]
        else:
            data = data[:at] + chance.randbytes(n) + data[at + n :]
    return data


class _Caller:
    """The other end of the daemon's socket: sends one message, and takes one answer."""

    def __init__(self, sent: bytes) -> None:
        self.sent, self.received = sent, b""

    def __enter__(self) -> "_Caller":
        return self

    def __exit__(self, *_: object) -> None: ...

    def poll(self, timeout_s: float) -> bool:
        return True

    def recv_bytes(self, most: int) -> bytes:
        return self.sent

    def send_bytes(self, data: bytes) -> None:
        self.received = data


def targets(folder: Path) -> dict[str, tuple[list[bytes], Target, tuple[type[BaseException], ...]]]:
    """Return for each reader its corpus, what reads, and the errors that it may raise."""
    text = ("Some words of a stored text. " * 40).encode()
    segment, token = folder / "segment", "0" * 16
    head = {"token": token, "size": 4200, "arrays": {"ids": ["<i8", [3], 4096]}, "checksums": {}}
    empty = [(np.zeros((4, 2), np.float32), np.zeros((2, 2), np.float32))]
    ids, borders = np.arange(6), Borders(np.array([[0, 6]]), np.array([[0, 6]]), np.array([0, 1]), np.array([0]))
    state = numpy_states.NumpyPass(empty, 0, 0, (np.zeros(2), np.zeros(2), np.zeros(2)))

    def read_segment(data: bytes) -> None:
        segment.write_bytes(data)
        files.mapped.cache_clear()
        files.mapped(segment, token)

    def ask(data: bytes) -> None:
        _answer(caller := _Caller(data), lambda method, params: {"method": str(method), "n": len(params)})  # type: ignore[arg-type]
        assert isinstance(json.loads(caller.received), dict)

    whole = (files._MAGIC + json.dumps(head).encode()).ljust(4096, b"\0") + bytes(104)
    decoded = (ValueError, KeyError, TypeError)
    readers = {name: ([data], partial(read_in_process, folder, name), ()) for name, data in SOUND.items()}
    return {
        **readers,
        "query": ([query.encode() for query in QUERIES], lambda data: parse(os.fsdecode(data)), ()),
        "frames": (FRAMES, protocol.decode, decoded),
        "socket": ([CALL], ask, ()),
        "texts": ([zlib.compress(text)], lambda data: (texts._unpack(data), texts._beginning(data, 90)), (apsw.Error,)),
        "segments": ([whole], read_segment, (OSError, ValueError, KeyError)),  # as `Segments.opened` expects
        "states": (
            [numpy_states.to_bytes(state, ids, borders)],
            lambda data: numpy_states.from_bytes(data, empty, ids, borders),
            (),
        ),
    }


@contextmanager
def limited() -> Iterator[None]:
    """Raise TimeoutError in what takes longer than `MOST_S`."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {MOST_S} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(MOST_S)
    try:
        yield
    finally:
        signal.alarm(0)


def main() -> int:
    """Feed the readers in turn until the time is over. Returns 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    options = parser.parse_args()
    logging.disable()  # pypdf says much of a damaged file
    chance, folder = random.Random(options.seed), Path(tempfile.mkdtemp(prefix="longsearch-fuzz-"))
    every = {name: one for name, one in targets(folder).items() if not options.only or name in options.only}
    end, counts, found = time.monotonic() + 60 * options.minutes, Counter[str](), Counter[str]()
    while time.monotonic() < end:
        for name, (corpus, read, allowed) in every.items():
            data = mutated(chance.choice(corpus), chance)
            (folder / "last").write_bytes(data)  # what is left if a library crashes
            counts[name] += 1
            try:
                with limited():
                    read(data)
            except (LongsearchError, *allowed):
                pass
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                what = f"{name}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error!s:.80}"
                if not found[what]:
                    (folder / f"{name}-{len(found)}").write_bytes(data)
                    print(what, flush=True)
                found[what] += 1
    print(
        f"seed {options.seed}, {sum(counts.values()):,} inputs, {len(counts)} readers, {len(found)} findings: {folder}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
