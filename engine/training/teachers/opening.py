"""Opens a teacher: MiniLM, the multilingual E5 in a folder, or an older longsearch model."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.embedders.bert import BertEmbedder, batches_by_length
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.embedders.minilm import MiniLM, minilm_folder
from longsearch.engine.training.data.shards import MAX_PASSAGE_TOKENS
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Padded

MINILM = "minilm"
_BATCH_TOKENS = 4096


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
        self._device = device

    @torch.inference_mode()
    def encode_ids(self, ids: list[NDArray[np.int64]], max_tokens: int = MAX_PASSAGE_TOKENS) -> Vectors:
        """Return unit vectors (n, dim) of the first `max_tokens` tokens of each text."""
        out = np.zeros((len(ids), self._student.projection.shape[0]), np.float32)
        lengths = np.array([min(len(row), max_tokens) for row in ids], dtype=np.int64)
        for rows in batches_by_length(lengths, _BATCH_TOKENS):
            texts = Padded.of([ids[row][: lengths[row]] for row in rows], self._device)
            out[rows] = self._student(texts).float().cpu().numpy()
        return out
