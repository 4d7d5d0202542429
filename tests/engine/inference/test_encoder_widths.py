"""One loaded model runs at all of its widths, with the vectors of a model that was opened at each of them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from tests.engine.tiny_models import PROSE, save_embedder

TEXT = PROSE[:3000]
NESTED = (1.0, 0.5, 0.25)


@pytest.fixture(scope="module", params=["mean", "eos"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_embedder(tmp_path_factory.mktemp("nested") / request.param, request.param, widths=NESTED)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=64)


@pytest.mark.parametrize("width", [0.5, 0.25])
def test_a_loaded_model_at_a_width_equals_the_model_opened_at_it(folder: Path, encoder: Encoder, width: float) -> None:
    opened = Encoder.open(folder, device="cpu", dtype="float32", vertical_size=64, width=width)
    narrow = encoder.at(width)
    assert (narrow.width, narrow.dim, narrow.fingerprint) == (width, encoder.dim, encoder.fingerprint)
    ours, theirs = narrow.encode_document(TEXT), opened.encode_document(TEXT)
    np.testing.assert_array_equal(ours.passage_vectors, theirs.passage_vectors)
    np.testing.assert_array_equal(ours.vector, theirs.vector)
    np.testing.assert_array_equal(narrow.encode_query("who may copy it?"), opened.encode_query("who may copy it?"))
    assert not np.allclose(ours.vector, encoder.encode_document(TEXT).vector, atol=1e-3)


def test_widths_are_made_once_and_share_the_table_of_tokens(encoder: Encoder) -> None:
    narrow = encoder.at(0.5)
    assert narrow is encoder.at(0.5)
    assert encoder.at(1.0) is encoder
    assert narrow.model.embeddings.weight.data_ptr() == encoder.model.embeddings.weight.data_ptr()
    own = {name: p.numel() for name, p in narrow.model.named_parameters() if not name.startswith("embeddings.")}
    full = {name: p.numel() for name, p in encoder.model.named_parameters() if not name.startswith("embeddings.")}
    assert sum(own.values()) < 0.65 * sum(full.values())


def test_a_width_that_the_model_was_not_trained_at_is_refused(encoder: Encoder) -> None:
    with pytest.raises(ModelError, match=r"trained at widths down to 0\.25"):
        encoder.at(0.125)
    with pytest.raises(ModelError, match="cannot be cut again"):
        encoder.at(0.5).at(0.25)


def test_a_model_of_one_width_has_no_other(tmp_path: Path) -> None:
    plain = Encoder.open(save_embedder(tmp_path / "plain", "mean"), device="cpu")
    assert plain.width_for(lambda: 10**12) == 1.0
    assert plain.at(1.0) is plain
    with pytest.raises(ModelError, match="full width alone"):
        plain.at(0.5)


@pytest.mark.parametrize(("saved_at", "resumed_at"), [(1.0, 0.5), (0.5, 1.0), (0.5, 0.25)])
def test_a_state_is_resumed_at_its_own_width_and_at_no_other(
    encoder: Encoder, saved_at: float, resumed_at: float
) -> None:
    tokens, passages = encoder.split(TEXT)
    own, other = encoder.at(saved_at), encoder.at(resumed_at)
    first, *rest = own.stream(tokens, passages)
    state = first.saved_state()
    assert rest
    assert own.can_resume(tokens, passages, state)
    assert not other.can_resume(tokens, passages, state)
    with pytest.raises(ModelError, match="another model or another document"):
        list(other.stream(tokens, passages, state))
    *_, last = own.stream(tokens, passages, state)
    np.testing.assert_allclose(last.document_vector, rest[-1].document_vector, atol=1e-6)


def test_a_width_runs_in_bfloat16_too(folder: Path) -> None:
    half = Encoder.open(folder, device="cpu", dtype="bfloat16")
    opened = Encoder.open(folder, device="cpu", dtype="bfloat16", width=0.5)
    weights = opened.model.state_dict()
    for name, tensor in half.at(0.5).model.state_dict().items():
        assert torch.equal(tensor, weights[name]), name
