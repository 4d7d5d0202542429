"""A checkpoint may be read with another readout than its own, if it has the weights."""

from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.errors import ModelError
from longsearch.engine.evaluation.options import from_arguments, parser
from longsearch.engine.inference.encoder import Encoder
from tests.engine.tiny_models import PROSE, save_embedder


@pytest.mark.parametrize("own", ["contextual", "generative"])
def test_a_model_read_as_eos_gives_the_vectors_of_an_eos_model_with_its_backbone(own: str, tmp_path: Path) -> None:
    folder, eos = save_embedder(tmp_path / own, own), save_embedder(tmp_path / "eos", "eos")
    found, expected = Encoder.open(folder, readout="eos"), Encoder.open(eos)
    assert found.dim == expected.dim
    np.testing.assert_array_equal(found.encode_document(PROSE).vector, expected.encode_document(PROSE).vector)


def test_its_vectors_are_not_compared_with_those_of_its_own_readout(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "generative")
    assert Encoder.open(folder, readout="eos").fingerprint != Encoder.open(folder).fingerprint


@pytest.mark.parametrize("other", ["mean", "contextual", "generative"])
def test_a_readout_whose_weights_are_not_in_the_checkpoint_is_refused(other: str, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    with pytest.raises(ModelError, match=other):
        Encoder.open(folder, readout=other)


def test_the_options_of_an_evaluation_take_a_readout() -> None:
    assert from_arguments(parser().parse_args(["needle", "--readout", "eos"])).readout == "eos"
    assert from_arguments(parser().parse_args(["needle"])).readout is None
