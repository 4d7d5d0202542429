"""`slice` writes one width of a MatMamba model as a smaller model."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.training import commands
from longsearch.engine.training.data.shards import write_shards
from longsearch.engine.training.student.initialise import save_new
from tests.engine.training.training_helpers import make_pairs, make_tokenizer, write_checkpoint

TEXT = " ".join(f"w{i % 50}" for i in range(300))


def nested_model(folder, d_mlp=None, widths=(1.0, 0.5, 0.25, 0.125)):
    """Write a model of 8 heads with random weights in all tensors, trained at `widths` as its config says."""
    tokenizer = make_tokenizer()
    config = Mamba2Config(
        16, 2, tokenizer.get_vocab_size(), 8, 4, 8, gated_norm_groups=1, block_size=8, norm_eps=1e-6,
        use_bias=True, dt_max=1.0, final_norm=False, d_mlp=d_mlp,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Mamba2(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    save_new(folder, model, tokenizer)
    path = folder / "config.json"
    raw = json.loads(path.read_text())
    raw["longsearch"]["widths"] = list(widths)
    path.write_text(json.dumps(raw))
    return folder


def vectors(folder, width=1.0):
    encoder = Encoder.open(folder, device="cpu", dtype="float32", width=width)
    return np.stack([encoder.encode_document(TEXT).vector, encoder.encode_query("w3 w4 w5")])


@pytest.mark.parametrize("d_mlp", [None, 40], ids=["mixers alone", "MLPs and post-norms"])
@pytest.mark.parametrize(("written", "width", "heads"), [("1/2", 0.5, 4), ("0.375", 0.375, 3), ("1/8", 0.125, 1)])
def test_a_slice_gives_the_vectors_that_the_whole_model_gives_at_that_width(tmp_path, d_mlp, written, width, heads):
    whole, small = nested_model(tmp_path / "whole", d_mlp), tmp_path / "small"
    assert commands.run(["slice", "--model", str(whole), "--width", written, "--out", str(small)]) == 0
    np.testing.assert_array_equal(vectors(small), vectors(whole, width))
    assert not np.allclose(vectors(small), vectors(whole), atol=1e-3)
    config, readout = read_config(small / "config.json")
    assert (config.n_heads, config.d_mlp) == (heads, d_mlp and d_mlp * heads // 8)
    assert replace(config, n_heads=8, d_mlp=d_mlp) == read_config(whole / "config.json")[0]
    assert readout.widths == tuple([1.0] + [w / width for w in (0.25, 0.125) if w < width])


def test_a_slice_keeps_the_narrower_widths_and_is_a_smaller_download(tmp_path):
    whole, small = nested_model(tmp_path / "whole", 40), tmp_path / "small"
    assert commands.run(["slice", "--model", str(whole), "--width", "1/2", "--out", str(small)]) == 0
    np.testing.assert_array_equal(vectors(small, 0.25), vectors(whole, 0.125))
    sizes = [(folder / "model.safetensors").stat().st_size for folder in (small, whole)]
    assert sizes[0] < 0.7 * sizes[1]
    fingerprints = {Encoder.open(folder, device="cpu").fingerprint for folder in (small, whole)}
    assert len(fingerprints) == 2


def test_a_slice_of_a_model_that_was_not_nested_can_be_trained_alone(tmp_path):
    whole, small = write_checkpoint(tmp_path / "whole"), tmp_path / "small"
    assert commands.run(["slice", "--model", str(whole), "--width", "1/4", "--out", str(small)]) == 0
    write_shards(make_pairs(40), make_tokenizer(), tmp_path / "shards")
    options = ["--model", str(small), "--shards", str(tmp_path / "shards"), "--out", str(tmp_path / "trained")]
    options += ["--steps", "1", "--without-teacher", "--widths", "1", "--width-weights", "1"]
    assert commands.run(["contrast", *options, "--device", "cpu", "--dtype", "float32"]) == 0
    assert load_file(tmp_path / "trained" / "model.safetensors")["backbone.layers.0.mixer.D"].shape == (2,)


@pytest.mark.parametrize(
    ("width", "out", "said"),
    [("0.3", "small", "does not divide this model's 8 heads"), ("1/2", "whole", "is the whole model")],
)
def test_a_width_that_gives_no_whole_heads_and_the_models_own_folder_are_refused(tmp_path, capsys, width, out, said):
    whole = nested_model(tmp_path / "whole")
    before = (whole / "config.json").read_text()
    assert commands.run(["slice", "--model", str(whole), "--width", width, "--out", str(tmp_path / out)]) == 1
    assert said in capsys.readouterr().err
    assert (whole / "config.json").read_text() == before


def test_one_fraction_for_each_layer_is_no_small_model(tmp_path, capsys):
    with pytest.raises(SystemExit):
        commands.run(["slice", "--width", "1,1/2", "--out", str(tmp_path / "small")])
    assert "give one fraction for all layers" in capsys.readouterr().err


def test_a_model_in_the_layout_of_state_spaces_is_refused(tmp_path, capsys):
    whole = nested_model(tmp_path / "whole")
    raw = json.loads((whole / "config.json").read_text())
    raw = {
        "d_model": 16, "n_layer": 2, "vocab_size": raw["vocab_size"], "pad_vocab_size_multiple": 1,
        "ssm_cfg": {"layer": "Mamba2", "d_state": 8, "headdim": 4, "expand": 2, "bias": True, "chunk_size": 8},
        "longsearch": raw["longsearch"],
    }  # fmt: skip
    (whole / "config.json").write_text(json.dumps(raw))
    tensors = load_file(whole / "model.safetensors")
    save_file(tensors | {"backbone.norm_f.weight": torch.ones(16)}, whole / "model.safetensors")
    assert commands.run(["slice", "--model", str(whole), "--width", "1/2", "--out", str(tmp_path / "small")]) == 1
    assert "layout of Hugging Face" in capsys.readouterr().err
