"""The contextual readout reads [instruction; C; text; EOS]: what C changes, and what a saved state depends on."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.registry import open_readout
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.identity import identify
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.other_families import RWKV7Config
from longsearch.engine.models.probes import Probes
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.papers.causal2vec.readout import ContextualReadout
from longsearch.engine.types.documents import Passage
from tests.engine.tiny_models import PROSE, random_tensors, save_checkpoint, save_embedder, tiny_config

ASK = "Find the clause"


@pytest.fixture(params=[1, 2], ids=["quick", "two groups"])
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> Encoder:
    """One group of B and C runs as `QuickMamba2`, two as `Mamba2`."""
    folder = save_embedder(tmp_path / "model", "contextual", n_groups=request.param)
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=10_000)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Tensor]]:
    """Collects the hidden states (length, d_model) of every step."""
    found: list[Tensor] = []

    def spied(true_step: object) -> object:
        def step(model: Mamba2, embedded: Tensor, state: Mamba2State, probes: Probes | None = None) -> object:
            assert callable(true_step)
            hidden, state = true_step(model, embedded, state, probes)
            if isinstance(hidden, Tensor):
                found.append(hidden[0].clone())
            return hidden, state

        return step

    monkeypatch.setattr(Mamba2, "step_embedded", spied(Mamba2.step_embedded))
    yield found


def other_token(encoder: Encoder) -> None:
    """Change every C, and nothing else."""
    assert isinstance(encoder.reader, ContextualReadout)
    encoder.reader.token.down.weight += 0.3


def hidden_of(encoder: Encoder, steps: list[Tensor], text: str, passages: list[Passage] | None = None) -> Tensor:
    """Return the hidden states of every id of the stream, from the slow model."""
    steps.clear()
    tokens, cut = encoder.split(text)
    list(encoder.stream(tokens, cut if passages is None else passages))
    return steps[-1]


def literal(encoder: Encoder, before: NDArray[np.int64], text: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the vector of a text after an instruction: equations 1 and 2, and the two hidden states as one vector."""
    assert isinstance(encoder.reader, ContextualReadout)
    model = encoder.model
    assert isinstance(model, Mamba2)
    table = model.embeddings.weight
    ids = [torch.from_numpy(part) for part in (before, text)]
    with torch.no_grad():
        C = encoder.reader.token(table[ids[1][:512]][None], torch.ones(1, min(len(text), 512)))
        embedded = torch.cat((table[ids[0]], C, table[ids[1]], table[encoder.tokenizer.eos_id][None]))
        hidden, _ = model.step_embedded(embedded[None], model.initial_state())
    vector = torch.cat((hidden[0, len(before)], hidden[0, -1]))
    found: NDArray[np.float32] = (vector / vector.norm()).numpy()
    return found


def test_a_querys_c_is_made_of_its_text_alone_and_stands_after_the_instruction(encoder: Encoder) -> None:
    asked = encoder.encode_query("who pays the costs", ASK)
    ids = encoder.tokenize(f"Instruction: {ASK}\nQuery: who pays the costs").ids
    n_text = len(encoder.tokenize(" who pays the costs"))
    np.testing.assert_allclose(asked, literal(encoder, ids[:-n_text], ids[-n_text:]), atol=1e-5)


def test_a_document_has_the_vector_of_equation_2_however_long_it_is(encoder: Encoder) -> None:
    for text in (PROSE[:40], PROSE[:3000]):
        ids = encoder.tokenize(text).ids
        found = encoder.encode_document(text)
        np.testing.assert_allclose(found.vector, literal(encoder, ids[:0], ids), atol=1e-5)
        assert found.vector.shape == (2 * encoder.model.config.d_model,)


