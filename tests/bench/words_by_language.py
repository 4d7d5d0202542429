"""What stemming and pairs of characters find: nDCG@10 by words alone, before and after, for sets in BEIR's format.

    python tests/bench/words_by_language.py FOLDER... --out table.md

Each paragraph is one passage. "Before" is FTS5's tokenizer alone, with its English stemmer: longsearch 0.1. "after" is
the product's analysis, with the language that it finds itself. "bare" asks the queries without their diacritics.
"""

import argparse
import json
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from longsearch.engine.errors import QueryError
from longsearch.engine.evaluation.bm25_index import _OPERATORS, Bm25
from longsearch.engine.index.lookup import match
from longsearch.engine.languages.detection import language_of
from longsearch.engine.languages.names import name_of
from longsearch.engine.query_language.query import parse


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def relevant(folder: Path) -> dict[str, set[str]]:
    found = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            found[query].add(document)
    return found


def ndcg(index: Bm25, names: list[str], queries: list[dict[str, str]], right: dict[str, set[str]]) -> float:
    """Mean nDCG@10 in per cent."""
    scores = []
    for query in queries:
        best = [names[row] for row in index.rank(query["text"], 10)[0]]
        gains = [1 / np.log2(place + 2) for place, name in enumerate(best) if name in right[query["_id"]]]
        ideal = sum(1 / np.log2(place + 2) for place in range(min(10, len(right[query["_id"]]))))
        scores.append(sum(gains) / ideal if ideal else 0.0)
    return 100 * float(np.mean(scores))


def bare(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(sign for sign in decomposed if not "\u0300" <= sign <= "\u036f"))


def line(folder: Path) -> str:
    corpus, queries, right = rows(folder / "corpus.jsonl"), rows(folder / "queries.jsonl"), relevant(folder)
    names, texts = [row["_id"] for row in corpus], [f"{row.get('title', '')}\n{row['text']}".strip() for row in corpus]
    languages = [language_of(text) for text in texts]
    after = Bm25(texts, languages)
    found = [
        ndcg(Plain(texts), names, queries, right),
        ndcg(after, names, queries, right),
        ndcg(after, names, [query | {"text": bare(query["text"])} for query in queries], right),
    ]
    ((language, _),) = Counter(languages).most_common(1)
    figures = " | ".join(f"{figure:.1f}" for figure in found)
    return f"| {name_of(language)} | {folder.name} | {len(texts)} | {len(queries)} | {figures} |"


class Plain(Bm25):
    """FTS5's tokenizer alone, and words parted by spaces, as in longsearch 0.1."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__([], [])
        with self._db:
            self._db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
        self._n_texts = len(texts)

    def _terms(self, query: str) -> tuple[str, ...]:
        try:
            return tuple(map(match, parse(_OPERATORS.sub(" ", query)).terms))
        except QueryError:
            return ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = ["| language | set | passages | queries | before | after | bare |", "|" + " --- |" * 7]
    for folder in options.folders:
        lines.append(line(folder))
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text, end="") if options.out is None else options.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
