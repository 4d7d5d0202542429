"""`whiten` takes what tells languages apart out of a model's vectors."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training import commands
from longsearch.engine.training.data.shards import write_shards
from longsearch.engine.training.student import whitening
from longsearch.engine.training.student.whitening import (
    covariance,
    language_means,
    projecting_out,
    save_whitened,
    shrunk,
    within_pairs,
)
from tests.engine.training.training_helpers import make_pairs, make_tokenizer, write_checkpoint

READOUT = "readout.projection.weight"
TEXTS = ["w1 w2 w3 w4 w5", "w7 w8", "w30 w31 w50 w9"]


def vectors_of(folder: Path) -> np.ndarray:
    encoder = Encoder.open(folder, device="cpu", dtype="float32")
    return np.stack([encoder.encode_query(text) for text in TEXTS]).astype(np.float64)


def test_all_means_become_one_and_what_is_orthogonal_to_them_stays() -> None:
    means = np.random.default_rng(0).normal(size=(4, 12))
    projection = projecting_out(means)
    projected = means @ projection.T
    assert np.allclose(projected, projected[0])
    other = np.linalg.svd(means - means.mean(0))[2][-1]
    assert np.allclose(projection @ other, other)
    assert np.linalg.matrix_rank(projection) == 12 - 3


def test_directions_in_which_pairs_differ_count_less_the_higher_the_power() -> None:
    differences = np.random.default_rng(1).normal(size=(500, 6)) * (10, 1, 1, 1, 1, 1) + 3
    within = covariance(differences, np.zeros(500, np.int64))
    assert np.trace(within) == pytest.approx(1)
    ratios = [shrunk(within, power)[0, 0] / shrunk(within, power)[1, 1] for power in (0.0, 0.2, 0.5)]
    assert ratios[0] == pytest.approx(1)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[2] < 0.5


def test_what_all_pairs_of_a_source_share_is_no_difference() -> None:
    random = np.random.default_rng(2).normal(size=(200, 5))
    sources = np.repeat([0, 1], 100)
    shifted = random + np.where(sources[:, None] == 0, 5.0, -7.0)
    assert np.allclose(covariance(random, sources), covariance(shifted, sources))


def test_pairs_that_are_no_translations_and_no_questions_are_not_measured() -> None:
    differences, sources = np.ones((2, 3)), np.zeros(2, np.int64)
    with pytest.raises(LongsearchError, match="no translation and no question"):
        within_pairs(differences, ["title2page", "ict"], sources)


def test_a_language_with_few_texts_has_no_mean() -> None:
    vectors = np.eye(100)
    languages = np.array(["de"] * 45 + ["fr"] * 45 + ["it"] * 5 + [""] * 5)
    assert np.allclose(language_means(vectors, languages), [vectors[:45].mean(0), vectors[45:90].mean(0)])
    with pytest.raises(LongsearchError, match="texts of 1 languages"):
        language_means(vectors[:50], languages[:50])


def test_the_command_changes_the_readout_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whitening, "language_of", lambda text: "de" if len(text) % 2 else "fr")
    monkeypatch.setattr(whitening, "_PER_SOURCE", 100)
    model, out = write_checkpoint(tmp_path / "model"), tmp_path / "white"
    write_shards(make_pairs(200), make_tokenizer(), tmp_path / "shards")
    given = ["--model", str(model), "--shards", str(tmp_path / "shards")]
    assert commands.run(["whiten", *given, "--out", str(out), "--power", "0"]) == 0
    before, after = vectors_of(model), vectors_of(out)
    assert not np.allclose(before, after, atol=1e-3)
    tensors = [load_file(folder / "model.safetensors") for folder in (model, out)]
    assert [name for name in tensors[0] if not np.array_equal(tensors[0][name], tensors[1][name])] == [READOUT]
    assert commands.run(["whiten", *given, "--out", str(tmp_path / "both")]) == 0
    assert not np.allclose(vectors_of(tmp_path / "both"), after, atol=1e-3)


def test_a_model_is_not_whitened_in_place(tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "model")
    with pytest.raises(ModelError, match="the model itself"):
        save_whitened(model, tmp_path, model)
