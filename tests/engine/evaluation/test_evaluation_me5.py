"""The baseline of a multilingual E5 reads queries and passages in their own ways, and only if its folder is given."""

import numpy as np
import pytest

from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.run import run
from longsearch.engine.evaluation.systems import Bench, me5_systems
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.encoder import Encoder
from tests.engine.evaluation.evaluation_helpers import write_model, write_set
from tests.engine.training.multilingual_helpers import make_e5


def test_me5_ranks_passages_by_their_cosine_with_queries_read_as_queries(tmp_path):
    e5 = E5(make_e5(tmp_path / "e5"))
    dataset = load_dataset(write_set(tmp_path))
    ours = OurVectors(dataset, Encoder.open(write_model(tmp_path), device="cpu", dtype="float32"), None)
    bench = Bench(dataset, ours, lambda: pytest.fail("MiniLM is not needed"), VectorCache(None))
    systems = me5_systems(lambda: e5, "e5", VectorCache(tmp_path / "cache"))
    ranked = systems["me5"](bench)
    passages = e5.encode(bench.span_texts(bench.windows))
    queries = e5.of_queries.encode([query.text for query in dataset.queries])
    for rows, query in zip(ranked.rows, queries, strict=True):
        assert np.all(np.diff((passages @ query)[rows]) <= 1e-6)
    mixed = systems["me5-hybrid"](bench)
    assert [len(set(rows.tolist())) for rows in mixed.rows] == [len(rows) for rows in mixed.rows]


def test_the_command_needs_the_folder_and_runs_it_beside_the_others(tmp_path, capsys):
    model, dataset, e5 = write_model(tmp_path), write_set(tmp_path), make_e5(tmp_path / "e5")
    options = [str(dataset), "--model", str(model), "--device", "cpu", "--dtype", "float32", "--systems", "me5", "bm25"]
    assert run(options) == 1
    assert "give --me5 DIR" in capsys.readouterr().err
    assert run([*options, "--me5", str(e5)]) == 0
    assert "me5 |" in capsys.readouterr().out
    assert run([*options, "--me5", str(tmp_path / "nowhere")]) == 1
    assert "cannot read the teacher" in capsys.readouterr().err
