"""A document that grows is read on from a saved state, with the same vectors as in one whole pass."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longsearch.engine.inference.encoder import Encoder
from tests.engine.tiny_models import PROSE, save_embedder


@pytest.fixture(scope="module", params=["mean", "eos", "contextual", "generative"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = save_embedder(tmp_path_factory.mktemp("growing"), request.param)
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=64)


def saved_states(encoder: Encoder, text: str) -> list[tuple[int, int, bytes]]:
    """Return (tokens, passages, state) after every part of a pass."""
    return [
        (part.n_tokens_done, part.first_passage + len(part.vectors), part.saved_state())
        for part in encoder.stream(*encoder.split(text))
    ]


@settings(max_examples=8)
@given(cut=st.integers(2500, 5500), more=st.integers(1, 1500))
def test_states_before_the_last_passage_stay_valid_when_text_is_added(encoder: Encoder, cut: int, more: int) -> None:
    shorter, longer = PROSE[:cut], PROSE[: cut + more]
    old_tokens, old_passages = encoder.split(shorter)
    new_tokens, new_passages = encoder.split(longer)
    whole = encoder.encode_document(longer)
    stable = len(old_tokens) - old_passages[-1].n_tokens
    kept = [found for found in saved_states(encoder, shorter) if found[0] <= stable]
    assert stable - kept[-1][0] <= 64  # one slice
    for n_tokens, n_passages, state in kept[-2:]:
        assert encoder.can_resume(new_tokens, new_passages, state)
        parts = list(encoder.stream(new_tokens, new_passages, state))
        assert parts[0].n_tokens_done <= n_tokens + 64
        vectors = np.concatenate([part.vectors for part in parts])
        np.testing.assert_allclose(vectors, whole.passage_vectors[n_passages:], atol=1e-5)
        excerpts = [own for part in parts for own in part.excerpts]
        for found, expected in zip(excerpts, whole.excerpts[n_passages:], strict=True):
            np.testing.assert_array_equal(found.starts, expected.starts)
            np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-5)
        np.testing.assert_allclose(parts[-1].document_vector, whole.vector, atol=1e-5)


def test_a_state_is_refused_if_the_text_before_it_differs(encoder: Encoder) -> None:
    n_tokens, _, state = saved_states(encoder, PROSE[:3000])[3]
    tokens, passages = encoder.split(PROSE[:4000])
    assert encoder.can_resume(tokens, passages, state)
    seen = max(n_tokens, 512) if encoder.readout.readout == "contextual" else n_tokens
    for place in (0, n_tokens // 2, n_tokens - 1, seen - 1):
        ids = tokens.ids.copy()
        ids[place] += 1
        assert not encoder.can_resume(replace(tokens, ids=ids), passages, state)
    ids = tokens.ids.copy()
    ids[seen:] += 1
    assert encoder.can_resume(replace(tokens, ids=ids), passages, state)


def test_a_state_is_refused_if_the_passages_before_it_differ(encoder: Encoder) -> None:
    tokens, passages = encoder.split(PROSE[:3000])
    n_tokens, n_passages, state = saved_states(encoder, PROSE[:3000])[4]
    assert 0 < n_passages < len(passages) - 1
    assert encoder.can_resume(tokens, passages, state)
    assert not encoder.can_resume(tokens, passages[1:], state)
    assert not encoder.can_resume(tokens, passages[: n_passages - 1], state)
    middle = passages[n_passages].start + 8  # the passage that was being read begins later now
    moved = [
        *passages[:n_passages],
        type(passages[0])(middle, passages[n_passages].stop, 1),
        *passages[n_passages + 1 :],
    ]
    was_begun = np.searchsorted(tokens.starts, passages[n_passages].start) < n_tokens
    assert encoder.can_resume(tokens, moved, state) != was_begun


def test_a_state_is_refused_if_the_excerpts_before_it_differ(tmp_path: Path) -> None:
    encoder = Encoder.open(save_embedder(tmp_path, "mean"), device="cpu", dtype="float32", vertical_size=64)
    text = PROSE[:3000]
    tokens, passages = encoder.split(text)
    n_tokens, n_passages, state = saved_states(encoder, text)[4]
    read = int(tokens.starts[n_tokens])
    for place, is_refused in ((passages[n_passages].start, True), (read + 200, False)):
        # joined words: the token ids stay, but an excerpt holds more of them
        joined = text[:place] + text[place : place + 120].replace(" ", "_") + text[place + 120 :]
        assert encoder.can_resume(replace(tokens, text=joined), passages, state) != is_refused


def test_bytes_that_are_not_a_state_are_refused(encoder: Encoder, tmp_path: Path) -> None:
    assert not encoder.can_resume(*encoder.split(PROSE[:500]), b"no state")
