"""Opens a checkpoint for training under its own readout or another one."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from longsearch.engine.errors import ModelError
from longsearch.engine.evaluation.embedders.minilm import DIM, MiniLM
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.config import read_config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.papers.causal2vec.token import ContextualToken
from longsearch.engine.papers.gircse.soft_tokens import SoftTokens
from longsearch.engine.training.data.shards import read_tokenizer, tokenizer_hash
from longsearch.engine.training.papers.contextual import ContextualStudent, encoder_from
from longsearch.engine.training.papers.eos import EosStudent
from longsearch.engine.training.papers.generative import GenerativeStudent, new_soft_tokens
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import WholeStudent

ENCODER_LAYERS = (5,)
"""The teacher's layers in a new bidirectional encoder. Untrained, over the bundled model's token table, 200
queries find their passages among 200 with an MRR of .73 by layer 5, .63 by 0, .78 by 0 and 5, .59 by 0 and 1."""
_BERT_END = "[SEP]"


def open_student(
    folder: Path,
    device: str,
    dtype: torch.dtype,
    readout: str | None = None,
    encoder_layers: Sequence[int] = ENCODER_LAYERS,
    train_encoder: bool = True,
) -> tuple[WholeStudent, Tokenizer]:
    """Load the model in `folder`, to train it for `readout`; None: for the readout that its config.json names.

    Any model can be trained for `eos`, `contextual` and `generative`; only a model that has the mean readout can be
    trained for it. A model without the contextual readout gets its encoder from `encoder_layers` of the teacher. Raises
    ModelError.
    """
    config, current = read_config(folder / "config.json")
    wanted = readout or current.readout
    if wanted == "mean":
        return load_student(folder, device, dtype)
    tokenizer = read_tokenizer(folder)
    eos_id, eos_token = end_of_text(folder, tokenizer)
    model, tensors = load_mamba2(folder, config, device, torch.float32)
    if wanted == "eos":
        return EosStudent(model, eos_id, eos_token, dtype), tokenizer
    if wanted == "generative":
        return _generative(model, (eos_id, eos_token), dtype, current, tensors).to(device), tokenizer
    if current.readout == "contextual":
        token = ContextualToken.from_tensors(tensors, config.d_model, current.encoder_heads)
    else:
        token = ContextualToken(encoder_from(_teacher_for(tokenizer, config.d_model).model, encoder_layers))
    return ContextualStudent(model, token.to(device), eos_id, eos_token, dtype, train_encoder), tokenizer


def _generative(
    model: Mamba2, eos: tuple[int, str], dtype: torch.dtype, current: ReadoutConfig, tensors: dict[str, Tensor]
) -> GenerativeStudent:
    """Return a student with the soft tokens of its checkpoint, or with new ones if the checkpoint has none."""
    config = model.config
    if current.readout == "generative":
        soft = SoftTokens.from_tensors(tensors, config.d_model, config.vocab_size)
        return GenerativeStudent(model, eos, soft, dtype, current.soft_tokens)
    student = GenerativeStudent(model, eos, new_soft_tokens(config.d_model, config.vocab_size), dtype)
    student.is_new = True
    return student


def _teacher_for(tokenizer: Tokenizer, d_model: int) -> MiniLM:
    """Load the teacher. Raises ModelError if its layers cannot read this model's token table."""
    teacher = MiniLM()
    if d_model != DIM or tokenizer_hash(tokenizer) != tokenizer_hash(teacher.tokenizer):
        hint = f"start from a model of {DIM} channels with the teacher's vocabulary"
        raise ModelError("the teacher's layers do not fit this model's token table", hint)
    return teacher


def end_of_text(folder: Path, tokenizer: Tokenizer) -> tuple[int, str]:
    """Return the id and the text of the EOS token: the one the checkpoint names, or [SEP] of a BERT's vocabulary.

    Raises ModelError if there is neither.
    """
    named = TextTokenizer.load(folder).eos_id
    eos_id = tokenizer.token_to_id(_BERT_END) if named is None else named
    if eos_id is None:
        raise ModelError(f"{folder} has no end-of-sequence token", 'name one: tokenizer_config.json with "eos_token"')
    return eos_id, str(tokenizer.id_to_token(eos_id))
