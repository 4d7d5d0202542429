"""The fast forward pass of short texts agrees with the nested model, forward and backward."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from longsearch.engine.training.student.initialise import new_model
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Padded, Student
from longsearch.engine.training.student.whole_text import MAX_TOKENS, can_compile, fits
from tests.engine.training.training_helpers import write_checkpoint


@pytest.fixture(params=[False, True], ids=["mixers alone", "MLPs and post-norms"])
def student(tmp_path: Path, request: pytest.FixtureRequest) -> Student:
    student, _ = load_student(write_checkpoint(tmp_path), "cpu", torch.float32)
    if request.param:
        config = replace(student.model.config, d_mlp=24, use_bias=True)
        student = Student(new_model(config, 0), student.projection, student.token_log_weight, torch.float32)
    for name, parameter in student.model.named_parameters():
        if name.endswith(("conv1d.bias", "norm.weight", ".D", "out_proj.weight", "out_proj.bias", "norm.bias")):
            torch.nn.init.normal_(parameter, 0.5, 0.2)
    return student


def texts(*lengths: int) -> Padded:
    generator = torch.Generator().manual_seed(3)
    rows = [torch.randint(1, 60, (n,), generator=generator).numpy() for n in lengths]
    return Padded.of(rows, "cpu")


def gradients(student: Student, batch: Padded, width: float) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    student.zero_grad()
    vectors = student(batch, width)
    (vectors * torch.linspace(-1, 1, vectors.numel()).view_as(vectors)).sum().backward()
    found = {name: p.grad for name, p in student.named_parameters() if p.grad is not None}
    return vectors.detach(), {name: (g.to_dense() if g.is_sparse else g).clone() for name, g in found.items()}


def both_ways(student: Student, batch: Padded, width: float, monkeypatch: pytest.MonkeyPatch):
    quick = gradients(student, batch, width)
    monkeypatch.setattr("longsearch.engine.training.student.student.fits", lambda *_: False)
    return quick, gradients(student, batch, width)


def check_equal(quick, slow):
    torch.testing.assert_close(quick[0], slow[0], atol=1e-5, rtol=1e-4)
    assert quick[1].keys() == slow[1].keys()
    for name, gradient in slow[1].items():
        torch.testing.assert_close(quick[1][name], gradient, atol=1e-4, rtol=1e-3, msg=name)


@pytest.mark.parametrize("width", [1.0, 0.5, 0.25])
def test_vectors_and_gradients_equal_those_of_the_slow_twin(student, width, monkeypatch):
    check_equal(*both_ways(student, texts(37, 5, 1, 20), width, monkeypatch))


def test_a_text_whose_decays_overflow_is_read_by_the_slow_twin(student, monkeypatch):
    with torch.no_grad():
        student.model.layers[0].mixer.A_log.fill_(4.0)
        student.model.layers[0].mixer.dt_bias.fill_(2.0)
    quick, slow = both_ways(student, texts(60, 50), 1.0, monkeypatch)
    assert quick[0].isfinite().all()
    check_equal(quick, slow)


def test_texts_above_the_limit_and_empty_texts_do_not_fit(student):
    assert fits(student.model.config, MAX_TOKENS)
    assert not fits(student.model.config, MAX_TOKENS + 1)
    assert not fits(student.model.config, 0)


@pytest.mark.slow
@pytest.mark.skipif(not can_compile(), reason="no C++ compiler")
@pytest.mark.filterwarnings("default")  # torch.compile warns
def test_compiled_code_gives_the_same_vectors_and_gradients(student, monkeypatch):
    student.compiled = True
    for width, lengths in ((0.5, (37, 5, 1, 20)), (1.0, (40, 30)), (0.25, (9, 9, 9)), (1.0, (12, 3, 7))):
        with monkeypatch.context() as patch:
            check_equal(*both_ways(student, texts(*lengths), width, patch))
