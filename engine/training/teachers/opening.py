"""Opens the teacher that a command names: MiniLM, or the folder of a multilingual E5."""

from pathlib import Path

import torch

from longsearch.engine.evaluation.embedders.bert import BertEmbedder
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.embedders.minilm import MiniLM, minilm_folder

MINILM = "minilm"


def open_teacher(name: str = MINILM, device: str = "cpu", dtype: torch.dtype = torch.float32) -> BertEmbedder:
    """Open `minilm`, or the E5 in the folder `name`. Raises ModelError if it is not there."""
    return MiniLM(device, dtype) if name == MINILM else E5(Path(name), device, dtype)


def teacher_folder(name: str = MINILM) -> Path:
    """Return the folder of a teacher's files. Raises ModelError if `minilm` is not installed."""
    return minilm_folder() if name == MINILM else Path(name)
