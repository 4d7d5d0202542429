"""The identity that is read from a model's files equals that of the loaded model, and needs no torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load, save_file

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.identity import ModelIdentity, identify
from longsearch.engine.models.weight_files import hash_weights
from tests.engine.tiny_models import BUNDLED, save_embedder

REPOSITORY = Path(__file__).parents[3]


def loaded_identity(model: str | Path) -> ModelIdentity:
    """Load the model to get its identity: the slow twin of `identify`."""
    encoder = Encoder.open(model, device="cpu", dtype="float32")
    return ModelIdentity(encoder.fingerprint, encoder.dim, encoder.excerpt_weight)


@pytest.mark.parametrize(("readout", "dim"), [("mean", 12), ("eos", 16), ("contextual", 32), ("generative", 16)])
def test_the_identity_read_from_files_equals_that_of_the_loaded_model(readout: str, dim: int, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", readout, dim=12)
    assert identify(folder) == loaded_identity(folder)
    assert identify(folder).dim == dim


def test_the_bundled_models_fingerprint_does_not_change() -> None:
    """With another fingerprint every index would be read again. Change it only together with the model."""
    assert identify("bundled") == ModelIdentity("5cfe2e20161e7382adc0b78bc4fb8695", 384, 0.5)


def test_the_bundled_model_has_one_identity_under_both_of_its_names() -> None:
    assert identify("bundled") == identify(BUNDLED) == loaded_identity("bundled")


def test_weights_in_several_files_have_the_identity_of_the_loaded_model(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    tensors = load((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    for part, name in enumerate(sorted(tensors)):
        save_file({name: tensors[name]}, folder / f"model-{part:03}.safetensors")
    assert identify(folder) == loaded_identity(folder)


def test_identify_raises_the_errors_of_loading(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    weights = folder / "model.safetensors"
    tensors = load(weights.read_bytes())  # not mapped, because the file is overwritten below
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


def test_identify_does_not_load_torch() -> None:
    program = (
        "import sys; from longsearch.engine.models.identity import identify; identify('bundled');"
        " print([name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_one_changed_byte_of_the_weights_changes_their_hash(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    before = hash_weights(folder)
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    for place in (len(data) // 2, len(data) - 1):
        changed = data.copy()
        changed[place] ^= 1
        weights.write_bytes(changed)
        assert hash_weights(folder) != before
    weights.write_bytes(data)
    assert hash_weights(folder) == before


def test_everything_that_changes_vectors_changes_the_fingerprint(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    path = folder / "config.json"

    def fingerprint() -> str:
        return Encoder.open(folder, device="cpu", dtype="float32").fingerprint

    seen = [fingerprint()]
    assert seen[0] == fingerprint()
    for changes in (
        {"layer_norm_epsilon": 1e-6},
        {"gated_norm_groups": 2},
        {"longsearch": {"readout": "mean", "default_instruction": "Find"}},
        {"longsearch": {"readout": "mean", "query_template": "{prompt} {text}"}},
    ):
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
        seen.append(fingerprint())
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", "utf-8")
    seen.append(fingerprint())
    assert len(set(seen)) == len(seen)
