"""The contextual token of Causal2Vec, compared with literal float64 versions of its equations."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.papers.causal2vec.encoder import BidirectionalEncoder
from longsearch.engine.papers.causal2vec.readout import contextual_tokens
from longsearch.engine.papers.causal2vec.token import ContextualToken
from tests.engine.tiny_models import contextual_tensors, save_embedder

D, HEADS = 16, 2
Array = NDArray[np.float64]


def random_token() -> ContextualToken:
    tensors = {name.removeprefix("readout."): tensor for name, tensor in contextual_tensors(D, seed=3).items()}
    return ContextualToken.from_tensors(tensors, D, HEADS)


def weights_of(token: ContextualToken) -> dict[str, Array]:
    return {name: tensor.double().numpy() for name, tensor in token.state_dict().items()}


def gelu(x: Array) -> Array:
    phi = np.vectorize(lambda value: (1 + math.erf(value / math.sqrt(2))) / 2)
    return np.asarray(x * phi(x))


def layer_norm(x: Array, w: dict[str, Array], name: str) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def literal_mean(embedded: Array, w: dict[str, Array]) -> Array:
    """BERT's layers, one head and one token at a time; then the mean over tokens."""

    def linear(x: Array, name: str) -> Array:
        return np.asarray(x @ w[f"{name}.weight"].T + w[f"{name}.bias"])

    hidden = embedded + w["encoder.positions"][: len(embedded)]
    for layer in ("encoder.layers.0", "encoder.layers.1"):
        q, k, v = (linear(hidden, f"{layer}.{name}") for name in ("query", "key", "value"))
        mixed = np.zeros_like(hidden)
        for head in range(HEADS):
            own = slice(head * D // HEADS, (head + 1) * D // HEADS)
            for token in range(len(hidden)):
                scores = np.exp(k[:, own] @ q[token, own] / math.sqrt(D // HEADS))
                mixed[token, own] = scores / scores.sum() @ v[:, own]
        hidden = layer_norm(hidden + linear(mixed, f"{layer}.output"), w, f"{layer}.attention_norm")
        inner = gelu(linear(hidden, f"{layer}.up"))
        hidden = layer_norm(hidden + linear(inner, f"{layer}.down"), w, f"{layer}.mlp_norm")
    return np.asarray(hidden.mean(0))


def test_the_contextual_token_equals_equation_1_over_a_literal_encoder() -> None:
    token = random_token()
    embedded = torch.randn(1, 11, D, generator=torch.Generator().manual_seed(1))
    w = weights_of(token)
    h = literal_mean(embedded[0].double().numpy(), w)
    expected = gelu(h @ w["up.weight"].T) @ w["down.weight"].T
    np.testing.assert_allclose(token.encoder(embedded, torch.ones(1, 11))[0].numpy(), h, atol=1e-5)
    np.testing.assert_allclose(token(embedded, torch.ones(1, 11))[0].numpy(), expected, atol=1e-5)


def test_the_projections_have_the_papers_shapes_and_no_bias() -> None:
    token = random_token()
    assert token.up.weight.shape == (2 * D, D)
    assert token.down.weight.shape == (D, 2 * D)
    assert token.up.bias is None
    assert token.down.bias is None


def test_a_new_contextual_token_is_the_encoders_mean() -> None:
    token = ContextualToken(BidirectionalEncoder(D, HEADS, 1, 24))
    h = torch.randn(5, D)
    torch.testing.assert_close(token.project(h), h)


def test_equal_texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    token, table, n_read = random_token(), torch.randn(50, D), []
    true_forward = ContextualToken.forward

    def forward(self: ContextualToken, embedded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        n_read.append(len(embedded))
        return true_forward(self, embedded, mask)

    monkeypatch.setattr(ContextualToken, "forward", forward)
    found = contextual_tokens(token, table, [np.array([1, 2]), np.array([3]), np.array([1, 2])])
    assert sum(n_read) == 2
    assert torch.equal(found[0], found[2])
    assert not torch.equal(found[0], found[1])


def test_texts_of_any_length_in_one_batch_get_the_token_of_each_alone() -> None:
    token, table = random_token(), torch.randn(50, D, generator=torch.Generator().manual_seed(2))
    random = np.random.default_rng(0)
    texts = [random.integers(0, 50, n) for n in (3, 512, 1, 0, 40, 512, 512, 39, 512, 512, 512, 512, 512, 512)]
    texts.append(texts[4].copy())
    with torch.no_grad():
        together = contextual_tokens(token, table, texts)
        for text, C in zip(texts, together, strict=True):
            alone = token(table[torch.from_numpy(text)][None], torch.ones(1, len(text)))[0] if len(text) else C * 0
            torch.testing.assert_close(C, alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"up.weight": None}, "Missing key.*up.weight"),
        ({"encoder.layers.1.key.bias": None}, "Missing key.*layers.1.key.bias"),
        ({"down.weight": torch.zeros(3, 3)}, "size mismatch for down.weight"),
        ({"other": torch.zeros(3)}, "Unexpected key.*other"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change: dict[str, torch.Tensor | None], message: str) -> None:
    tensors = {name.removeprefix("readout."): tensor for name, tensor in contextual_tensors(D, seed=3).items()}
    changed = {name: tensor for name, tensor in (tensors | change).items() if tensor is not None}
    with pytest.raises(ModelError, match=message):
        ContextualToken.from_tensors(changed, D, HEADS)


def test_weights_without_an_encoder_are_refused(tmp_path: Path) -> None:
    import json

    folder = save_embedder(tmp_path / "model", "eos")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["longsearch"] |= {"readout": "contextual", "encoder_heads": 2}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(ModelError, match="0 layers"):
        Encoder.open(folder, device="cpu")
