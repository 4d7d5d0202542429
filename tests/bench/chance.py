"""How many right answers fall below the line of chance, and how many false ones stay above it.

    python tests/bench/chance.py DIR... [--documents 300] [--unanswerable dev-v2.0.json]

Each DIR is a set in BEIR format. At most `--documents` of its documents are indexed with the chosen model in a
temporary folder, and calibrated. Four kinds of questions are asked: those of the set, SQuAD's unanswerable ones about
the indexed paragraphs (if its file is given), those of the other sets, and words that do not exist.
"""

import argparse
import json
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from longsearch.app.cli import main as longsearch
from longsearch.app.models.encoders import open_encoder
from longsearch.app.paths import index_path
from longsearch.engine.errors import QueryError
from longsearch.engine.index.opening import open_index
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.chance import made_up_queries
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.types.results import ChanceLevel, SearchMode

N_ANSWERABLE, N_FOREIGN, N_NONSENSE = 120, 90, 60
Asked = list[tuple[str, set[str]]]
"""(question, ids of the documents that answer it)."""


def questions(folder: Path, inside: set[str]) -> Asked:
    """Return the questions of a set that some indexed document answers."""
    answers: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        answers.setdefault(query, set()).add(document)
    rows = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    return [(row["text"], answers[row["_id"]]) for row in rows if answers.get(row["_id"], set()) & inside]


def unanswerable(file: Path, texts: set[str]) -> Asked:
    """Return SQuAD's unanswerable questions about these paragraphs."""
    flat = {" ".join(text.split()) for text in texts}
    paragraphs = (paragraph for article in json.loads(file.read_text())["data"] for paragraph in article["paragraphs"])
    about = (paragraph for paragraph in paragraphs if " ".join(paragraph["context"].split()) in flat)
    return [(row["question"], set()) for paragraph in about for row in paragraph["qas"] if row["is_impossible"]]


def main() -> None:
    """Print a row for each set, mode and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--unanswerable", type=Path)
    options = parser.parse_args()
    encoder = open_encoder()
    for folder in options.sets:
        chosen = random.Random(3)
        rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
        chosen.shuffle(rows)
        texts = {row["_id"]: row["text"] for row in rows[: options.documents]}
        asked = {"answerable": _some(questions(folder, set(texts)), N_ANSWERABLE, chosen)}
        if options.unanswerable:
            asked["unanswerable"] = _some(unanswerable(options.unanswerable, set(texts.values())), N_ANSWERABLE, chosen)
        foreign = [row for other in options.sets if other != folder for row in _all_questions(other)]
        asked["elsewhere"] = _some(foreign, N_FOREIGN, chosen)
        asked["nonsense"] = [(text, set()) for text in made_up_queries(N_NONSENSE, seed=3)]
        with tempfile.TemporaryDirectory() as scratch:
            _measure(folder.name, Path(scratch), texts, asked, encoder.encode_query)


def _all_questions(folder: Path) -> Asked:
    return [(json.loads(line)["text"], set()) for line in (folder / "queries.jsonl").read_text().splitlines()]


def _some(rows: Asked, n: int, chosen: random.Random) -> Asked:
    return chosen.sample(rows, min(n, len(rows)))


def _measure(
    name: str, scratch: Path, texts: dict[str, str], asked: dict[str, Asked], encode: Callable[[str], np.ndarray]
) -> None:
    os.environ |= {f"XDG_{kind}_HOME": str(scratch) for kind in ("DATA", "CACHE")}
    root = (scratch / "documents").resolve()
    root.mkdir()
    names = {f"{number}.txt": known for number, known in enumerate(texts)}
    for file, known in names.items():
        (root / file).write_text(texts[known])
    longsearch(["index", "-q", str(root)])
    levels: dict[tuple[str, SearchMode], list[ChanceLevel | None]] = {}
    with open_index(index_path(root)) as session:
        for kind, rows in asked.items():
            for text, answers in rows:
                try:
                    query = parse(text)
                except QueryError:
                    continue
                vector = encode(query.meaning)
                for mode in SearchMode:
                    hits = search([session], SearchRequest(query, mode, [vector])).hits
                    if answers and not (hits and names[Path(hits[0].path).name] in answers):
                        continue  # not a right answer, so it cannot be lost
                    levels.setdefault((kind, mode), []).append(hits[0].level if hits else ChanceLevel.CHANCE)
    for (kind, mode), found in levels.items():
        shares = {level: sum(one is level for one in found) / len(found) for level in ChanceLevel}
        print(f"{name:12} {kind:13} {mode.value:8} n {len(found):4}", *(f"{k} {v:6.1%}" for k, v in shares.items()))


if __name__ == "__main__":
    main()