def test_c_changes_every_later_hidden_state_and_none_of_the_instructions(tmp_path: Path, steps: list[Tensor]) -> None:
    folder = save_embedder(tmp_path / "model", "contextual", n_groups=2)
    encoder = Encoder.open(folder, device="cpu", dtype="float32")
    n = len(encoder.tokenize(f"Instruction: {ASK}\nQuery:"))
    encoder.encode_query("who pays the costs", ASK)
    with torch.no_grad():
        other_token(encoder)
    encoder.encode_query("who pays the costs", ASK)
    before, after = steps
    torch.testing.assert_close(before[:n], after[:n], atol=1e-6, rtol=0)
    assert (before[n:] - after[n:]).abs().amax(1).min() > 1e-4


def test_the_c_of_a_passage_changes_no_hidden_state_but_its_own(encoder: Encoder, steps: list[Tensor]) -> None:
    text = PROSE[:1500]
    n = len(encoder.tokenize(text))
    alone = hidden_of(encoder, steps, text, passages=[])  # C of the document, the text, EOS
    spans = [Passage(0, 700, 1), Passage(700, 1500, 1)]
    borders = np.searchsorted(encoder.tokenize(text).starts, [0, 700, 1500])
    among = hidden_of(encoder, steps, text, spans)
    assert (len(alone), len(among)) == (n + 2, n + 5)
    probes = [1, borders[1] + 2, borders[1] + 3]  # C, then EOS of the first passage and C of the second
    kept = np.delete(np.arange(n + 5), probes)
    torch.testing.assert_close(among[kept], alone, atol=1e-5, rtol=1e-4)


def test_a_state_is_refused_when_its_c_would_change(encoder: Encoder) -> None:
    """A document of fewer than 512 tokens has another C when text is added to it. A longer one keeps it."""
    encoder.vertical_size = 64
    for length, is_kept in ((600, False), (3000, True)):
        tokens, passages = encoder.split(PROSE[:length])
        states = [part.saved_state() for part in encoder.stream(tokens, passages)]
        assert (len(tokens) > 512) == is_kept
        assert all(encoder.can_resume(tokens, passages, state) for state in states)
        longer = encoder.split(PROSE[: length + 200])
        assert encoder.can_resume(*longer, states[1]) == is_kept


def test_a_state_within_a_passage_is_refused_when_the_passage_ends_elsewhere(encoder: Encoder) -> None:
    encoder.vertical_size = 64
    tokens, _ = encoder.split(PROSE[:3000])
    start, stop = (int(tokens.starts[n]) for n in (600, 700))
    passages = [Passage(0, start, 600), Passage(start, stop, 100)]
    parts = list(encoder.stream(tokens, passages))
    within = next(p for p in parts if 600 < p.n_tokens_done < 700).saved_state()
    before = [p for p in parts if p.n_tokens_done <= 600][-1].saved_state()
    moved = [passages[0], replace(passages[1], stop=stop + 40)]
    assert encoder.can_resume(tokens, passages, within)
    assert not encoder.can_resume(tokens, moved, within)
    assert encoder.can_resume(tokens, moved, before)


def test_only_a_mamba2_can_be_contextual() -> None:
    config = RWKV7Config(d_model=16, n_layers=1, vocab_size=10)
    with pytest.raises(ModelError, match="only a Mamba2"):
        open_readout(ReadoutConfig("contextual", encoder_heads=2), config, {}, 0)
    with pytest.raises(ModelError, match="0 layers"):
        open_readout(ReadoutConfig("contextual", encoder_heads=2), Mamba2Config(16, 1, 10), {}, 0)


@pytest.mark.parametrize("heads", [None, 0, -1, "2", True])
def test_a_contextual_model_must_say_how_many_heads_its_encoder_has(tmp_path: Path, heads: object) -> None:
    section = {"readout": "contextual"} | ({} if heads is None else {"encoder_heads": heads})
    config = tiny_config(longsearch=section)
    folder = save_checkpoint(tmp_path, config, random_tensors(config))
    with pytest.raises(ModelError, match="encoder_heads"):
        read_config(folder / "config.json")


def test_the_heads_of_the_encoder_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path, "contextual")
    first = identify(folder).fingerprint
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["longsearch"]["encoder_heads"] = 4
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    assert identify(folder).fingerprint != first
