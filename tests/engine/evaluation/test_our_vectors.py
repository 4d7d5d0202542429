"""longsearch's vectors of a set, and their cache."""

from functools import partial
from weakref import WeakValueDictionary

import numpy as np
import pytest

from longsearch.engine import passages
from longsearch.engine.evaluation import run as evaluation_run
from longsearch.engine.evaluation.datasets import Dataset, EvalQuery, load_dataset
from longsearch.engine.evaluation.longembed import GeneratedDocument
from longsearch.engine.evaluation.our_vectors import OurVectors, first_dims, passage_scores
from longsearch.engine.evaluation.systems import BASELINES, OURS, Bench
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from tests.engine.evaluation.evaluation_helpers import WORDS, forbid_reading, write_model, write_set


@pytest.fixture
def made(tmp_path):
    """Return a function that makes the set's vectors with a new encoder and a shared cache."""
    dataset, model = load_dataset(write_set(tmp_path)), write_model(tmp_path)

    def make(width: float = 1.0, instruction: str | None = None, cache: VectorCache | None = None) -> OurVectors:
        encoder = Encoder.open(model, device="cpu", dtype="float32", width=width)
        return OurVectors(dataset, encoder, instruction, width, cache or VectorCache(tmp_path / "kept"))

    return make


def test_cached_vectors_are_not_computed_again(made, monkeypatch):
    first = made()
    before = first.passage_vectors, first.document_vectors, first.queries
    forbid_reading(monkeypatch)
    again = made()
    for old, new in zip(before, (again.passage_vectors, again.document_vectors, again.queries), strict=True):
        assert np.array_equal(old, new)


def test_the_cache_distinguishes_widths_and_instructions(made):
    whole, half, asked = made(), made(width=0.5), made(instruction="where is the")
    assert not np.array_equal(whole.passage_vectors, half.passage_vectors)
    assert not np.array_equal(whole.queries, asked.queries)
    assert np.array_equal(half.passage_vectors, made(width=0.5, cache=VectorCache(None)).passage_vectors)


def test_a_truncated_cache_file_is_replaced(made, tmp_path):
    vectors = made().passage_vectors
    for path in (tmp_path / "kept").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    assert np.array_equal(made().passage_vectors, vectors)
    assert np.array_equal(np.load(next((tmp_path / "kept").glob("ours-*.npy")))[: len(vectors)], vectors)


def test_vectors_equal_those_of_documents_encoded_one_by_one(made):
    ours = made(cache=VectorCache(None))
    embeddings = [ours.encoder.encode_document(document.full_text) for document in ours.dataset.documents]
    assert np.allclose(ours.passage_vectors, np.concatenate([e.passage_vectors for e in embeddings]), atol=1e-5)
    assert np.allclose(ours.document_vectors, np.stack([e.vector for e in embeddings]), atol=1e-5)
    assert ours.passages.borders.tolist() == [list(border) for e in embeddings for border in e.passages]


def test_a_passages_score_is_half_its_own_cosine_and_half_its_nearest_excerpts(made, monkeypatch):
    monkeypatch.setattr(passages, "_EXCERPT", passages._Sizes(1, 2, 1))
    ours = made(cache=VectorCache(None))
    own = [e for d in ours.dataset.documents for e in ours.encoder.encode_document(d.full_text).excerpts]
    own = [excerpts.vectors for excerpts in own]
    assert max(map(len, own)) > 1
    for query, scores in zip(ours.queries, ours.passage_scores(), strict=True):
        cosines = ours.passage_vectors @ query
        nearest = [max(vectors @ query, default=cosine) for vectors, cosine in zip(own, cosines, strict=True)]
        assert np.allclose(scores, (cosines + nearest) / 2, atol=1e-5)


def test_scores_of_first_dimensions_use_the_first_dimensions_of_excerpts(made):
    ours = made(cache=VectorCache(None))
    shortened = ours.of_dim(3)
    scores = passage_scores(
        first_dims(ours.queries, 3),
        first_dims(ours.passage_vectors, 3),
        first_dims(ours.excerpt_vectors, 3),
        ours.n_excerpts,
        excerpt_weight=0.5,
    )
    assert np.allclose(shortened.passage_scores(), scores, atol=1e-6)


def test_a_second_run_of_the_command_encodes_nothing(tmp_path, monkeypatch, capsys):
    arguments = [str(write_set(tmp_path)), "--model", str(write_model(tmp_path)), "--cache", str(tmp_path / "kept")]
    arguments += ["--systems", "meaning", "document", "hybrid", "--width", "1", "0.5", "--dims", "4"]
    assert evaluation_run.run(arguments) == 0
    table = capsys.readouterr().out
    forbid_reading(monkeypatch)
    assert evaluation_run.run(arguments) == 0
    assert capsys.readouterr().out == table


def test_the_texts_of_generated_documents_are_held_a_few_at_a_time(tmp_path):
    class Text(str):
        """A string that can be counted."""

        __slots__ = ("__weakref__",)

    alive: WeakValueDictionary[int, Text] = WeakValueDictionary()
    most = written = 0

    def write(row: int) -> str:
        nonlocal most, written
        text = Text(f"{WORDS[row % len(WORDS)]} fox. " * (20 + row))
        written += 1
        alive[written] = text
        most = max(most, len(alive))
        return text

    documents = tuple(GeneratedDocument(f"d{row}", partial(write, row)) for row in range(24))
    dataset = Dataset("generated", documents, (EvalQuery("q", "harp"),), {"q": {"d0": 1}})
    encoder = Encoder.open(write_model(tmp_path), device="cpu", dtype="float32")
    ours = OurVectors(dataset, encoder, None, cache=VectorCache(tmp_path / "kept"))
    bench = Bench(dataset, ours, lambda: pytest.fail("MiniLM was asked for"), ours.cache)
    for system in ("meaning", "passages", "document", "words", "bm25"):
        assert len((OURS | BASELINES)[system](bench).rows) == 1
    assert 1 <= most <= 2 * encoder.batch()[0]
