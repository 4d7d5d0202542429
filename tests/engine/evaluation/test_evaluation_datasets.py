"""BEIR folders and archives are read, and errors name the file and the line."""

import json
import tarfile
from pathlib import Path

import pytest

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import load_dataset, load_datasets
from longsearch.engine.evaluation.longembed import is_synthetic
from tests.engine.evaluation.evaluation_helpers import write_set


def test_a_folder_is_read_with_only_the_judged_queries(tmp_path):
    dataset = load_dataset(write_set(tmp_path))
    assert [query.id for query in dataset.queries] == ["a", "b"]
    assert dataset.qrels == {"a": {"animals": 2}, "b": {"music": 1}}
    assert not dataset.has_spans


def test_an_archive_gives_the_same_dataset_as_its_folder(tmp_path):
    folder = write_set(tmp_path)
    with tarfile.open(tmp_path / "tiny.tar.xz", "w:xz") as archive:
        archive.add(folder, "tiny")
    assert load_dataset(tmp_path / "tiny.tar.xz") == load_dataset(folder)


def test_a_title_goes_in_front_unless_the_text_begins_with_it(tmp_path):
    texts = {document.id: document.full_text for document in load_dataset(write_set(tmp_path)).documents}
    assert texts == {"fruit": "apple\n\nbanana cherry", "animals": "dog eagle fox", "music": "guitar harp viola"}


def test_spans_become_answers_in_one_document(tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps({"_id": "d", "text": "one two three"}))
    spans = {"_id": "q", "text": "two?", "doc": "d", "spans": [[4, 7]]}
    (tmp_path / "spans.jsonl").write_text(json.dumps(spans))
    dataset = load_dataset(tmp_path)
    assert dataset.has_spans
    assert dataset.queries[0].spans == ((4, 7),)
    assert dataset.qrels == {"q": {"d": 1}}


