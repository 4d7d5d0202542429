"""Stage 3 reads long documents slice by slice; the whole pipeline learns."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.pairs import LongDocument
from longsearch.engine.training.smoke import smoke
from longsearch.engine.training.stages.streams import (
    SlicePassage,
    StreamOptions,
    Streams,
    cut_sentence,
    passages_in_slice,
    prepare,
)
from longsearch.engine.training.student.saving import load_student
from tests.engine.training.training_helpers import WORDS, make_tokenizer, write_checkpoint

OPTIONS = StreamOptions(documents=3, min_tokens=300, max_tokens=700, slice_tokens=200)


def make_documents(n: int = 5, n_sentences: int = 60):
    rng = random.Random(0)
    tokenizer = TextTokenizer(make_tokenizer(), None)
    for i in range(n):
        sentences = [" ".join(rng.choices(WORDS, k=rng.randint(6, 14))).capitalize() + "." for _ in range(n_sentences)]
        yield prepare(LongDocument(f"w{i} w{i + 1}", " ".join(sentences), "made"), tokenizer, OPTIONS.max_tokens)


def make_streams(tmp_path, teacher=None, options=OPTIONS):
    student, tokenizer = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    return student, Streams(student, list(make_documents()), options, Prompter(tokenizer, 0.2), teacher)


def test_a_document_is_cut_to_its_limit_and_its_passages_tile_it():
    tokenizer = TextTokenizer(make_tokenizer(), None)
    text = " ".join(f"w{i % 60}" for i in range(1000))
    document = prepare(LongDocument("w1", text, "made"), tokenizer, 400)
    assert len(document.ids) == 400
    assert document.borders[0, 0] == 0 and document.borders[-1, 1] == 400
    assert (document.borders[1:, 0] == document.borders[:-1, 1]).all()


def test_passages_of_a_slice_lie_entirely_in_it():
    documents = tuple(make_documents(2))
    for start in (0, 200, 400):
        for p in passages_in_slice(documents, start, start + 200):
            assert start <= p.first < p.stop <= start + 200
            assert [p.first, p.stop] in documents[p.row].borders.tolist()


def test_a_sentence_of_a_passage_is_exactly_one_sentence_inside_it():
    (document,) = make_documents(1)
    rng = np.random.default_rng(0)
    full_stop = make_tokenizer().token_to_id(".")
    for passage in passages_in_slice((document,), 0, len(document.ids)):
        sentence = cut_sentence(document, passage, rng)
        assert sentence[-1] == full_stop
        assert (sentence[:-1] != full_stop).all()
        joined = document.ids[passage.first : passage.stop].tolist()
        assert any(joined[i : i + len(sentence)] == sentence.tolist() for i in range(len(joined)))


def test_a_passage_inside_a_sentence_has_no_sentence_to_cut_out():
    (document,) = make_documents(1)
    start = int(document.sentence_starts[3])
    inside = SlicePassage(0, start + 1, int(document.sentence_starts[4]))
    assert cut_sentence(document, inside, np.random.default_rng(0)).tolist() == []


def test_slices_follow_each_other_to_the_end_and_then_new_documents_start(tmp_path):
    _, streams = make_streams(tmp_path)
    depths = [streams(step, 1.0).parts["depth"] for step in range(8)]
    n_slices = depths.index(0.0, 1)
    assert depths[:n_slices] == [200.0 * i for i in range(n_slices)]
    assert 3 <= n_slices <= 4


def test_the_state_after_slices_equals_that_of_a_single_pass(tmp_path):
    student, streams = make_streams(tmp_path)
    with torch.no_grad():
        for step in range(3):
            streams(step, 0.5)
        reading = streams.reading
        tokens = torch.from_numpy(np.stack([d.ids[:600] for d in reading.documents if len(d.ids) >= 600]))
        _, state = student.hidden(tokens, None, 0.5)
    rows = [i for i, d in enumerate(reading.documents) if len(d.ids) >= 600]
    for whole, sliced in zip(state.ssm, reading.state.ssm, strict=True):
        torch.testing.assert_close(sliced[rows], whole, atol=1e-4, rtol=1e-3)


def test_documents_keep_the_width_of_their_first_slice(tmp_path):
    _, streams = make_streams(tmp_path)
    widths = [streams(step, 1.0 if step == 0 else 0.25).parts["width"] for step in range(3)]
    assert widths == [1.0, 1.0, 1.0]


def test_in_joint_steps_every_width_reads_the_same_documents_with_its_own_state(tmp_path):
    student, streams = make_streams(tmp_path, options=replace(OPTIONS, joint=True))
    for step in range(3):
        parts = [streams(step, width).parts for width in (1.0, 0.5)]
        assert [part["width"] for part in parts] == [1.0, 0.5]
        assert [part["depth"] for part in parts] == [200.0 * step] * 2
    narrow = streams.reading
    rows = [i for i, d in enumerate(narrow.documents) if len(d.ids) >= 600]
    with torch.no_grad():
        tokens = torch.from_numpy(np.stack([narrow.documents[i].ids[:600] for i in rows]))
        _, state = student.hidden(tokens, None, 0.5)
    for whole, sliced in zip(state.ssm, narrow.state.ssm, strict=True):
        torch.testing.assert_close(sliced[rows], whole, atol=1e-4, rtol=1e-3)


def test_gradients_flow_within_a_slice_and_stop_at_its_start(tmp_path):
    student, streams = make_streams(tmp_path)
    for step in range(3):
        streams(step, 1.0).loss.backward()  # a backward pass through an older slice would raise
    assert all(not tensor.requires_grad for tensor in streams.reading.state.ssm)
    assert student.model.layers[0].mixer.out_proj.weight.grad.abs().sum() > 0


def test_a_teacher_adds_a_cosine_distance_to_the_loss(tmp_path):
    random_vectors = np.random.default_rng(0)

    def teacher(ids):
        vectors = random_vectors.normal(size=(len(ids), 16)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    _, without = make_streams(tmp_path / "a")
    _, taught = make_streams(tmp_path / "b", teacher)
    assert "cosine_distance" not in without(0, 1.0).parts
    assert 0.5 < taught(0, 1.0).parts["cosine_distance"] < 1.5


def test_without_a_teacher_a_collapsed_encoder_is_punished(tmp_path):
    """Every vector is the same, so the loss is ln(number of passages); the model is static, out_proj is zero."""
    student, streams = make_streams(tmp_path)
    with torch.no_grad():
        student.model.embeddings.weight.fill_(1.0)
    found = streams(0, 1.0).parts["nce"]
    documents, rng = streams.reading.documents, np.random.default_rng(0)
    asked = [p for p in passages_in_slice(documents, 0, 200) if len(cut_sentence(documents[p.row], p, rng))]
    assert found == pytest.approx(math.log(len(asked)), rel=1e-4)


def test_too_few_long_documents_are_an_error(tmp_path):
    student, tokenizer = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    with pytest.raises(LongsearchError, match="0 long documents are too few: 3 are read side by side"):
        Streams(student, list(make_documents(5, n_sentences=5)), OPTIONS, Prompter(tokenizer, 0), None)


def test_the_smoke_training_learns_to_rank_passages_that_share_no_word_with_the_query(tmp_path):
    torch.set_num_threads(1)
    result = smoke(tmp_path, steps=45)
    assert result.before < 0.4
    assert result.after_pairs > result.before + 0.3
    assert result.after_streams > result.before + 0.3
