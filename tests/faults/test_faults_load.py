"""A writer at full speed beside four readers keeps its log small and delays nobody; a large index opens at once."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from longsearch.app.paths import index_path
from longsearch.engine.errors import NoIndexError
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.types.results import SearchMode
from tests.faults.load import make_index
from tests.indexer.pdf_writing import lines_of, write_pdf

_REPOSITORY = Path(__file__).parents[2]
_LOG_MAX_BYTES = 64 * 2**20
_TURNS = 4  # alternate with and without a writer, so other load on the machine hits both

_REOPEN = """
import sys, time
from pathlib import Path
from tests.faults.load import vectors_of
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.index.opening import open_index
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
query = vectors_of(7)[0]
began = time.perf_counter()
with open_index(Path(sys.argv[1])) as index:
    opened = time.perf_counter()
    assert search([index], SearchRequest(parse("apples 7"), SearchMode.WORDS)).hits
    words = time.perf_counter()
    assert search([index], SearchRequest(parse("apples"), SearchMode.MEANING, [query])).hits
    meaning = time.perf_counter()
assert "torch" not in sys.modules
print(*(1000 * (after - began) for after in (opened, words, meaning)))
"""


def start(*command: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(_REPOSITORY), "OMP_NUM_THREADS": "1"}
    # in a session of its own: the writer raises the niceness of its session, which would slow down all later tests
    return subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def numbers(process: subprocess.Popen[str]) -> list[float]:
    said, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return [float(number) for number in said.split()]


def run_load(path: Path, seconds: float, with_writer: bool) -> tuple[list[float], list[float]]:
    """Return how long four readers waited for each answer (ms), and the numbers that the writer, if any, printed."""
    program, where = ("-m", "tests.faults.load"), (str(path), str(seconds))
    readers = [start(*program, "read", *where) for _ in range(4)]
    writers = [start(*program, "write", *where)] if with_writer else []
    took_ms = [number for reader in readers for number in numbers(reader)]
    return took_ms, [number for writer in writers for number in numbers(writer)]


def test_a_writer_at_full_speed_keeps_its_log_small_and_delays_no_reader(
    tmp_path: Path, rounds: int, by_hand: bool, note: Callable[[str], None]
) -> None:
    path, seconds, turns = tmp_path / "index.db", rounds / 10 if by_hand else 0.4, _TURNS if by_hand else 1
    make_index(path, 100 * rounds)
    idle, busy, largest, n_written = [], [], 0.0, 0.0
    for _ in range(turns):
        idle += run_load(path, seconds / turns, with_writer=False)[0]
        took_ms, (log_bytes, n_documents) = run_load(path, seconds / turns, with_writer=True)
        busy, largest, n_written = busy + took_ms, max(largest, log_bytes), n_written + n_documents
    idle_ms, busy_ms = np.percentile(idle, 95), np.percentile(busy, 95)
    note(
        f"{seconds:g} s of writing at full speed ({n_written:g} documents) beside 4 readers: log of at most "
        f"{largest / 2**20:.0f} MB; readers' p95 {busy_ms:.0f} ms, {idle_ms:.0f} ms without a writer"
    )
    assert n_written > 0
    assert largest <= _LOG_MAX_BYTES
    if by_hand:
        assert busy_ms < 2 * idle_ms


def test_a_large_index_opens_at_once(tmp_path: Path, rounds: int, by_hand: bool, note: Callable[[str], None]) -> None:
    path, n_passages = tmp_path / "index.db", 500 * rounds
    make_index(path, n_passages)
    runs = [numbers(start("-c", _REOPEN, str(path))) for _ in range(5)]
    opened, words, meaning = np.median(runs, axis=0)
    note(
        f"{n_passages:,} passages opened again: ready in {opened:.0f} ms, first answer by words at {words:.0f} ms, "
        f"by meaning at {meaning:.0f} ms"
    )
    if by_hand:
        assert meaning < 200


def test_the_first_answer_comes_before_all_new_files_are_read(
    home: Path, rounds: int, by_hand: bool, note: Callable[[str], None]
) -> None:
    root, n_files = home / "root", 5 * rounds
    root.mkdir()
    for number in range(n_files):
        write_pdf(root / f"{number}.pdf", [lines_of(prose(f"{number}, {page}")) for page in range(10)])
    began = time.monotonic()
    indexer = start("-m", "tests.faults.indexing_child", str(root), "bundled" if by_hand else "fake", "0")
    try:
        first_s = seconds_to_first_hit(root, indexer) - began
    finally:
        indexer.kill()
        indexer.communicate()
    note(f"{n_files:,} new PDFs: first answer by words after {first_s:.1f} s")
    if by_hand:
        assert first_s < 10


def prose(subject: str) -> str:
    """Return a page of lines that do not look like running heads."""
    return "\n".join(
        f"On {subject}: line {line} speaks of {'apples' if line % 7 == 3 else 'pears'}." for line in range(40)
    )


def seconds_to_first_hit(root: Path, indexer: subprocess.Popen[str]) -> float:
    """Search again and again while the indexer works; return the moment of the first hit."""
    is_done = False
    while not is_done:
        with suppress(subprocess.TimeoutExpired):
            is_done = indexer.wait(0.02) is not None
        with suppress(NoIndexError), open_index(index_path(root)) as index:
            if search([index], SearchRequest(parse("apples"), SearchMode.WORDS)).hits:
                return time.monotonic()
    pytest.fail("the indexer ended and nothing was found")
