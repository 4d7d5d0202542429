"""`longsearch eval --think K`: queries with K soft tokens over documents whose vectors stay as they are."""

import json

import numpy as np
import pytest

from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.run import run
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from tests.engine.evaluation.evaluation_helpers import write_model, write_set
from tests.engine.tiny_models import save_embedder


def test_queries_think_and_documents_stay_as_they_are_in_the_cache_too(tmp_path):
    dataset, folder = load_dataset(write_set(tmp_path)), save_embedder(tmp_path / "model", "generative")
    encoder, kept = Encoder.open(folder, device="cpu", dtype="float32"), VectorCache(tmp_path / "kept")
    for _ in range(2):  # the second time from the cache
        plain, three, ten = (OurVectors(dataset, encoder, None, cache=kept, think=k) for k in (None, 3, 10))
        assert np.array_equal(plain.document_vectors, ten.document_vectors)
        assert np.array_equal(plain.queries, three.queries)
        assert not np.allclose(plain.queries, ten.queries, atol=1e-4)
        for query, vector in zip(dataset.queries, ten.queries, strict=True):
            np.testing.assert_allclose(vector, encoder.encode_query(query.text, None, 10), atol=1e-6)


def test_the_command_takes_the_number_of_soft_tokens(tmp_path, capsys):
    arguments = [str(write_set(tmp_path)), "--systems", "meaning", "--json", "--dtype", "float32"]
    generative = str(save_embedder(tmp_path / "generative", "generative"))
    found = []
    for options in ([], ["--think", "3"]):
        assert run([*arguments, "--model", generative, *options]) == 0
        (result,) = json.loads(capsys.readouterr().out)["results"]
        found.append(result["metrics"])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("readout", "steps", "said"), [("mean", "5", "cannot think"), ("generative", "999", "not 999")]
)
def test_a_model_that_cannot_think_so_is_an_error(tmp_path, capsys, readout: str, steps: str, said: str):
    folder = write_model(tmp_path) if readout == "mean" else save_embedder(tmp_path / "model", readout)
    assert run([str(write_set(tmp_path)), "--systems", "meaning", "--model", str(folder), "--think", steps]) == 1
    assert said in capsys.readouterr().err
