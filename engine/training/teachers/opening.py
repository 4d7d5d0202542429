"""Opens a teacher: MiniLM, the multilingual E5 in a folder, or an older longsearch model."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.embedders.bert import BertEmbedder
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.embedders.minilm import MiniLM, minilm_folder
from longsearch.engine.training.data.shards import MAX_PASSAGE_TOKENS
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import read_all

MINILM = "minilm"


def open_teacher(name: str = MINILM, device: str = "cpu", dtype: torch.dtype = torch.float32) -> BertEmbedder:
    """Open `minilm`, or the E5 in the folder `name`. Raises ModelError if it is not there."""
    return MiniLM(device, dtype) if name == MINILM else E5(Path(name), device, dtype)


def teacher_folder(name: str = MINILM) -> Path:
    """Return the folder of a teacher's files. Raises ModelError if `minilm` is not installed."""
    return minilm_folder() if name == MINILM else Path(name)


class OlderModel:
    """A longsearch model as a teacher, at its full width: it reads each text alone, without special tokens."""

    before: tuple[int, ...] = ()
    """Tokens in front of each text: none."""
    positions = 1 << 20
    """A recurrent model has no last position; a shard's text is never so long."""

    def __init__(self, folder: Path, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        """Raises ModelError if `folder` holds no model with the mean readout."""
        self._student, self.tokenizer = load_student(folder, device, dtype)

    def encode_ids(self, ids: list[NDArray[np.int64]], max_tokens: int = MAX_PASSAGE_TOKENS) -> Vectors:
        """Return unit vectors (n, dim) of the first `max_tokens` tokens of each text."""
        return read_all(self._student, [row[:max_tokens] for row in ids])
