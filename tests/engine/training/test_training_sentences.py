"""Passages are cut into sentences, and a student learns the teacher's vectors of the sentences."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.stages.loop import LoopOptions, run
from longsearch.engine.training.stages.pair_stages import PairOptions
from longsearch.engine.training.stages.sentences import Sentences, cut_sentences
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Rates
from tests.engine.training.training_helpers import FakeTeacher, make_pairs, make_tokenizer, write_checkpoint

ENDS = np.array([1, 2])


def cut(ids):
    return [sentence.tolist() for sentence in cut_sentences(np.array(ids, np.int64), ENDS)]


def test_a_sentence_ends_with_its_full_stop_and_a_short_sentence_is_joined_to_the_next():
    assert cut([9] * 8 + [1] + [9, 1] + [8] * 9 + [2]) == [[9] * 8 + [1], [9, 1] + [8] * 9 + [2]]


def test_a_text_without_a_full_stop_is_one_sentence_and_a_short_rest_is_left_out():
    assert cut([9] * 5) == [[9] * 5]
    assert cut([9] * 9 + [1] + [9] * 7) == [[9] * 9 + [1]]
    assert cut([9] * 9 + [1] + [9] * 8) == [[9] * 9 + [1], [9] * 8]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=300))
def test_every_text_gives_sentences_in_order_and_within_the_limits(ids):
    sentences = cut(ids)
    assert sentences
    assert all(len(sentence) <= 64 for sentence in sentences)
    assert all(len(sentence) >= 8 for sentence in sentences) or sentences == [ids]
    place = 0
    for sentence in sentences:
        place = next(i for i in range(place, len(ids)) if ids[i : i + len(sentence)] == sentence) + len(sentence)


def test_the_student_comes_nearer_to_the_teachers_vectors_of_sentences(tmp_path):
    write_checkpoint(tmp_path / "start")
    write_shards(make_pairs(200), make_tokenizer(), tmp_path / "shards")  # without labels: none are needed
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    stage = Sentences(student, pairs, PairOptions(batch_tokens=400), FakeTeacher().encode_ids, tokenizer)
    before = stage(0, 1.0)
    run(student, stage, LoopOptions(tmp_path / "out", tmp_path / "start", steps=40, rates=Rates(embedding=2e-2)))
    after = stage(0, 1.0)
    assert before.n_tokens == after.n_tokens > 0
    assert after.parts["cosine_distance"] < before.parts["cosine_distance"] - 0.1
