"""RWKV-7 agrees with its published recurrence, xLSTM with transformers, and both in slices with one pass."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.registry import load_model
from longsearch.engine.models.config import read_config
from longsearch.engine.models.identity import identify
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.papers.recurrent.world_tokenizer import END_OF_TEXT
from tests.engine.family_checkpoints import RWKV7, VOCABULARY, XLSTM, rwkv7_tensors, save, save_family, xlstm_tensors
from tests.engine.papers.recurrent.reference_rwkv7 import hidden_states
from tests.engine.slices import run_vertically
from tests.engine.tiny_models import PROSE, world_vocabulary

FAMILIES = pytest.mark.parametrize("family", ["rwkv7", "xlstm"])
Q = 16


def load(folder: Path, dtype: torch.dtype = torch.float32) -> RecurrentModel:
    config, _ = read_config(folder / "config.json")
    model, _ = load_model(folder, config, "cpu", dtype)
    model.block_size = Q
    return model


def random_tokens(length: int, seed: int = 5) -> Tensor:
    return torch.randint(0, VOCABULARY, (length,), generator=torch.Generator().manual_seed(seed))


def horizontal(model: RecurrentModel, tokens: Tensor) -> Tensor:
    hidden, _ = model.step(tokens, model.initial_state(len(tokens)))
    return hidden


def close(ours: Tensor, theirs: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


@pytest.fixture(scope="module", params=["rwkv7", "xlstm"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return load(save_family(tmp_path_factory.mktemp("tiny"), request.param))


@pytest.mark.parametrize("changes", [{}, {"norm_first": False}, {"head_dim": 4}, {"norm_eps": 0.1}])
def test_rwkv7_agrees_with_the_published_recurrence(changes: dict[str, Any], tmp_path: Path) -> None:
    config, tokens = RWKV7 | changes, random_tokens(3 * Q + 5)
    tensors = rwkv7_tensors(config)
    if not config["norm_first"]:
        tensors = {name: tensor for name, tensor in tensors.items() if "pre_norm" not in name}
    found = horizontal(load(save(tmp_path, config, tensors)), tokens[None])[0]
    close(found.double(), hidden_states(config, tensors, tokens.tolist()), 1e-4)


def test_older_rwkv7_files_that_keep_all_token_shifts_in_one_tensor_are_read(tmp_path: Path) -> None:
    tensors, tokens = rwkv7_tensors(RWKV7), random_tokens(20)
    expected = hidden_states(RWKV7, tensors, tokens.tolist())
    for layer in range(RWKV7["num_hidden_layers"]):
        prefix = f"model.layers.{layer}.attn.x_"
        tensors[prefix + "x"] = torch.stack([tensors.pop(prefix + letter).flatten() for letter in "rwkvag"])
    close(horizontal(load(save(tmp_path, RWKV7, tensors)), tokens[None])[0].double(), expected, 1e-4)


@pytest.mark.parametrize("changes", [{}, {"num_heads": 4, "gate_soft_cap": 2.0}, {"qk_dim_factor": 1.0}])
def test_xlstm_agrees_with_transformers(changes: dict[str, Any], tmp_path: Path) -> None:
    from transformers import xLSTMConfig, xLSTMModel

    config, tokens = XLSTM | changes, random_tokens(3 * Q + 5)[None]
    theirs = xLSTMModel(xLSTMConfig(**config)).eval()
    tensors = xlstm_tensors(config)
    own = {name.removeprefix("backbone."): tensor for name, tensor in tensors.items() if "lm_head" not in name}
    theirs.load_state_dict(own)
    with torch.inference_mode():
        expected = theirs(tokens, use_cache=False).last_hidden_state
    close(horizontal(load(save(tmp_path, config, tensors)), tokens), expected, 1e-4)


@pytest.mark.parametrize("size", [1, 3, Q - 1, Q, Q + 1, 3 * Q])
@pytest.mark.parametrize("length", [1, 2, Q, Q + 1, 5 * Q + 3])
def test_slices_of_any_size_agree_with_one_pass(model: RecurrentModel, length: int, size: int) -> None:
    tokens = random_tokens(length)
    parts = list(run_vertically(model, tokens.numpy(), size, model.device))
    expected, state = model.step(tokens[None], model.initial_state())
    tolerance = 2e-6 if size % Q == 0 else 1e-4
    close(torch.cat([hidden for hidden, _ in parts]), expected[0], tolerance)
    for name, tensor in parts[-1][1].tensors().items():
        assert tensor.dtype == torch.float32
        close(tensor, state.tensors()[name], tolerance)


def test_rows_of_a_batch_do_not_influence_each_other(model: RecurrentModel) -> None:
    rows = torch.stack([random_tokens(37, seed) for seed in range(3)])
    close(horizontal(model, rows), torch.cat([horizontal(model, row[None]) for row in rows]), 1e-5)


def test_a_token_does_not_influence_earlier_tokens(model: RecurrentModel) -> None:
    tokens = random_tokens(40)
    changed = tokens.clone()
    changed[25] = (changed[25] + 1) % VOCABULARY
    before, after = horizontal(model, tokens[None])[0], horizontal(model, changed[None])[0]
    close(before[:25], after[:25], 1e-5)
    assert ((before[25:] - after[25:]).abs().amax(1) > 1e-4).all()  # later tokens remember it


def test_a_state_can_be_saved_as_tensors_by_name_and_restored(model: RecurrentModel) -> None:
    tokens = random_tokens(2 * Q)
    _, state = model.step(tokens[None, :Q], model.initial_state())
    kept = {name: tensor.clone() for name, tensor in state.tensors().items()}
    expected, _ = model.step(tokens[None, Q:], state)
    restored = type(state).from_tensors(kept)
    assert torch.equal(model.step(tokens[None, Q:], restored)[0], expected)
    for name, tensor in state.tensors().items():
        assert torch.equal(tensor, kept[name])
        assert tensor.untyped_storage().nbytes() <= 4 * tensor.numel()  # no view of a larger tensor


def test_bfloat16_weights_give_nearly_the_same_and_the_state_stays_float32(tmp_path: Path) -> None:
    for family in ("rwkv7", "xlstm"):
        folder, tokens = save_family(tmp_path / family, family), random_tokens(50)[None]
        rounded = load(folder, torch.bfloat16)
        hidden, state = rounded.step(tokens, rounded.initial_state())
        similar = torch.cosine_similarity(hidden, horizontal(load(folder), tokens), dim=-1)
        assert similar.mean() > 0.99  # the worst token, whose memory is read near zero, has 0.93
        assert hidden.dtype == torch.float32
        assert {tensor.dtype for tensor in state.tensors().values()} == {torch.float32}


@FAMILIES
def test_an_embedder_of_another_family_resumes_from_a_saved_state(family: str, tmp_path: Path) -> None:
    folder = save_family(tmp_path / family, family, chunk_size=Q)
    encoder = Encoder.open(folder, device="cpu", dtype="float32", vertical_size=2 * Q, block_size=Q)
    tokens, passages = encoder.split(PROSE[:3000])
    whole = list(encoder.stream(tokens, passages))
    assert len(passages) > 3
    stopped = whole[len(whole) // 2]
    rest = list(encoder.stream(tokens, passages, stopped.saved_state()))
    np.testing.assert_allclose(rest[-1].document_vector, whole[-1].document_vector, atol=1e-6)
    np.testing.assert_allclose(
        np.concatenate([part.vectors for part in rest]),
        np.concatenate([part.vectors for part in whole[len(whole) // 2 + 1 :]]),
        atol=1e-6,
    )


@FAMILIES
def test_documents_in_a_batch_get_the_vectors_that_each_gets_alone(family: str, tmp_path: Path) -> None:
    encoder = Encoder.open(save_family(tmp_path, family), device="cpu", dtype="float32", block_size=Q)
    texts = {size: PROSE[size : 3 * size] for size in (40, 900, 300, 1500, 20, 700)}
    for key, found in encoder.encode_documents(list(texts.items())):
        alone = encoder.encode_document(texts.pop(key))
        np.testing.assert_allclose(found.vector, alone.vector, atol=1e-4)
        np.testing.assert_allclose(found.passage_vectors, alone.passage_vectors, atol=1e-4)
    assert not texts


def test_a_saved_state_of_one_family_is_refused_by_another(tmp_path: Path) -> None:
    one, other = (Encoder.open(save_family(tmp_path / name, name), device="cpu") for name in ("rwkv7", "xlstm"))
    tokens, passages = one.split(PROSE[:2000])
    saved = next(iter(one.stream(tokens, passages))).saved_state()
    with pytest.raises(ModelError, match="another model"):
        next(iter(other.stream(tokens, passages, saved)))


@FAMILIES
def test_each_family_has_its_own_block_size(family: str, tmp_path: Path) -> None:
    folder = save_family(tmp_path / family, family)
    path = folder / "config.json"
    raw = json.loads(path.read_text("utf-8"))
    raw.pop("chunk_size", None)
    path.write_text(json.dumps(raw), "utf-8")
    config, _ = read_config(path)
    assert config.block_size == {"rwkv7": 32, "xlstm": 64}[family]


@pytest.mark.parametrize(
    ("family", "changes", "says"),
    [
        ("rwkv7", {"attn": {"layers": [1]}}, "attention"),
        ("rwkv7", {"hidden_act": "gelu"}, "pure RWKV-7"),
        ("rwkv7", {"value_dim": [16, 32, 16]}, "value_dim"),
        ("rwkv7", {"head_dim": 7}, "fit together"),
        ("rwkv7", {"head_dim": None}, "missing or damaged"),
        ("rwkv7", {"vocab_size": "large"}, "fit together"),
        ("rwkv7", {"decay_low_rank_dim": 0}, "fit together"),
        ("xlstm", {"slstm_at": [1]}, "sLSTM"),
        ("xlstm", {"weight_mode": "fused"}, "fused"),
        ("xlstm", {"use_bias": True}, "biases"),
        ("xlstm", {"num_heads": 0}, "missing or damaged"),
        ("xlstm", {"num_heads": 900}, "fit together"),
        ("xlstm", {"ffn_round_up_to_multiple_of": 0}, "missing or damaged"),
    ],
)
def test_variants_that_cannot_be_run_are_refused_with_a_reason(
    family: str, changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    path = save_family(tmp_path, family) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
    with pytest.raises(ModelError) as caught:
        read_config(path)
    assert says in f"{caught.value.message} {caught.value.hint}"


@FAMILIES
def test_the_error_for_a_missing_tensor_names_it(family: str, tmp_path: Path) -> None:
    folder = save_family(tmp_path, family)
    tensors = load_file(folder / "model.safetensors")
    lost = next(name for name in sorted(tensors) if ".1." in name)
    del tensors[lost]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=lost.partition(".")[2]):
        load(folder)


def test_training_accepts_only_mamba2(tmp_path: Path) -> None:
    folder = save_family(tmp_path, "xlstm")
    config, _ = read_config(folder / "config.json")
    with pytest.raises(ModelError, match="not a Mamba2"):
        load_mamba2(folder, config, "cpu", torch.float32)


@FAMILIES
def test_only_mamba2_has_widths(family: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="part of its width"):
        Encoder.open(save_family(tmp_path, family, longsearch={"widths": [1.0, 0.5]}), device="cpu", width=0.5)


def test_a_model_with_only_rwkvs_vocabulary_opens_and_its_fingerprint_depends_on_it(tmp_path: Path) -> None:
    folder = save_family(tmp_path / "rwkv", "rwkv7")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink(missing_ok=True)
    world_vocabulary(folder, ["gull", " harbour"])
    encoder = Encoder.open(folder, device="cpu", dtype="float32")
    assert encoder.tokenizer.eos_id == END_OF_TEXT
    assert encoder.tokenizer.tokenize("gull harbour").ids.tolist() == [257, 258]
    assert encoder.encode_query("a gull in the harbour").shape == (encoder.dim,)
    before = identify(folder)
    world_vocabulary(folder, ["gull", " harbor"])
    assert identify(folder) != before


@FAMILIES
def test_the_other_families_cannot_have_the_generative_readout(family: str, tmp_path: Path) -> None:
    save_family(tmp_path, family, longsearch={"readout": "generative", "soft_tokens": 5})
    with pytest.raises(ModelError, match="only a Mamba2"):
        Encoder.open(tmp_path)
