"""The generative readout: soft tokens from the carried state, and the stream that goes on without them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.identity import identify
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.mamba2_quick import QuickMamba2
from longsearch.engine.models.readout_config import MOST_SOFT_TOKENS
from longsearch.engine.papers.gircse import readout as generative
from longsearch.engine.papers.gircse.readout import GenerativeReadout
from longsearch.engine.papers.gircse.soft_tokens import SoftTokens, generate
from longsearch.engine.readouts.saved_states import from_bytes
from tests.engine.algorithm_1 import generated_from_scratch
from tests.engine.tiny_models import PROSE, save_embedder

TEXT = PROSE[:2400]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_embedder(tmp_path_factory.mktemp("generative"), "generative", n_groups=2)


@pytest.fixture
def encoder(folder: Path) -> Encoder:
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=64)


def unit(vector: torch.Tensor) -> NDArray[np.float32]:
    return (vector / vector.norm()).numpy()  # type: ignore[no-any-return]


def head_of(encoder: Encoder) -> tuple[SoftTokens, torch.Tensor]:
    """Return the head and the table E of token vectors."""
    assert isinstance(encoder.reader, GenerativeReadout)
    return encoder.reader.soft, encoder.model.embeddings.weight


def test_soft_tokens_from_the_carried_state_are_those_of_the_papers_algorithm_1(encoder: Encoder) -> None:
    ids = np.append(encoder.tokenizer.tokenize("patent claims").ids, encoder.tokenizer.eos_id or 0)
    for steps in (0, 1, 3, 10):
        vector = encoder.encode_query("patent claims", "", steps)
        with torch.inference_mode():
            eos = encoder.model(torch.from_numpy(ids)[None])[0, -1]
        literal = generated_from_scratch(encoder, ids, steps).mean(0) if steps else eos
        np.testing.assert_allclose(vector, unit(literal), atol=1e-5)


def test_a_query_has_as_many_soft_tokens_as_a_document_unless_told_otherwise(encoder: Encoder) -> None:
    default = encoder.encode_query("patent claims")
    np.testing.assert_array_equal(default, encoder.encode_query("patent claims", steps=encoder.readout.soft_tokens))
    assert default @ encoder.encode_query("patent claims", steps=20) < 0.9999


@pytest.mark.parametrize("readout", ["mean", "eos"])
def test_only_a_generative_model_can_think(readout: str, tmp_path: Path) -> None:
    other = Encoder.open(save_embedder(tmp_path, readout), device="cpu")
    with pytest.raises(ModelError, match="cannot think") as caught:
        other.encode_query("patent claims", steps=5)
    assert "generative" in caught.value.hint


@pytest.mark.parametrize("steps", [-1, MOST_SOFT_TOKENS + 1])
def test_a_number_of_soft_tokens_out_of_range_is_refused(encoder: Encoder, steps: int) -> None:
    with pytest.raises(ModelError, match=f"not {steps}"):
        encoder.encode_query("patent claims", steps=steps)


def test_the_stream_goes_on_unchanged_after_a_branch(encoder: Encoder) -> None:
    """The saved state holds nothing of the branches: it is that of a document without passages."""
    tokens, passages = encoder.split(TEXT)
    *_, branched = encoder.stream(tokens, passages)
    *_, plain = encoder.stream(tokens, [])
    states = [from_bytes(part.saved_state(), "cpu", Mamba2State).model.tensors() for part in (branched, plain)]
    assert len(passages) > 5
    for name, tensor in states[0].items():
        torch.testing.assert_close(tensor, states[1][name], atol=1e-5, rtol=0)


def test_branches_are_answered_in_small_batches_so_that_their_states_take_little_memory(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = encoder.encode_document(TEXT)
    one = sum(tensor.nbytes for tensor in encoder.model.initial_state().tensors().values())
    sizes: list[int] = []
    answer = GenerativeReadout.pooled

    def answer_and_count(
        self: GenerativeReadout, model: Mamba2, ends: torch.Tensor, state: Mamba2State
    ) -> torch.Tensor:
        sizes.append(len(ends))
        return answer(self, model, ends, state)

    monkeypatch.setattr(generative, "_BRANCH_BYTES", 4 * one)
    monkeypatch.setattr(GenerativeReadout, "pooled", answer_and_count)
    encoder.vertical_size = 10_000
    again = encoder.encode_document(TEXT)
    np.testing.assert_allclose(again.passage_vectors, whole.passage_vectors, atol=1e-5)
    np.testing.assert_allclose(again.vector, whole.vector, atol=1e-5)
    assert max(sizes) == 4 < len(whole.passages)


def test_the_first_five_of_twenty_soft_tokens_are_those_of_five(encoder: Encoder) -> None:
    soft, table = head_of(encoder)
    model = encoder.model
    assert isinstance(model, Mamba2)
    with torch.inference_mode():
        hidden, state = model.step(torch.tensor([[5, 6, 7]]), model.initial_state())
        five, twenty = (generate(model.step_embedded, table, soft, hidden[:, -1], state, n) for n in (5, 20))
    assert twenty.shape == (1, 20, model.config.d_model)
    torch.testing.assert_close(five, twenty[:, :5], atol=1e-6, rtol=0)
    assert not torch.allclose(twenty[:, 4], twenty[:, 5])


def test_a_soft_token_is_a_distribution_over_the_vocabulary(encoder: Encoder) -> None:
    soft, table = head_of(encoder)
    hidden = torch.randn(4, table.shape[1], generator=torch.Generator().manual_seed(0))
    s = soft.distribution(hidden, table)
    W = table.double() @ soft.mixing.double()
    logits = hidden.double() @ W.T + soft.bias.double()
    torch.testing.assert_close(s.double(), logits.exp() / logits.exp().sum(1, keepdim=True), atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(s.sum(1), torch.ones(4))
    torch.testing.assert_close(soft.next(hidden, table), (s[..., None] * table).sum(1))


def test_a_soft_token_that_is_sure_of_one_token_is_that_token(encoder: Encoder) -> None:
    _, table = head_of(encoder)
    bias = torch.zeros(len(table))
    bias[17] = 1e4
    sure = SoftTokens(torch.zeros(table.shape[1], table.shape[1]), bias).requires_grad_(False)
    torch.testing.assert_close(sure.next(torch.randn(2, table.shape[1]), table), table[[17, 17]])


def test_the_number_of_soft_tokens_of_documents_is_a_part_of_the_fingerprint(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "generative")
    before = identify(folder)
    config = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(config.replace('"soft_tokens": 3', '"soft_tokens": 4'), "utf-8")
    assert identify(folder) != before


@pytest.mark.parametrize("wrong", ["0", "-1", "2.5", "null"])
def test_a_generative_model_must_say_how_many_soft_tokens_documents_have(wrong: str, tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "generative")
    config = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(config.replace('"soft_tokens": 3', f'"soft_tokens": {wrong}'), "utf-8")
    with pytest.raises(ModelError, match="soft_tokens is"):
        Encoder.open(folder)


@pytest.mark.parametrize("name", ["mixing.weight", "bias"])
def test_a_checkpoint_without_a_weight_of_the_head_is_refused(name: str) -> None:
    tensors = SoftTokens(torch.zeros(4, 4), torch.zeros(9)).tensors()
    with pytest.raises(ModelError, match=f"readout.{name} is"):
        SoftTokens.from_tensors(tensors | {name: torch.zeros(3)}, 4, 9)
    del tensors[name]
    with pytest.raises(ModelError, match=f"lack readout.{name}"):
        SoftTokens.from_tensors(tensors, 4, 9)


def test_the_quick_twin_of_the_model_generates_the_same(tmp_path: Path) -> None:
    encoder = Encoder.open(
        save_embedder(tmp_path, "generative", intermediate_size=24, hidden_act="hardswish"), "cpu", "float32"
    )
    assert isinstance(encoder.model, QuickMamba2)
    quick = encoder.encode_query("patent claims", steps=4)
    ids = np.append(encoder.tokenizer.tokenize("patent claims").ids, encoder.tokenizer.eos_id or 0)
    encoder.model.__class__ = Mamba2  # the plain twin: it has the same weights
    slow = generated_from_scratch(encoder, ids, 4).mean(0)
    np.testing.assert_allclose(quick, unit(slow), atol=1e-5)
