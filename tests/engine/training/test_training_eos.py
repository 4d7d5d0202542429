"""Training for the eos readout: the student's vectors are those of the encoder that opens its checkpoint."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training.papers.eos import EosStudent, with_eos
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.student.saving import save_model
from longsearch.engine.training.student.student import Padded
from tests.engine.training.training_helpers import WORDS, write_checkpoint

TEXTS = [" ".join(WORDS[:5]), " ".join(WORDS[3:12]), WORDS[7]]


def write_base(folder: Path) -> Path:
    """Write a model with the mean readout, whose vocabulary has [SEP]."""
    tokenizer = write_checkpoint(folder) / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("w59", "[SEP]"))
    return folder


def open_eos(folder: Path) -> tuple[EosStudent, Tokenizer]:
    student, tokenizer = open_student(folder, "cpu", torch.float32, "eos")
    assert isinstance(student, EosStudent)
    for layer in student.model.layers:  # a new model is static: its mixers add nothing
        torch.nn.init.normal_(layer.mixer.out_proj.weight, std=0.1)
    return student, tokenizer


def padded(tokenizer: Tokenizer) -> Padded:
    return Padded.of([np.array(tokenizer.encode(t, add_special_tokens=False).ids) for t in TEXTS], "cpu")


def test_a_mean_model_trained_for_eos_is_opened_with_the_students_own_vectors(tmp_path):
    base = write_base(tmp_path / "base")
    student, tokenizer = open_eos(base)
    save_model(student, base, tmp_path / "eos", {})
    encoder = Encoder.open(tmp_path / "eos", device="cpu", dtype="float32")
    assert encoder.readout.readout == "eos"
    assert encoder.tokenizer.eos_id == student.eos_id
    with torch.no_grad():
        trained = student(padded(tokenizer)).numpy()
    found = np.stack([encoder.encode_query(text, "") for text in TEXTS])
    np.testing.assert_allclose(found, trained, atol=2e-3)  # the checkpoint holds float16


def test_the_vector_of_a_text_is_the_hidden_state_of_eos_after_it_whatever_the_padding(tmp_path):
    student, tokenizer = open_eos(write_base(tmp_path / "base"))
    together = student(padded(tokenizer))
    for row, text in enumerate(TEXTS):
        ids = [*tokenizer.encode(text, add_special_tokens=False).ids, student.eos_id]
        alone = student.model(torch.tensor([ids]))[0, -1]
        torch.testing.assert_close(together[row], alone / alone.norm(), atol=1e-5, rtol=0)


def test_eos_stands_right_after_each_text():
    texts = Padded.of([np.array([5, 6, 7]), np.array([8])], "cpu")
    tokens, at = with_eos(texts, 2)
    assert tokens.tolist() == [[5, 6, 7, 2], [8, 2, 0, 0]]
    assert at.tolist() == [3, 1]


def test_gradients_of_the_eos_readout_reach_every_layer_and_the_embedding(tmp_path):
    student, tokenizer = open_eos(write_base(tmp_path / "base"))
    student(padded(tokenizer))[:, 0].sum().backward()
    for layer in range(student.model.config.n_layers):
        assert student.model.layers[layer].mixer.in_proj.weight.grad.abs().sum() > 0
    assert student.model.embeddings.weight.grad.coalesce().values().abs().sum() > 0


def test_a_vocabulary_without_an_end_token_cannot_be_trained_for_eos(tmp_path):
    with pytest.raises(ModelError, match="no end-of-sequence token"):
        open_student(write_checkpoint(tmp_path / "base"), "cpu", torch.float32, "eos")
