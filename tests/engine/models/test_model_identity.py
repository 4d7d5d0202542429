"""An identity read from files is that of the loaded model, and is had without torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors.torch import load, save_file
from tiny_models import BUNDLED, save_embedder

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.identity import ModelIdentity, identify
from longsearch.engine.models.weight_files import hash_weights

REPOSITORY = Path(__file__).parents[3]


def loaded_identity(model: str | Path) -> ModelIdentity:
    """The slow twin."""
    encoder = Encoder.open(model, device="cpu", dtype="float32")
    return ModelIdentity(encoder.fingerprint, encoder.dim)


@pytest.mark.parametrize(("readout", "dim"), [("mean", 12), ("eos", 16)])
def test_the_files_say_what_the_loaded_model_says(readout: str, dim: int, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", readout, dim=12)
    assert identify(folder) == loaded_identity(folder)
    assert identify(folder).dim == dim


def test_the_bundled_models_fingerprint_stays_the_same() -> None:
    """With another fingerprint every index would be read again. Change it only together with the model."""
    assert identify("bundled") == ModelIdentity("5d75beb285a1b90b5673b67a011c3b39", 384)


def test_so_do_those_of_the_bundled_model_under_either_name() -> None:
    assert identify("bundled") == identify(BUNDLED) == loaded_identity("bundled")


def test_so_do_weights_in_several_files(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "mean")
    tensors = load((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    for part, name in enumerate(sorted(tensors)):
        save_file({name: tensors[name]}, folder / f"model-{part:03}.safetensors")
    assert identify(folder) == loaded_identity(folder)


def test_what_is_no_model_is_said_as_by_loading_it(tmp_path: Path) -> None:
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


def test_no_torch_is_loaded_for_it() -> None:
    program = (
        "import sys; from longsearch.engine.models.identity import identify; identify('bundled');"
        " print([name for name in ('torch', 'transformers', 'tokenizers') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_one_changed_byte_of_the_weights_is_another_model(tmp_path: Path) -> None:
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


def test_a_fingerprint_changes_with_whatever_changes_vectors(tmp_path: Path) -> None:
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
