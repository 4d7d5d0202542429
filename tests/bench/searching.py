"""How long a search takes among N passages: `python tests/bench/searching.py --passages 100000`.

Builds an index of invented documents once (`invented_index`; 100,000 passages take a minute or two) and searches it in
a process of its own, by each mode, with and without filters. A time goes from the typed query to the hits with their
texts. It leaves out the query's vector, which is drawn: no model is needed. *Warm*: the process has searched before.
*Cold*: the first search of a new process, whose index the system does not hold in memory (Linux; elsewhere it may).

With `--text FILE...` the documents are those of the files, and so are the queries, of some twenty classes
(`real_index`): sentences, phrases, filters, pasted paragraphs. Spelling and the sentences that are lit are in the time.
Beside them stand SQLite's FTS5 alone, a scan of all vectors by numpy, and tantivy if it is installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import query_classes
import real_index
from invented_index import Inventor, Question, build
from measuring import PEAK, REPOSITORY

from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.types.results import SearchMode

_FILTERS = {"": "", "type:md": "type:md ", "in:papers": "in:papers ", "-in:notes": "-in:notes "}


def main() -> None:
    """Build what is missing, then print a line for each mode and filter."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--index", type=Path, metavar="DIR", help="keep the index here and use it again")
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="index these: text, .jsonl[.xz], .tar.xz")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1, help="take the best time of each query in so many rounds")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--cold", type=int, default=5, help="cold searches of each mode (default 5)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--worker", choices=["warm", "keys", "classes", *SearchMode], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        if arguments.index is None:
            arguments.index = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kind = "real" if arguments.text else "passages"
        path = arguments.index / f"{kind}-{arguments.passages}.sqlite"
        if arguments.worker:
            return print(json.dumps(_worker(arguments, path)))
        _prepare(path, arguments)
        figures = _measured(arguments, path)
    print(json.dumps(figures)) if arguments.json else _report(figures)
    return None


def _prepare(path: Path, arguments: argparse.Namespace) -> None:
    """Build the index unless it is there. A finished index has its questions beside it."""
    if _questions_of(path).exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(path.name + "*") if not arguments.text else ():
        left.unlink()
    started = time.process_time()
    if arguments.text:
        classes = real_index.build(path, arguments.passages, arguments.text)
        asked = next(iter(classes.values()))
        np.savez(_questions_of(path), vectors=np.stack([real_index.vector_of(text) for text in asked]), texts=asked)
        path.with_suffix(".classes.json").write_text(json.dumps(classes), "utf-8")
    else:
        build(path, arguments.passages)
        questions = list(Inventor(seed=0).questions(1000))
        vectors, texts = np.stack([one.vector for one in questions]), np.array([one.text for one in questions])
        np.savez(_questions_of(path), vectors=vectors, texts=texts)
    print(f"built in {time.process_time() - started:.0f} s of processor time", file=sys.stderr)


def _questions_of(path: Path) -> Path:
    return path.with_suffix(".questions.npz")


def _measured(arguments: argparse.Namespace, path: Path) -> dict[str, Any]:
    figures: dict[str, Any] = {"index MB": round(path.stat().st_size / 1e6)}
    figures |= _run(arguments, "classes") if arguments.text else _run(arguments, "warm") | _run(arguments, "keys")
    for mode in SearchMode:
        times = []
        for _ in range(arguments.cold):
            _forget_pages(path)
            times.append(_run(arguments, mode)["ms"])
        if times:
            figures[f"cold {mode}"] = times
    return figures


