"""multilingual-e5-small and models like it: a BERT with XLM-R's pieces that reads a prefix before each text.

Wang et al., "Multilingual E5 Text Embeddings", arXiv 2402.05672. It was trained with a temperature of .01, so the
cosines of any two texts lie between .7 and 1: all vectors share one direction. `centre.safetensors` in the model's
folder holds the mean of many vectors. With it, the mean is subtracted and vectors are scaled to unit length again, so
cosines spread around 0. Without it, vectors are those of the released model.

The folder of a model with a cut vocabulary names that of the whole model in `whole.txt`. Its vectors are then those of
the whole model: token ids are turned into text, which the whole model reads with its own pieces. Reading with the cut
ones, as the student must, would move the vectors (cosine of English texts .91 when centred).
"""

from copy import copy
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError
from longsearch.engine.evaluation.embedders.bert import BertEmbedder

BEGIN, END = "<s>", "</s>"
CENTRE = "centre.safetensors"
_MEAN = "mean"
_WHOLE = "whole.txt"
_PASSAGE, _QUERY = "passage:", "query:"


class E5(BertEmbedder):
    """Reads every text as a passage; `of_queries` reads it as a query."""

    _settings = {"add_pooling_layer": False}  # noqa: RUF012 - declared in BertEmbedder

    def __init__(self, folder: Path, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        """Load the model in `folder`. Raises ModelError if it cannot be read."""
        super().__init__(folder, [BEGIN], END, device, dtype)
        self.centre = _centre(folder, device, self.dim)
        self._whole = E5(_whole(folder), device, dtype) if (folder / _WHOLE).exists() else None
        self._read_after(_PASSAGE)

    @property
    def of_queries(self) -> "E5":
        """The same model with the prefix of queries."""
        twin = copy(self)
        twin._read_after(_QUERY)
        twin._whole = self._whole and self._whole.of_queries
        return twin

    def encode_ids(self, ids: list[NDArray[np.int64]], max_tokens: int = 0) -> Vectors:
        """Return unit vectors (n, dim) of texts given as token ids; the whole model reads them."""
        if self._whole is None:
            return super().encode_ids(ids, max_tokens)
        limit = (max_tokens or self.max_tokens) - len(self.before) - 1
        texts = self.tokenizer.decode_batch([row[:limit].tolist() for row in ids])
        return self.finished(torch.from_numpy(self._whole.encode(texts))).numpy()

    @property
    def reader(self) -> BertEmbedder:
        """The whole model, if this one was cut from it."""
        return self._whole or self

    @property
    def prefix_ids(self) -> list[int]:
        """The ids of the pieces of both prefixes."""
        return [index for prefix in (_PASSAGE, _QUERY) for index in self._ids(prefix)]

    def _read_after(self, prefix: str) -> None:
        self.before = [self.before[0], *self._ids(prefix)]

    def _ids(self, prefix: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(prefix, add_special_tokens=False).ids
        return ids


def save_whole(folder: Path, whole: Path) -> None:
    """Note in `folder` that its model was cut from the one in `whole`."""
    (folder / _WHOLE).write_text(str(whole.resolve()), "utf-8")


def save_centre(folder: Path, mean: torch.Tensor) -> None:
    """Write the mean (dim,) that `E5` subtracts."""
    save_file({_MEAN: mean.float().contiguous()}, folder / CENTRE)


def _whole(folder: Path) -> Path:
    """Return the folder of the whole model. Raises ModelError if it is no longer there."""
    whole = Path((folder / _WHOLE).read_text("utf-8"))
    if not whole.is_dir() or (whole / _WHOLE).exists():
        raise ModelError(f"{folder} is a cut of the model in {whole}, which is not there", "make it again, with `cut`")
    return whole


def _centre(folder: Path, device: str, dim: int) -> torch.Tensor | None:
    """Return the mean; None if the folder has none. Raises ModelError for a damaged file."""
    path = folder / CENTRE
    if not path.exists():
        return None
    try:
        mean = load_file(path, device)[_MEAN]
    except (OSError, SafetensorError, KeyError) as error:
        raise ModelError(f"cannot read {path}: {error}", "make the folder again, with `cut`") from error
    if mean.shape != (dim,):
        raise ModelError(f"{path} holds no mean of {dim} dimensions", "make the folder again, with `cut`")
    return mean
