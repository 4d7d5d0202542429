"""The identity read from files equals that of the loaded model, and needs no torch."""

import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load, save_file
from tiny_models import BUNDLED, save_embedder

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.identity import ModelIdentity, identify

REPOSITORY = Path(__file__).parents[3]


def loaded_identity(model: str | Path) -> ModelIdentity:
    """The slow twin: load the model."""
    encoder = Encoder.open(model, device="cpu", dtype="float32")
    return ModelIdentity(encoder.fingerprint, encoder.dim)


@pytest.mark.parametrize(("readout", "dim"), [("mean", 12), ("eos", 16)])
def test_the_identity_from_files_equals_that_of_the_loaded_model(readout: str, dim: int, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", readout, dim=12)
    assert identify(folder) == loaded_identity(folder)
    assert identify(folder).dim == dim


def test_the_bundled_model_has_one_identity_under_both_names() -> None:
    assert identify("bundled") == identify(BUNDLED) == loaded_identity("bundled")


def test_the_identity_of_split_weights_equals_that_of_the_loaded_model(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    tensors = load((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    for part, name in enumerate(sorted(tensors)):
        save_file({name: tensors[name]}, folder / f"model-{part:03}.safetensors")
    assert identify(folder) == loaded_identity(folder)


def test_identify_raises_the_same_errors_as_loading(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    weights = folder / "model.safetensors"
    tensors = load(weights.read_bytes())  # a mapped file must not be written over
    for refused in (lambda: identify(folder), lambda: loaded_identity(folder)):
        weights.write_bytes(b"no weights")
        with pytest.raises(ModelError, match="cannot read"):
            refused()
        save_file({name: tensor for name, tensor in tensors.items() if "projection" not in name}, weights)
        with pytest.raises(ModelError, match=r"lack readout\.projection\.weight"):
            refused()
        weights.unlink()
        with pytest.raises(ModelError, match=r"no \.safetensors"):
            refused()
    with pytest.raises(ModelError, match="nowhere"):
        identify(tmp_path / "nowhere")


def test_identify_does_not_import_torch() -> None:
    program = (
        "import sys; from longsearch.engine.models.identity import identify; identify('bundled');"
        " print([name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == "[]"
