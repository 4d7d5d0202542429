"""What typing errors cost, and what mending them does to queries that have none: `python typing_errors.py SET…`.

A SET is an unpacked folder in BEIR format (corpus.jsonl, queries.jsonl, qrels.tsv). It is indexed with the bundled
model, in a data folder of its own. Printed for each set: nDCG@10 by hybrid of the queries as they are; with one random
error in each word of at least five letters, mended and taken literally; and the corrections of the right queries,
which are all wrong. `--words`: by words alone. `--show`: every correction of a right query.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

_LONG = 5
_WORD = re.compile(r"[^\W\d_]+")


def mistyped(query: str, random_: random.Random) -> str:
    """The query with one error in each long word: a letter left out, doubled or replaced, or two neighbours swapped."""

    def error(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < _LONG or word.isupper():
            return word
        at = random_.randrange(1, len(word) - 1)
        return {
            "left out": word[:at] + word[at + 1 :],
            "one more": word[:at] + random_.choice("abcdefghijklmnopqrstuvwxyz") + word[at:],
            "replaced": word[:at] + random_.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :],
            "swapped": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        }[random_.choice(["left out", "one more", "replaced", "swapped"])]

    return _WORD.sub(error, query)


def written(dataset: Path, folder: Path) -> dict[str, str]:
    """Write a text file for each document; return the id of each by its file's name."""
    ids = {}
    for number, line in enumerate((dataset / "corpus.jsonl").read_text("utf-8").splitlines()):
        row = json.loads(line)
        name = f"{number}.txt"
        (folder / name).write_text(f"{row.get('title', '')}\n\n{row['text']}", "utf-8")
        ids[name] = str(row["_id"])
    return ids


def judged(dataset: Path, n: int) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield the first `n` queries with the gains of their documents."""
    gains: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (dataset / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, gain = line.split("\t")
        gains[query][document] = float(gain)
    rows = [json.loads(line) for line in (dataset / "queries.jsonl").read_text("utf-8").splitlines()]
    yield from [(row["text"], gains[str(row["_id"])]) for row in rows if str(row["_id"]) in gains][:n]


def measure(dataset: Path, n: int, mode_name: str, is_shown: bool) -> None:
    """Index a set and print its row."""
    from functools import lru_cache, partial

    from longsearch.app.models.encoders import open_query_encoder
    from longsearch.app.models.query_vectors import from_anywhere
    from longsearch.app.search.scope import Scope
    from longsearch.app.search.searching import Question, search
    from longsearch.engine.evaluation.metrics import ndcg
    from longsearch.engine.types.results import SearchMode

    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "texts"
        folder.mkdir()
        ids = written(dataset, folder)
        program = f"from longsearch.app.cli import main; main(['index', {str(folder)!r}, '-q'])"
        subprocess.run([sys.executable, "-c", program], check=True)
        source = partial(from_anywhere, open_model=lru_cache(maxsize=1)(open_query_encoder))
        mode, scope, random_ = SearchMode(mode_name), Scope.of(folder), random.Random(0)
        sums, corrections, n_queries = defaultdict[str, float](float), list[tuple[str, str]](), 0
        for query, gains in judged(dataset, n):
            n_queries += 1
            wrong = mistyped(query, random_)
            ways = {
                "right": (query, False),
                "right, literal": (query, True),
                "mended": (wrong, False),
                "literal": (wrong, True),
            }
            for name, (text, literal) in ways.items():
                results = search(scope, Question(text, mode, literal=literal, unfold=True), source)
                found = [gains.get(ids[Path(hit.path).name], 0.0) for hit in results.hits]
                sums[name] += ndcg(np.array(found), np.array(list(gains.values())))
                if name == "right" and results.corrected:
                    corrections.append((query, results.corrected))
        shares = {name: total / n_queries for name, total in sums.items()}
        kept = {name: shares[name] / shares["right, literal"] for name in ("mended", "literal")}
        print(
            f"{dataset.name}: {n_queries} queries, nDCG@10 {shares['right']:.4f}"
            f" (literal {shares['right, literal']:.4f});"
            f" with errors {shares['mended']:.4f} ({kept['mended']:.1%}), not mended {shares['literal']:.4f}"
            f" ({kept['literal']:.1%}); {len(corrections)} right queries corrected ({len(corrections) / n_queries:.1%})"
        )
        for query, corrected in corrections if is_shown else ():
            before, after = query.split(), corrected.split()
            changed = [f"{a} -> {b}" for a, b in zip(before, after, strict=False) if a != b]
            print(f"  {', '.join(changed)}")


def main() -> None:
    """Measure each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=500, help="queries of each set")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_DATA_HOME"] = home
        for dataset in options.sets:
            measure(dataset, options.n, "words" if options.words else "hybrid", options.show)


if __name__ == "__main__":
    main()
