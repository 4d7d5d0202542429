"""A batch read in pieces has the loss and the gradient of the batch read at once: pieces share their negatives."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from longsearch.engine.training.stages.gradient_cache import read_in_pieces
from longsearch.engine.training.stages.losses import info_nce
from longsearch.engine.training.student.student import Padded
from tests.engine.training.test_training_contrast import OPTIONS, loss_by_hand, make_contrast

ONE_WAY = replace(OPTIONS, max_pairs=12, both_ways=False)


def gradients(student):
    return {name: p.grad.to_dense().clone() for name, p in student.named_parameters()}


@pytest.mark.parametrize("n_pieces", [2, 5, 12, 50])
def test_the_gradient_in_pieces_is_that_of_the_whole_batch(tmp_path, n_pieces):
    whole, _, at_once = make_contrast(tmp_path, ONE_WAY)
    pieced, _, in_pieces = make_contrast(tmp_path, replace(ONE_WAY, accumulate=n_pieces))
    for student in (whole, pieced):
        for layer in student.model.layers:  # zero at the start, which would leave most gradients zero
            torch.nn.init.normal_(layer.mixer.out_proj.weight, std=0.2, generator=torch.Generator().manual_seed(1))
    expected, found = at_once(0, 0.5), in_pieces(0, 0.5)
    expected.loss.backward()
    found.loss.backward()
    assert found.loss.item() == pytest.approx(expected.loss.item(), rel=1e-5)
    assert found.n_tokens == expected.n_tokens
    for name, gradient in gradients(pieced).items():
        torch.testing.assert_close(gradient, gradients(whole)[name], atol=1e-5, rtol=1e-3, msg=name)


def test_a_query_has_the_negatives_of_every_piece(tmp_path):
    """The loss is equation 2 over the whole batch, not the mean of the pieces' own losses with fewer negatives."""
    student, pairs, stage = make_contrast(tmp_path, replace(ONE_WAY, accumulate=3))
    rows = stage.batches.draw(0, ONE_WAY.batch_tokens, ONE_WAY.max_pairs, ONE_WAY.hard_share)
    found = stage(0, 1.0).loss.item()
    assert found == pytest.approx(loss_by_hand(student, pairs, rows), rel=1e-4)
    own = [loss_by_hand(student, pairs, piece) for piece in np.array_split(rows, 3)]
    assert found > np.mean(own) + 0.5


def test_each_piece_is_read_once_forward_and_once_more_backward(tmp_path):
    student, _, _ = make_contrast(tmp_path)
    texts = [np.arange(6, 6 + length) for length in (9, 2, 30, 4, 5, 8, 3)]
    read = []
    student.register_forward_pre_hook(lambda _, arguments: read.append(len(arguments[0].tokens)))
    vectors = read_in_pieces(student, texts, 1.0, 3)
    assert read == [3, 2, 2]
    vectors[:, 0].sum().backward()
    assert sorted(read[3:]) == [2, 2, 3]


def test_vectors_come_in_the_order_of_the_texts(tmp_path):
    student, _, _ = make_contrast(tmp_path)
    texts = [np.arange(6, 6 + length) for length in (9, 2, 30, 4, 5, 8, 3)]
    expected = student(Padded.of(texts, "cpu"))
    for n_pieces in (1, 2, 7, 9):
        torch.testing.assert_close(read_in_pieces(student, texts, 1.0, n_pieces), expected, atol=1e-5, rtol=1e-4)


def test_gradient_caching_is_the_two_pass_algorithm_of_its_paper(tmp_path):
    """Gao et al., arXiv 2101.06983: gradients of the vectors first, then each piece is read with its share of them."""
    student, _, _ = make_contrast(tmp_path)
    texts = [np.arange(6 + length, 9 + 2 * length) for length in range(8)]
    fair = torch.zeros(4, 4, dtype=torch.bool)
    vectors = read_in_pieces(student, texts, 1.0, 4)
    info_nce(vectors[:4], vectors[4:], fair, 0.1, both_ways=False).backward()
    found = gradients(student)

    student.zero_grad(set_to_none=True)
    with torch.no_grad():
        cached = torch.cat([student(Padded.of([ids], "cpu")) for ids in texts])
    cached.requires_grad_()
    scores = cached[:4] @ cached[4:].T / 0.1
    F.cross_entropy(scores, torch.arange(4)).backward()
    for ids, gradient in zip(texts, cached.grad, strict=True):
        student(Padded.of([ids], "cpu"))[0].backward(gradient)
    for name, gradient in gradients(student).items():
        torch.testing.assert_close(found[name], gradient, atol=1e-5, rtol=1e-3, msg=name)
