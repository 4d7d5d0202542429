"""Turns texts into unit vectors with a BERT: the mean of its hidden states. The product does not need it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn import functional as F

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import ModelError
from longsearch.engine.models.batches import batches_by_length, padded_rows

_BATCH_TOKENS = {"cpu": 1_024, "cuda": 262_144}  # on a processor, so many stay in its cache: 1.6 times as fast as 8,192


class BertEmbedder:
    """A BERT whose vector of a text is the mean of its hidden states; `MiniLM` and `E5` are two of them."""

    max_tokens = 512
    """Tokens that `encode` reads of a text unless it is told otherwise, with those before and after the text."""
    _settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, folder: Path, before: Sequence[str], after: str, device: str, dtype: torch.dtype) -> None:
        """Load the BertModel and tokenizer.json in `folder`, a checkpoint of Hugging Face.

        Each text is read after the tokens `before` and before the token `after`. Raises ModelError.
        """
        from transformers import BertModel  # takes seconds to import
        from transformers.utils import logging

        logging.disable_progress_bar()

        try:
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            model: Any = BertModel.from_pretrained(folder, local_files_only=True, dtype=dtype, **self._settings)
        except Exception as error:  # both libraries raise bare Exception
            raise ModelError(f"cannot read the teacher in {folder}: {error}", "give the folder of a BERT") from error
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        ids = self.tokenizer.get_vocab()
        lacking = [token for token in (*before, after) if token not in ids]
        if lacking:
            raise ModelError(f"the tokenizer in {folder} lacks {lacking[0]}", "give the folder of another model")
        self.before, self.after = [ids[token] for token in before], ids[after]
        self.model = model.to(device).eval().requires_grad_(False)
        self.device = device
        self.centre: torch.Tensor | None = None
        """The mean (dim,) that is subtracted from the unit vectors; None: none is."""
        self.batch_tokens = _BATCH_TOKENS[device.partition(":")[0]]
        """About so many tokens are read at once, with padding."""

    def tokenize(self, texts: list[str]) -> list[NDArray[np.int64]]:
        """Return the ids of whole texts, without the tokens before and after them."""
        encodings = self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]

    def encode(self, texts: list[str], max_tokens: int = 0) -> Vectors:
        """Return unit vectors (n, dim) of the first `max_tokens` tokens, those before and after the text included."""
        parts = (self.tokenize(texts[i : i + 4096]) for i in range(0, len(texts), 4096))
        vectors = [self.encode_ids(ids, max_tokens) for ids in parts]
        return np.concatenate(vectors) if vectors else np.zeros((0, self.dim), np.float32)

    @property
    def of_queries(self) -> Self:
        """The embedder of queries, for one that reads queries in another way than passages."""
        return self

    @property
    def positions(self) -> int:
        """The tokens that the model can read, those before and after the text included."""
        return int(self.model.config.max_position_embeddings)

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return int(self.model.config.hidden_size)

    @property
    def reader(self) -> "BertEmbedder":
        """The model that reads the texts: this one, or the whole model from which this one's pieces were cut."""
        return self

    @torch.inference_mode()
    def encode_ids(self, ids: list[NDArray[np.int64]], max_tokens: int = 0) -> Vectors:
        """Encode texts given as token ids, without the tokens around them, in batches of similar length."""
        out = np.zeros((len(ids), self.dim), np.float32)
        marks = len(self.before) + 1
        lengths = np.array([min(len(row), (max_tokens or self.max_tokens) - marks) for row in ids], dtype=np.int64)
        for rows in batches_by_length(lengths + marks, self.batch_tokens):
            out[rows] = self._encode_batch([ids[row][: lengths[row]] for row in rows])
        return out

    def _encode_batch(self, ids: list[NDArray[np.int64]]) -> Vectors:
        input_ids, attention_mask = padded(ids, self.before, self.after, self.device)
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state.float()
        sums = (hidden * attention_mask[..., None]).sum(1)
        return self.finished(F.normalize(sums, dim=-1)).cpu().numpy()  # normalised, the sum is the mean

    @torch.no_grad()
    def token_states(self, ids: list[NDArray[np.int64]]) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Return the hidden states (texts, longest, dim) after each layer of the texts' own tokens, and their means.

        A mean (texts, dim) is that of the last states, those of the tokens before and after the text included.
        """
        input_ids, attention_mask = padded(ids, self.before, self.after, self.device)
        layers = self.model(input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        first, longest = len(self.before), max(map(len, ids))
        means = (layers[-1].float() * attention_mask[..., None]).sum(1) / attention_mask.sum(1, keepdim=True)
        return [hidden[:, first : first + longest].float() for hidden in layers[1:]], means

    def finished(self, vectors: torch.Tensor) -> torch.Tensor:
        """Turn the mean's unit vectors (n, dim) into the embedder's."""
        return vectors if self.centre is None else F.normalize(vectors - self.centre, dim=-1)


def padded(
    ids: list[NDArray[np.int64]], before: Sequence[int], after: int, device: str | torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens and mask (batch, n) of texts, each between the tokens around it; the mask is 1 for tokens."""
    tokens, mask = padded_rows([np.array([*before, *row, after], np.int64) for row in ids])
    return torch.from_numpy(tokens).to(device), torch.from_numpy(mask).long().to(device)