def _run(arguments: argparse.Namespace, worker: str) -> dict[str, Any]:
    """The figures of a new process."""
    given = {name: str(getattr(arguments, name)) for name in ("passages", "index", "queries", "rounds", "k")}
    options = [part for name, value in given.items() for part in (f"--{name}", value)]
    options += ["--text", *map(str, arguments.text)] if arguments.text else []
    command = [sys.executable, __file__, *options, "--worker", worker]
    environment = os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", str(REPOSITORY))}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _forget_pages(path: Path) -> None:
    """Have the system forget what it holds of the index in memory, as far as it lets us."""
    if not hasattr(os, "posix_fadvise"):
        return
    for file in path.parent.glob(path.name + "*"):
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _worker(arguments: argparse.Namespace, path: Path) -> dict[str, Any]:
    with np.load(_questions_of(path)) as kept:
        questions = [Question(str(text), vector) for text, vector in zip(kept["texts"], kept["vectors"], strict=True)]
    questions = questions[: arguments.queries]
    if arguments.worker == "classes":
        return query_classes.measured(path, arguments.queries, arguments.rounds, arguments.k) | _private()
    if arguments.worker == "keys":
        return _keys(arguments, path, questions)
    if arguments.worker != "warm":
        return {"ms": _once(path, questions[3], SearchMode(arguments.worker), arguments.k)[0]}
    figures: dict[str, Any] = {}
    for name, typed in _FILTERS.items():
        asked = [Question(typed + one.text, one.vector) for one in questions]
        for mode in SearchMode:
            run = _timer(path, mode, arguments.k)
            figures[f"{mode} {name}".strip()] = _best_of(arguments.rounds, run, asked)
    measured: dict[str, Any] = {}
    exec(PEAK, measured)
    return figures | {"peak MiB": measured["peak_mib"]()} | _private()


def _private() -> dict[str, float]:
    """The memory that the process has for itself, without pages of the index that the system may take back (Linux)."""
    status = Path("/proc/self/status")
    found = status.read_text().partition("RssAnon:")[2].split()[:1] if status.exists() else []
    return {"of that its own MiB": int(found[0]) / 2**10} if found else {}


def _keys(arguments: argparse.Namespace, path: Path, questions: list[Question]) -> dict[str, Any]:
    """Search by words at every key: each beginning of each query from the third letter on."""
    typed = [one.text[:n] for one in questions[: max(1, len(questions) // 10)] for n in range(3, len(one.text) + 1)]
    asked = [Question(text, questions[0].vector) for text in typed if text.strip()]
    run = _timer(path, SearchMode.WORDS, arguments.k, prefix_last=True)
    return {"words at every key": _best_of(arguments.rounds, run, asked)}


def _timer(path: Path, mode: SearchMode, k: int, prefix_last: bool = False) -> Callable[[Question], list[float]]:
    return lambda question: _once(path, question, mode, k, prefix_last)


def _once(path: Path, question: Question, mode: SearchMode, k: int, prefix_last: bool = False) -> list[float]:
    """Milliseconds, and milliseconds of processor time, from the typed query to the hits."""
    started, used = time.perf_counter(), time.process_time()
    with open_index(path) as session:
        vector = None if mode is SearchMode.WORDS else question.vector
        search([session], SearchRequest(parse(question.text, prefix_last), mode, [vector], k))
    return [(time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000]


def _best_of(rounds: int, run: Callable[[Question], list[float]], questions: Iterable[Question]) -> list[list[float]]:
    asked = list(questions)
    for question in asked[:5]:
        run(question)
    times = np.array([[run(question) for question in asked] for _ in range(rounds)])
    best: list[list[float]] = times.min(axis=0).tolist()
    return best


def _report(figures: dict[str, Any]) -> None:
    for line in _lines(figures):
        print(line)


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    for name, found in figures.items():
        if name.startswith("cold"):
            yield f"{name:<20} p50 {np.median(found):7.1f} ms max {max(found):7.1f} ms"
        elif isinstance(found, list):
            wall, used = np.percentile(np.array(found), [50, 95], axis=0).T
            yield (
                f"{name:<28} p50 {wall[0]:7.1f} ms p95 {wall[1]:7.1f} ms worst {max(found)[0]:7.1f} ms"
                f"   (processor: p50 {used[0]:.1f} p95 {used[1]:.1f})"
            )
        else:
            yield f"{name:<20} {found:.0f}"


if __name__ == "__main__":
    main()
