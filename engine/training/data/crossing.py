"""Makes retrieval sets across languages from parallel text: queries in one language, passages in another.

A query is the first sentence of a text; its passage is the translation of the whole text. The source of the texts must
be held out of training (`translations --held-out`). The sets have BEIR's format, as `engine.evaluation.datasets` reads.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longsearch.engine.training.data.pairs import records
from longsearch.engine.training.data.translations import SENTENCE

_LEAST_QUERY, _LEAST_REST = 12, 30
"""Characters of a query, and of its text after it: shorter ones are headings or labels of buttons."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A set to be: its queries and passages, row by row."""

    queries: list[str]
    passages: list[str]


def held_out_texts(paths: list[Path], sources: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the parallel texts of `sources` by language, each English text once."""
    by_language: dict[str, dict[str, dict[str, Any]]] = {}
    wanted = set(sources)
    for path in paths:
        for record in records(path, ("en", "x", "lang", "s")):
            if record["s"] in wanted:
                by_language.setdefault(record["lang"], {}).setdefault(record["en"], record)
    return {language: list(texts.values()) for language, texts in by_language.items()}


def crossings(texts: list[dict[str, Any]], limit: int) -> tuple[Crossing, Crossing]:
    """Return the set with English queries and the set with English passages; `limit` queries each at most.

    Passages are those of all `texts`, so a set may have more passages than queries.
    """
    english, other = [text["en"] for text in texts], [text["x"] for text in texts]
    return _crossing(english, other, limit), _crossing(other, english, limit)


def write_set(folder: Path, crossing: Crossing) -> None:
    """Write corpus.jsonl, queries.jsonl and qrels.tsv to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    passages = [{"_id": f"p{row}", "title": "", "text": text} for row, text in enumerate(crossing.passages)]
    queries = [{"_id": f"q{row}", "text": text} for row, text in enumerate(crossing.queries)]
    for name, rows in (("corpus", passages), ("queries", queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    judged = "".join(f"q{row}\tp{row}\t1\n" for row in range(len(crossing.queries)))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged, "utf-8")


def _crossing(query_texts: list[str], passage_texts: list[str], limit: int) -> Crossing:
    """Put the rows that give a query first."""
    pairs = [(_query(text), passage) for text, passage in zip(query_texts, passage_texts, strict=True)]
    having = [pair for pair in pairs if pair[0]][:limit]
    taken = {passage for _, passage in having}
    rest = [passage for _, passage in pairs if passage not in taken]
    return Crossing([query for query, _ in having], [passage for _, passage in having] + rest)


def _query(text: str) -> str:
    first = SENTENCE.match(text)
    long_enough = first and first.end() >= _LEAST_QUERY and len(text) - first.end() >= _LEAST_REST
    return first[0].strip() if first and long_enough else ""
