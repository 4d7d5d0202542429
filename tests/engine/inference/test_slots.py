"""Documents that are read together get the vectors of each read alone."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.slots import slice_length
from longsearch.engine.inference.tokens import TokenizedText
from longsearch.engine.models.config import read_config
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.readouts.parts import DocumentEmbedding
from longsearch.engine.readouts.vertical import step_around_probes, step_probed
from longsearch.engine.types.documents import Passage
from tests.engine.tiny_models import PROSE, random_tensors, save_checkpoint, save_embedder, tiny_config

SIZES = [1, 40, 3000, 7, 700, 1, 2400, 90, 350, 5000, 12, 1100]
N_LONG = 10_000


@pytest.fixture(scope="module", params=["mean", "eos", "contextual", "generative"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = save_embedder(tmp_path_factory.mktemp("slots"), request.param, n_groups=2)
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=128)


@pytest.fixture(scope="module")
def alone(encoder: Encoder) -> dict[str, DocumentEmbedding]:
    """Each text, read alone."""
    return {key: encoder.encode_document(text) for key, text in texts().items()}


def texts() -> dict[str, str]:
    return {f"{i}": PROSE[i * 211 : i * 211 + size].strip() or "a" for i, size in enumerate(SIZES)}


def assert_same_as_alone(encoder: Encoder, by_key: dict[str, DocumentEmbedding], order: list[str]) -> list[str]:
    found = list(encoder.encode_documents((key, texts()[key]) for key in order))
    assert sorted(key for key, _ in found) == sorted(order)
    for key, together in found:
        alone = by_key[key]
        assert (together.passages, together.n_tokens) == (alone.passages, alone.n_tokens)
        np.testing.assert_allclose(together.vector, alone.vector, atol=1e-5)
        np.testing.assert_allclose(together.passage_vectors, alone.passage_vectors, atol=1e-5)
        for own, other in zip(together.excerpts, alone.excerpts, strict=True):
            np.testing.assert_allclose(own.vectors, other.vectors, atol=1e-5)
    return [key for key, _ in found]


def test_documents_read_together_get_the_vectors_of_each_read_alone(
    encoder: Encoder, alone: dict[str, DocumentEmbedding]
) -> None:
    keys = list(texts())
    finished = assert_same_as_alone(encoder, alone, keys)
    assert finished != keys  # short ones overtake long ones
    for seed in range(2):
        assert_same_as_alone(encoder, alone, random.Random(seed).sample(keys, len(keys)))


@pytest.mark.parametrize("n_documents", [0, 1, 2, 4, 5])
def test_there_may_be_fewer_documents_than_rows(
    encoder: Encoder, alone: dict[str, DocumentEmbedding], n_documents: int
) -> None:
    assert_same_as_alone(encoder, alone, list(texts())[:n_documents])


def test_a_document_does_not_leak_into_the_next_one_in_its_row(encoder: Encoder) -> None:
    """The embedding of `loud_id` is 1000 everywhere: any trace of it would drown the quiet document that follows."""
    quiet = encoder.split(PROSE[:900])
    loud_id = int(quiet[0].ids.max()) + 1 if int(quiet[0].ids.max()) + 1 < encoder.model.config.vocab_size else 0
    assert loud_id not in quiet[0].ids
    weight = encoder.model.embeddings.weight
    before = weight[loud_id].clone()
    with torch.no_grad():
        weight[loud_id] = 1000.0
    try:
        noise = TokenizedText(np.full(3000, loud_id), np.arange(3000), ""), [Passage(0, 3000, 3000)]
        documents = [*[(f"loud {i}", *noise, None) for i in range(6)], *[(f"{i}", *quiet, None) for i in range(6)]]
        alone = list(encoder.stream(*quiet))
        vectors: dict[str, list[NDArray[np.float32]]] = {}
        for key, part in encoder.stream_many(documents):
            vectors.setdefault(key, []).extend(part.vectors)
            if part.is_last and not key.startswith("loud"):
                np.testing.assert_allclose(part.document_vector, alone[-1].document_vector, atol=1e-5)
                np.testing.assert_allclose(
                    np.array(vectors[key]), np.concatenate([part.vectors for part in alone]), atol=1e-5
                )
    finally:
        with torch.no_grad():
            weight[loud_id] = before


def test_a_step_stays_within_the_budget_however_long_a_document_is(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    true_step = type(encoder.model).step_embedded

    def step_and_count(self: Any, embedded: Tensor, *rest: Any) -> Any:
        sizes.append(embedded.shape[0] * embedded.shape[1])
        return true_step(self, embedded, *rest)

    monkeypatch.setattr(type(encoder.model), "step_embedded", step_and_count)
    long = np.resize(encoder.tokenize(PROSE).ids, N_LONG)
    documents = [
        ("long", TokenizedText(long, np.arange(N_LONG), ""), [Passage(i, i + 100, 100) for i in range(0, N_LONG, 100)]),
        *[(f"{i}", encoder.tokenize("a"), [Passage(0, 1, 1)]) for i in range(40)],
    ]
    n_passages = {"long": 0}
    last = {}
    for key, part in encoder.stream_many((*document, None) for document in documents):
        n_passages[key] = n_passages.get(key, 0) + len(part.vectors)
        last[key] = part
    assert n_passages.pop("long") == N_LONG // 100
    assert set(n_passages.values()) == {1}
    assert all(part.is_last for part in last.values())
    assert max(sizes) <= 128
    if encoder.readout.readout != "generative":  # which also steps at each passage's end, and for each soft token
        assert len(sizes) < 1.1 * (N_LONG + 540) / 128 + 40
    *_, alone = encoder.stream(*documents[0][1:])
    np.testing.assert_allclose(last["long"].document_vector, alone.document_vector, atol=1e-5)


def test_a_state_saved_in_a_batch_resumes_alone_and_in_a_batch(encoder: Encoder) -> None:
    names = ["2", "9", "6", "4", "8"]
    split = {name: encoder.split(texts()[name]) for name in names}
    whole = {name: encoder.encode_document(texts()[name]) for name in names}
    vectors: dict[str, list[NDArray[np.float32]]] = {name: [] for name in names}
    saved: dict[str, bytes] = {}
    for step, (name, part) in enumerate(encoder.stream_many((name, *split[name], None) for name in names)):
        vectors[name].extend(part.vectors)
        saved[name] = part.saved_state()
        if step == 30:
            break
    assert len(saved) >= 4
    rest = [*encoder.stream_many((name, *split[name], saved.get(name)) for name in names)]
    for name, part in rest:
        assert part.first_passage == len(vectors[name])
        vectors[name].extend(part.vectors)
        if part.is_last:
            np.testing.assert_allclose(part.document_vector, whole[name].vector, atol=1e-5)
    for name in names:
        np.testing.assert_allclose(np.array(vectors[name]), whole[name].passage_vectors, atol=1e-5)
        *_, last = encoder.stream(*split[name], saved.get(name))
        np.testing.assert_allclose(last.document_vector, whole[name].vector, atol=1e-5)


def test_a_document_without_tokens_is_refused(encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="without tokens"):
        list(encoder.encode_documents([("a", PROSE[:100]), ("b", "")]))


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 20_000), st.sampled_from([1, 8, 64, 256])
)
def test_a_slice_is_within_the_budget_and_no_longer_than_the_longest_document_left(
    left: list[int], budget: int, q: int
) -> None:
    length = slice_length(left, budget, q)
    assert 1 <= length <= max(left)
    assert length * len(left) <= max(budget, q * len(left))
    assert length % q == 0 or length in left


def test_a_slice_wastes_little_on_padding() -> None:
    assert slice_length([200] * 4, 1024, 64) == 200
    assert slice_length([200, 5000, 5000, 5000], 1024, 64) == 256
    assert slice_length([100, 100, 100, 5000], 1024, 64) == 100
    assert slice_length([3, 5000, 5000, 5000], 1024, 64) == 64
    assert slice_length([300, 302, 310, 311], 2048, 64) == 311
    assert slice_length([5000], 1024, 64) == 1024


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "groups": {"n_groups": 2, "gated_norm_groups": 1},
    "short convolution": {"conv_kernel": 2},
    "no bias": {"use_conv_bias": False},
    "limits": {"time_step_limit": [0.01, 0.2]},
    "no convolution": {"conv_kernel": 1},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("places", [[0], [36], [0, 1, 2, 7, 8, 9, 20, 36], [5, 7, 9, 11], [3, 4]])
def test_probes_in_one_step_equal_reading_around_them(
    changes: dict[str, Any], places: list[int], tmp_path: Path
) -> None:
    config = tiny_config(**changes)
    folder = save_checkpoint(tmp_path, config, random_tensors(config))
    model, _ = load_mamba2(folder, read_config(folder / "config.json")[0], "cpu", torch.float32)
    tokens = torch.randint(0, 390, (3, 37), generator=torch.Generator().manual_seed(1))
    probes = np.zeros((3, 37), np.bool_)
    probes[0, places] = True
    probes[2, [4, 30]] = True
    with torch.inference_mode():
        _, state = model.step(tokens.flip(1), model.initial_state(3))
        fast, fast_state = step_probed(model, tokens, probes, state)
        slow, slow_state = step_around_probes(model, tokens, probes, state)
    torch.testing.assert_close(fast, slow, atol=2e-5, rtol=1e-4)
    for name, tensor in slow_state.tensors().items():
        torch.testing.assert_close(fast_state.tensors()[name], tensor, atol=2e-5, rtol=1e-4)
