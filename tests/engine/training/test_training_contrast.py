"""The contrastive stage: its loss by hand, with hard negatives and without, one way and both ways."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Padded
from tests.engine.training.training_helpers import make_pairs, make_tokenizer, write_checkpoint

OPTIONS = PairOptions(batch_tokens=10_000, max_pairs=8, contrast_weight=1.0)


def with_negatives(n):
    """Pairs with none, one or two hard negatives; one of the negatives is another pair's passage."""
    made = list(make_pairs(n))
    for row, pair in enumerate(made):
        negatives = (f"w{row % 60} w7", made[(row + 6) % n].passage)[: row % 3]
        yield replace(pair, hard_negatives=negatives)


def make_contrast(tmp_path, options=OPTIONS, pairs=None):
    """Return a student, its pairs and the stage, without a teacher."""
    if not (tmp_path / "start").exists():
        write_checkpoint(tmp_path / "start")
        write_shards(pairs or with_negatives(80), make_tokenizer(), tmp_path / "shards")
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    loaded = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    return student, loaded, Contrast(student, loaded, options, Prompter(tokenizer, 0))


def loss_by_hand(student, pairs, rows) -> float:
    """Equation 2 of arXiv 2604.18199, written with loops: tau .02, negatives are all other texts of the batch."""

    def vector(ids):
        return student(Padded.of([ids], "cpu"))[0].detach().double()

    texts = [pairs.passages[row] for row in rows]
    owners = [pairs.documents[row] for row in rows]
    for row in rows:
        for ids in pairs.hard_negatives.of(row):
            texts.append(ids)
            owners.append(None)
    vectors, losses = [vector(ids) for ids in texts], []
    for i, row in enumerate(rows):
        query = vector(pairs.queries[row])
        fair = [
            j for j in range(len(texts)) if j != i and owners[j] != owners[i] and texts[j].tolist() != texts[i].tolist()
        ]
        answer, *negatives = [math.exp(float(query @ vectors[j]) / 0.02 - 50) for j in (i, *fair)]
        losses.append(-math.log(answer / (answer + sum(negatives))))
    return float(np.mean(losses))


def test_the_loss_with_hard_negatives_is_equation_2(tmp_path):
    student, pairs, stage = make_contrast(tmp_path, replace(OPTIONS, both_ways=False))
    for step in range(4):
        rows = stage.batches.draw(step, OPTIONS.batch_tokens, OPTIONS.max_pairs, OPTIONS.hard_share)
        assert sum(len(pairs.hard_negatives.of(row)) for row in rows) > 2
        assert stage(step, 1.0).loss.item() == pytest.approx(loss_by_hand(student, pairs, rows), rel=1e-4)


def test_hard_negatives_raise_the_loss_and_count_as_tokens(tmp_path):
    _, pairs, stage = make_contrast(tmp_path / "with")
    _, _, plain = make_contrast(tmp_path / "without", pairs=make_pairs(80))
    rows = stage.batches.draw(0, OPTIONS.batch_tokens, OPTIONS.max_pairs, OPTIONS.hard_share)
    more, less = stage(0, 1.0), plain(0, 1.0)
    assert more.loss > less.loss
    assert more.n_tokens - less.n_tokens == sum(len(ids) for row in rows for ids in pairs.hard_negatives.of(row))


def test_by_default_passages_must_find_their_queries_too(tmp_path):
    _, _, both = make_contrast(tmp_path)
    _, _, one = make_contrast(tmp_path, replace(OPTIONS, both_ways=False))
    assert PairOptions().both_ways
    assert both(0, 1.0).loss.item() != pytest.approx(one(0, 1.0).loss.item(), rel=1e-3)
