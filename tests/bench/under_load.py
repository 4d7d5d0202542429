"""How long searches take while this machine indexes: `python tests/bench/under_load.py`, on an otherwise quiet machine.

A folder is indexed and searched twice: first while nothing else runs, then while `longsearch index` reads a second
folder and the daemon, which makes the vectors of queries, reads a third. Each query is typed (a search by words at each
key) and then asked (a hybrid search). Times are wall time, from the typed query to the hits. Everything lies in a
temporary home, and the two folders are larger than what is read of them meanwhile.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from measuring import REPOSITORY, read_texts, sample_text

from longsearch.app.daemon.daemon_control import ensure_daemon, root_status, stop_daemon, watch
from longsearch.app.models.encoders import open_query_encoder
from longsearch.app.models.query_vectors import QueryVector, from_anywhere
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.engine.types.results import SearchMode

N_FILES, FILE_CHARACTERS, N_WORDS = 400, 100_000, 6
_PLACES = ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")


def main() -> None:
    """Index, then search in quiet and under load; print a line for each figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="search these texts (default: the samples)")
    parser.add_argument("--queries", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= dict.fromkeys(_PLACES, home) | {"PYTHONPATH": str(REPOSITORY)}
        texts = read_texts(arguments.text, FILE_CHARACTERS)
        folder = _written(Path(home) / "searched", texts)
        subprocess.run([*_INDEX, str(folder)], check=True)
        queries = _queries(texts, arguments.queries)
        ensure_daemon(stay=True)
        try:
            _report("quiet", folder, queries)
            _under_load(Path(home), folder, queries)
        finally:
            stop_daemon()


_INDEX = [sys.executable, "-m", "longsearch.app.cli", "index", "-q"]


def _under_load(home: Path, folder: Path, queries: list[str]) -> None:
    """Search while another process and the daemon read, then stop the daemon; say if either had ended before."""
    much = sample_text(N_FILES * FILE_CHARACTERS)
    parts = [much[start : start + FILE_CHARACTERS] for start in range(0, len(much), FILE_CHARACTERS)]
    by_command, by_daemon = (_written(home / name, parts[at::2]) for at, name in enumerate(("command", "daemon")))
    command = subprocess.Popen([*_INDEX, str(by_command)])
    try:
        watch(by_daemon)
        _report("under load", folder, queries)
        kept, has_ended = root_status(by_daemon), command.poll() is not None
        began = time.perf_counter()
        stop_daemon()
        print(f"under load: daemon stop {time.perf_counter() - began:.2f} s; load average {os.getloadavg()[0]:.1f}")
        if has_ended or not (kept and kept["busy"]):
            print("the command or the daemon had ended before the last search: ask fewer queries")
    finally:
        command.terminate()
        command.wait()


def _written(folder: Path, texts: list[str]) -> Path:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.md").write_text(text, "utf-8")
    return folder


def _queries(texts: list[str], n_queries: int) -> list[str]:
    """Words that follow each other, from as many places of the texts."""
    words = " ".join(texts).split()
    starts = np.linspace(0, len(words) - N_WORDS, n_queries).astype(int)
    return ["".join(c for c in " ".join(words[at : at + N_WORDS]) if c.isalpha() or c == " ") for at in starts]


def _report(when: str, folder: Path, queries: list[str]) -> None:
    """Type and ask each query; print the times, and where the vectors came from."""
    scope, here = Scope.of(folder), lru_cache(maxsize=1)(open_query_encoder)
    times: dict[str, list[float]] = {"words at a key": [], "hybrid": []}
    by: Counter[str] = Counter()

    def source(text: str, instruction: str | None, **given: Any) -> QueryVector:
        maker = "the daemon"

        def open_here(*model: str) -> Any:
            nonlocal maker
            maker = "this process"
            return here(*model)

        made = from_anywhere(text, instruction, open_here, **given)
        by[maker] += 1
        return made

    def timed(kind: str, asked: Question) -> SearchMode:
        began = time.perf_counter()
        found = search(scope, asked, source)
        times[kind].append((time.perf_counter() - began) * 1000)
        return found.mode

    for query in queries:
        for n in range(3, len(query) + 1):
            timed("words at a key", Question(query[:n], SearchMode.WORDS, prefix_last=True))
        if timed("hybrid", Question(query, SearchMode.HYBRID)) is SearchMode.WORDS:
            by["nobody: answered by words"] += 1
    for kind, own in times.items():
        p50, p95 = np.percentile(own, (50, 95))
        print(f"{when}: {kind:14} {len(own):5} p50 {p50:7.1f} p95 {p95:7.1f} worst {max(own):7.1f} ms")
    print(f"{when}: vectors by " + ", ".join(f"{maker} {n}" for maker, n in by.items()))


if __name__ == "__main__":
    main()
