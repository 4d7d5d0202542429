"""A query's vector made by numpy equals torch's, for every width, instruction and length; no torch is loaded for it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from longsearch.engine.errors import ModelError, QueryError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.query_encoder import QueryEncoder
from longsearch.engine.models.without_torch import query_model
from tests.engine.tiny_models import PROSE, save_embedder

REPOSITORY = Path(__file__).parents[3]
QUERIES = (
    "why did the reactor overheat",
    "x",
    "C++ templates: std::vector<bool>?!",
    "Wie finden Bienen nach Hause? ¿Cómo? 蜜蜂 🐝",
    "a b\0c \ud800 d",
    ". . . . . . . . . . . . contents ........................ 12",
    " ".join(PROSE.split()[:300]),
)
LIKE_THE_BUNDLED = {
    "intermediate_size": 24,
    "hidden_act": "hardswish",
    "use_bias": True,
    "final_norm": False,
    "num_heads": 4,
    "head_dim": 4,
}


@pytest.fixture(scope="module")
def torch_encoder() -> Encoder:
    return Encoder.open("bundled", device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def numpy_encoder() -> QueryEncoder:
    encoder = QueryEncoder.open("bundled")
    assert encoder is not None
    return encoder


def tiny(folder: Path, readout: str = "mean", **changes: object) -> Path:
    return save_embedder(folder / "model", readout, widths=(1.0, 0.5, 0.25), **(LIKE_THE_BUNDLED | changes))


@pytest.mark.parametrize("width", [1.0, 0.5, 0.25, 0.125])
@pytest.mark.parametrize("instruction", [None, "", "Find the clause that answers the question"])
def test_the_bundled_models_vectors_equal_those_of_torch(
    torch_encoder: Encoder, numpy_encoder: QueryEncoder, width: float, instruction: str | None
) -> None:
    theirs, ours = torch_encoder.at(width), numpy_encoder.at(width)
    for query in QUERIES:
        expected = theirs.encode_query(query, instruction)
        vector = ours.encode_query(query, instruction)
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("width", [1.0, 0.5, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_random_models_vectors_equal_those_of_torch(tmp_path: Path, width: float, seed: int) -> None:
    folder = tiny(tmp_path, seed=seed)
    ours, theirs = QueryEncoder.open(folder), Encoder.open(folder, device="cpu", dtype="float32")
    assert ours is not None
    for query in QUERIES:
        expected = theirs.at(width).encode_query(query, "Find it")
        np.testing.assert_allclose(ours.at(width).encode_query(query, "Find it"), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("slice_tokens", [1, 7, 64])
def test_a_query_read_in_slices_has_the_vector_of_the_whole(
    numpy_encoder: QueryEncoder, monkeypatch: pytest.MonkeyPatch, slice_tokens: int
) -> None:
    whole = numpy_encoder.encode_query(QUERIES[-1])
    monkeypatch.setattr(query_model, "CHUNK_TOKENS", slice_tokens)
    np.testing.assert_allclose(numpy_encoder.encode_query(QUERIES[-1]), whole, rtol=0, atol=1e-5)


def test_it_has_the_fingerprint_and_the_length_of_the_torch_encoder(
    torch_encoder: Encoder, numpy_encoder: QueryEncoder
) -> None:
    assert (numpy_encoder.fingerprint, numpy_encoder.dim) == (torch_encoder.fingerprint, torch_encoder.dim)


@pytest.mark.parametrize("query", ["", " \n", "\u200b"])
def test_a_query_without_words_is_refused_as_torch_refuses_it(
    torch_encoder: Encoder, numpy_encoder: QueryEncoder, query: str
) -> None:
    said = []
    for encoder in (torch_encoder, numpy_encoder):
        with pytest.raises(QueryError) as refusal:
            encoder.encode_query(query)
        said.append((refusal.value.message, refusal.value.hint))
    assert said[0] == said[1]


def test_soft_tokens_and_unknown_widths_are_refused(numpy_encoder: QueryEncoder) -> None:
    with pytest.raises(ModelError, match="cannot think"):
        numpy_encoder.encode_query("tides", steps=3)
    with pytest.raises(ModelError, match="widths down to"):
        numpy_encoder.at(0.01)


@pytest.mark.parametrize("readout", ["eos", "contextual", "generative"])
def test_models_with_another_readout_are_left_to_torch(tmp_path: Path, readout: str) -> None:
    assert QueryEncoder.open(tiny(tmp_path, readout)) is None


@pytest.mark.parametrize(
    "changes",
    [{"intermediate_size": None}, {"use_bias": False}, {"use_conv_bias": False}, {"final_norm": True}, {"n_groups": 2}],
    ids=str,
)
def test_models_of_another_shape_are_left_to_torch(tmp_path: Path, changes: dict[str, object]) -> None:
    assert QueryEncoder.open(tiny(tmp_path, **changes)) is None


def test_weights_with_an_unknown_tensor_or_format_are_left_to_torch(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    weights = folder / "model.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(weights).items()}
    save_file({name: tensor.bfloat16() for name, tensor in tensors.items()}, weights)
    assert QueryEncoder.open(folder) is None
    save_file({**tensors, "backbone.more.weight": tensors["readout.token_log_weight"].clone()}, weights)
    assert QueryEncoder.open(folder) is None
    save_file({name: tensor.half() for name, tensor in tensors.items()}, weights)
    assert QueryEncoder.open(folder) is not None


def test_weights_in_several_files_are_read(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    whole = QueryEncoder.open(folder)
    tensors = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}
    (folder / "model.safetensors").unlink()
    for part, name in enumerate(sorted(tensors)):
        save_file({name: tensors[name]}, folder / f"model-{part:03}.safetensors")
    parts = QueryEncoder.open(folder)
    assert whole is not None and parts is not None
    assert (parts.encode_query("tides") == whole.encode_query("tides")).all()


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="cannot read") as error:
        QueryEncoder.open(folder)
    assert "copy the model again" in error.value.hint


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tmp_path: Path) -> None:
    folder = tiny(tmp_path)
    other = save_embedder(tmp_path / "other", "mean", **LIKE_THE_BUNDLED)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    tensors = {name: tensor.clone() for name, tensor in load_file(other / "model.safetensors").items()}
    for name in ("backbone.embeddings.weight", "readout.token_log_weight"):
        tensors[name] = tensors[name][:10].clone()
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 10}), "utf-8")
    encoder = QueryEncoder.open(folder)
    assert encoder is not None
    with pytest.raises(ModelError, match="more tokens than the model"):
        encoder.encode_query("tides and violins")


def test_encoding_a_query_does_not_load_torch() -> None:
    program = (
        "import sys; from longsearch.engine.inference.query_encoder import QueryEncoder;"
        " print(len(QueryEncoder.open().encode_query('tides')));"
        " print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.split() == ["384", "[]"]