def write_longembed(folder: Path, *lengths: int) -> Path:
    """Write passkeys in LongEmbed's format: two documents and a query for each length; without lengths, one set."""
    folder.mkdir()
    corpus, queries, qrels = [], [], []
    for extra in [{"context_length": length} for length in lengths] or [{}]:
        corpus += [{"doc_id": i, "text": f"{i} of {extra}"} | extra for i in ("d0", "d1")]
        queries.append({"qid": "q0", "text": f"which of {extra}?"} | extra)
        qrels.append({"qid": "q0", "doc_id": "d1"} | extra)
    for name, records in (("corpus", corpus), ("queries", queries), ("qrels", qrels)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    return folder


def test_a_set_in_longembeds_format_is_read(tmp_path):
    dataset = load_dataset(write_longembed(tmp_path / "qmsum"))
    assert dataset.name == "longembed-qmsum"
    assert [(d.id, d.full_text) for d in dataset.documents] == [("d0", "d0 of {}"), ("d1", "d1 of {}")]
    assert [query.text for query in dataset.queries] == ["which of {}?"]
    assert dataset.qrels == {"q0": {"d1": 1}}


def test_each_context_length_of_longembed_is_a_set_of_its_own(tmp_path):
    folder = write_longembed(tmp_path / "passkey", 1024, 256)
    short, long = load_datasets(folder)
    assert (short.name, long.name) == ("longembed-passkey-256", "longembed-passkey-1024")
    assert [d.text for d in short.documents] == ["d0 of {'context_length': 256}", "d1 of {'context_length': 256}"]
    assert [query.text for query in long.queries] == ["which of {'context_length': 1024}?"]
    assert is_synthetic(short.name)
    with pytest.raises(LongsearchError, match="holds 2 sets"):
        load_dataset(folder)


def test_a_context_length_without_a_judged_query_is_an_error(tmp_path):
    folder = write_longembed(tmp_path / "needle", 256, 512)
    (folder / "qrels.jsonl").write_text('{"qid": "q0", "doc_id": "d1", "context_length": 256}\n')
    with pytest.raises(LongsearchError, match="longembed-needle-512 has no query with a judged document"):
        load_datasets(folder)


@pytest.mark.parametrize(
    ("file", "said"), [("corpus.jsonl", "lacks doc_id or text"), ("qrels.jsonl", "lacks qid or doc_id")]
)
def test_a_line_in_longembeds_format_without_an_id_is_an_error(tmp_path, file, said):
    folder = write_longembed(tmp_path / "needle", 256)
    (folder / file).write_text('{"_id": "d0"}')
    with pytest.raises(LongsearchError, match=f"{file}, line 1 {said}"):
        load_dataset(folder)


def test_a_limit_spreads_the_queries_over_the_set(tmp_path):
    dataset = load_dataset(write_set(tmp_path))
    assert [query.id for query in dataset.limited(1).queries] == ["a"]
    assert dataset.limited(5) == dataset


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("corpus.jsonl", '{"_id": "x"}', "corpus.jsonl, line 1 lacks _id or text"),
        ("queries.jsonl", "{oops", "queries.jsonl, line 1 is not valid JSON"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\na\tanimals", "qrels.tsv, line 2 is not"),
        (
            "qrels.tsv",
            "a\tnowhere\t1\nz\tanimals\t1",
            "judged document: 2 judgements name an unknown document or query",
        ),
        ("queries.jsonl", '{"_id": "a", "text": " "}', "the query 'a' has no text"),
        ("qrels.tsv", "a\tanimals\t0", "no query with a judged document"),
        ("meta.json", "{", "meta.json is not valid JSON"),
        ("meta.json", "[]", "meta.json is not an object"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path, file, content, said):
    folder = write_set(tmp_path)
    (folder / file).write_text(content)
    with pytest.raises(LongsearchError, match=said):
        load_dataset(folder)


def test_a_path_without_a_dataset_is_an_error(tmp_path):
    (tmp_path / "x.tar.xz").write_bytes(b"not an archive")
    for path in (tmp_path / "x.tar.xz", tmp_path / "missing"):
        with pytest.raises(LongsearchError, match="cannot read the dataset"):
            load_dataset(path)
    with pytest.raises(LongsearchError, match=r"has no corpus\.jsonl"):
        load_dataset(tmp_path)


def test_judgements_of_unknown_documents_and_queries_are_skipped_and_counted(tmp_path):
    folder = write_set(tmp_path)
    with (folder / "qrels.tsv").open("a") as qrels:
        qrels.write("a\tnowhere\t1\nb\tnowhere\t0\nnobody\tmusic\t1\n")
    dataset = load_dataset(folder)
    assert dataset.qrels == {"a": {"animals": 2}, "b": {"music": 1}}
    assert dataset.n_skipped == 3


def write_spans(folder, *spans: dict) -> None:
    (folder / "docs.jsonl").write_text(json.dumps({"_id": "d", "text": "one two three"}))
    (folder / "spans.jsonl").write_text("\n".join(json.dumps({"_id": "q", "text": "two?"} | span) for span in spans))


def test_answers_in_unknown_documents_are_skipped_and_counted(tmp_path):
    write_spans(tmp_path, {"doc": "nowhere", "spans": [[0, 3]]}, {"doc": "d", "spans": [[4, 7]]})
    dataset = load_dataset(tmp_path)
    assert [query.spans for query in dataset.queries] == [((4, 7),)]
    assert dataset.n_skipped == 1


@pytest.mark.parametrize(
    ("span", "said"), [({"doc": "d"}, "line 1 lacks"), ({"doc": "d", "spans": [4, 7]}, "spans of 'q' are not pairs")]
)
def test_answers_without_a_pair_of_borders_are_an_error(tmp_path, span, said):
    write_spans(tmp_path, span)
    with pytest.raises(LongsearchError, match=said):
        load_dataset(tmp_path)


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path):
    folder = write_set(tmp_path)
    (folder / "corpus.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(LongsearchError, match=r"corpus\.jsonl is not UTF-8"):
        load_dataset(folder)


def test_an_archive_may_hold_other_files(tmp_path):
    folder = write_set(tmp_path)
    (folder / "cover.png").write_bytes(b"\x89PNG\xff")
    with tarfile.open(tmp_path / "tiny.tar.xz", "w:xz") as archive:
        archive.add(folder, "tiny")
    assert len(load_dataset(tmp_path / "tiny.tar.xz").queries) == 2
