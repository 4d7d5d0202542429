"""`eval --width-table`: documents read at one width, queries at another."""

import json
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.evaluation.metrics import Interval
from longsearch.engine.evaluation.report import WidthResult, as_width_tables, progress
from longsearch.engine.evaluation.run import run
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.readouts.mean import MeanReadout
from tests.engine.evaluation.evaluation_helpers import WORDS, write_model

OPEN = Encoder.open


def write_questions(folder: Path, documents: list[str], questions: list[str]) -> Path:
    """Write a set in which document i answers question i."""
    folder.mkdir()
    corpus = [{"_id": f"d{i}", "text": text} for i, text in enumerate(documents)]
    queries = [{"_id": f"q{i}", "text": text} for i, text in enumerate(questions)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("".join(f"q{i}\td{i}\t1\n" for i in range(len(questions))))
    return folder


def word_set(tmp_path: Path) -> Path:
    """Write 13 documents of three words; each question has two of them in another order."""
    following = WORDS[1:] + WORDS[:1]
    texts = [f"{a} {b} {a}" for a, b in zip(WORDS, following, strict=True)]
    return write_questions(tmp_path / "words", texts, [f"{b} {a}" for a, b in zip(WORDS, following, strict=True)])


def accuracies(capsys, *arguments: str) -> dict[tuple[float, float], float]:
    """Run the command and return Acc@1 for each (documents' width, queries' width)."""
    assert run([*arguments, "--width-table", "--json", "--device", "cpu", "--dtype", "float32"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    return {(r["documents_width"], r["queries_width"]): r["metrics"]["hit@1"]["mean"] for r in results}


def test_each_cell_equals_documents_and_queries_encoded_by_two_models(tmp_path, capsys):
    folder, model = word_set(tmp_path), write_model(tmp_path)
    found = accuracies(capsys, str(folder), "--model", str(model), "--systems", "document", "--width", "1", "0.5")
    corpus, queries = (
        [json.loads(line)["text"] for line in (folder / name).read_text().splitlines()]
        for name in ("corpus.jsonl", "queries.jsonl")
    )
    encoders = {w: Encoder.open(model, device="cpu", dtype="float32", width=w) for w in (1.0, 0.5)}
    documents = {w: np.stack([e.encode_document(text).vector for text in corpus]) for w, e in encoders.items()}
    asked = {w: np.stack([e.encode_query(text) for text in queries]) for w, e in encoders.items()}
    expected = {
        (a, b): float(np.mean((asked[b] @ documents[a].T).argmax(1) == np.arange(len(corpus))))
        for a in (1.0, 0.5)
        for b in (1.0, 0.5)
    }
    assert found == pytest.approx(expected)
    assert found[1.0, 0.5] != found[0.5, 1.0]  # rows and columns are not mixed up


def test_documents_and_queries_may_have_another_width_in_each_layer(tmp_path, capsys):
    folder, model = word_set(tmp_path), write_model(tmp_path)
    arguments = [str(folder), "--model", str(model), "--systems", "document", "--width", "1", "1,1/2", "--width-table"]
    assert run([*arguments, "--device", "cpu", "--dtype", "float32"]) == 0
    head, _, *rows = capsys.readouterr().out.strip().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")][1:] == ["queries 1", "queries 1,1/2"]
    assert [row.split("|")[1].strip() for row in rows] == ["documents 1", "documents 1,1/2"]


def test_widths_with_spaces_of_their_own_find_only_within_themselves(tmp_path, capsys, monkeypatch):
    def open_in_another_space(*args, width: float = 1.0, **options) -> Encoder:
        encoder = OPEN(*args, width=width, **options)
        if width < 1:  # turns the narrow model's vectors: their cosines with each other stay as they are
            assert isinstance(encoder.reader, MeanReadout)
            encoder.reader.head = replace(encoder.reader.head, projection=-encoder.reader.head.projection)
        return encoder

    monkeypatch.setattr(Encoder, "open", open_in_another_space)
    folder = write_questions(tmp_path / "same", WORDS, WORDS)
    arguments = ["--model", str(write_model(tmp_path)), "--systems", "document", "--width", "1", "0.5"]
    found = accuracies(capsys, str(folder), *arguments)
    assert found[1.0, 1.0] == found[0.5, 0.5] == 1.0
    assert max(found[1.0, 0.5], found[0.5, 1.0]) < 0.5


def test_in_the_bundled_model_queries_of_any_width_find_documents_of_any_width(tmp_path, capsys):
    lines = files("longsearch.engine.evaluation").joinpath("needles.jsonl").read_text("utf-8").splitlines()
    needles = [json.loads(line) for line in lines[:20]]
    folder = write_questions(tmp_path / "facts", [n["fact"] for n in needles], [n["question"] for n in needles])
    found = accuracies(capsys, str(folder))
    widths = (1.0, 0.5, 0.25, 0.125)
    assert list(found) == [(a, b) for a in widths for b in widths]
    assert min(found.values()) > 0.95  # by chance, 1 of 20 questions finds its fact


def test_every_width_reads_each_document_and_each_query_once(tmp_path, capsys, monkeypatch):
    read: Counter[tuple[int, str]] = Counter()
    encode_documents, encode_query = Encoder.encode_documents, Encoder.encode_query

    def counted_documents(self, texts):
        listed = list(texts)
        read.update((id(self), f"document {text}") for _, text in listed)
        return encode_documents(self, listed)

    def counted_query(self, text, instruction=None, steps=None):
        read[id(self), f"query {text}"] += 1
        return encode_query(self, text, instruction, steps)

    monkeypatch.setattr(Encoder, "encode_documents", counted_documents)
    monkeypatch.setattr(Encoder, "encode_query", counted_query)
    model = write_model(tmp_path)
    systems = ["--systems", "meaning", "document", "hybrid", "passages"]
    accuracies(capsys, str(word_set(tmp_path)), "--model", str(model), "--width", "1", "0.5", *systems)
    assert set(read.values()) == {1}
    assert len(read) == 2 * 2 * len(WORDS)


def result(dataset: str, documents: float, queries: float, mean: float) -> WidthResult:
    interval = Interval(mean, mean - 0.02, mean + 0.02)
    metrics = {"ndcg@10": interval, "hit@1": Interval(mean / 2, 0, 1)}
    return WidthResult(dataset, "meaning", 5, metrics, 1.0, documents, queries)


def test_the_table_has_a_row_for_each_width_of_documents_and_a_column_for_each_of_queries():
    results = [result("s", 1, 1, 0.9), result("s", 1, 0.5, 0.8), result("s", 0.5, 1, 0.7), result("s", 0.5, 0.5, 0.6)]
    assert as_width_tables(results) == (
        "| s, meaning, ndcg@10 | queries 1 | queries 1/2 |\n"
        "|---------------------|-----------|-------------|\n"
        "| documents 1         | 90.0 ±2.0 |   80.0 ±2.0 |\n"
        "| documents 1/2       | 70.0 ±2.0 |   60.0 ±2.0 |"
    )
    assert progress(results[1]) == "s meaning, documents 1, queries 1/2: 80.0 (1.0 s)"


def test_several_sets_get_a_table_of_means_and_synthetic_tasks_one_of_acc_at_1():
    tables = as_width_tables([result("one", 1, 1, 0.9), result("two", 1, 1, 0.5), result("needle-256", 1, 1, 0.8)])
    titles = [table.splitlines()[0].strip("|").split("|")[0].strip() for table in tables.split("\n\n")]
    assert titles == [
        "one, meaning, ndcg@10", "two, meaning, ndcg@10", "needle-256, meaning, ndcg@10", "needle-256, meaning, acc@1",
        "mean of 2 sets, meaning, ndcg@10",
    ]  # fmt: skip
    assert tables.splitlines()[-1].split() == ["|", "documents", "1", "|", "70.0", "|"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--systems", "bm25"], "bm25 has no widths"), (["--dims", "4"], "cannot be combined with --dims")],
)
def test_options_that_have_no_widths_are_refused(tmp_path, capsys, arguments, said):
    assert run([str(word_set(tmp_path)), "--width-table", *arguments]) == 1
    assert said in capsys.readouterr().err
