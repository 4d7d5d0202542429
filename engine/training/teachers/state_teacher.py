"""What a teacher makes of each token of a text, layer by layer, for a student that may cut the text into other pieces.

Where both use the same pieces, every token is compared. Otherwise the teacher reads the text with its own pieces, and
those tokens are compared whose last character is the last of one of the teacher's: 87 % of the tokens of 24 languages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from longsearch.engine.evaluation.embedders.bert import BertEmbedder

Offsets = Sequence[tuple[int, int]]
"""For each piece of a text where it begins and ends, in characters."""


@dataclass(frozen=True, slots=True)
class TokenStates:
    """The states of a batch of texts."""

    ids: list[NDArray[np.int64]]
    """The texts as the student must read them."""
    rows: Tensor
    """(n,) the text of each token that is compared."""
    places: Tensor
    """(n,) the place of that token in its text, as the student reads it."""
    layers: list[Tensor]
    """For each of the student's layers the states (n, dim) that it must give."""
    vectors: Tensor
    """(texts, dim), the unit vectors of the texts."""


class StateTeacher:
    """Reads texts for a student of `n_layers`: its layer i learns what the teacher has after (i + 1) / n_layers."""

    def __init__(self, teacher: BertEmbedder, n_layers: int) -> None:
        self._teacher, self._reader, self._n_layers = teacher, teacher.reader, n_layers
        depth = len(self._reader.model.encoder.layer)
        self._depths = [(layer + 1) * depth // n_layers - 1 for layer in range(n_layers)]

    @property
    def of_queries(self) -> "StateTeacher":
        """The same teacher, which reads texts as queries."""
        return StateTeacher(self._teacher.of_queries, self._n_layers)

    def __call__(self, texts: list[NDArray[np.int64]]) -> TokenStates:
        """Read texts, given as token ids of the student's vocabulary."""
        ids, theirs, pairs = self._matched(texts)
        layers_of_teacher, means = self._reader.token_states(theirs)
        rows, places, their_places = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 3).T
        layers = [layers_of_teacher[depth][rows, their_places] for depth in self._depths]
        if self._teacher.centre is not None:  # a vector is the direction of mean / |mean| - centre
            layers[-1] = layers[-1] - (means.norm(dim=-1, keepdim=True) * self._teacher.centre)[rows]
        return TokenStates(ids, rows, places, layers, self._teacher.finished(F.normalize(means, dim=-1)))

    def _matched(
        self, texts: list[NDArray[np.int64]]
    ) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]], list[tuple[int, int, int]]]:
        """The ids that the student reads, those that the teacher reads, and (text, place, the teacher's place)."""
        limit = self._reader.positions - len(self._reader.before) - 1
        if self._reader is self._teacher:
            texts = [ids[:limit] for ids in texts]
            return texts, texts, [(row, i, i) for row, ids in enumerate(texts) for i in range(len(ids))]
        plain = self._teacher.tokenizer.decode_batch([ids.tolist() for ids in texts])
        ours, theirs = (
            embedder.tokenizer.encode_batch(plain, add_special_tokens=False)
            for embedder in (self._teacher, self._reader)
        )
        pairs = [
            (row, place, their_place)
            for row, (ends, other) in enumerate(zip(ours, theirs, strict=True))
            for place, their_place in ends_together(ends.offsets, other.offsets[:limit])
        ]
        read = [np.array(embedder.ids[:limit], np.int64) for embedder in theirs]
        return [np.array(embedder.ids, np.int64) for embedder in ours], read, pairs


def ends_together(ours: Offsets, theirs: Offsets) -> list[tuple[int, int]]:
    """Return (place in ours, place in theirs) of the pieces of one text that end at the same character.

    Several pieces may end there, as the bytes of one character do: then the last one counts.
    """
    last, other = ({stop: place for place, (_, stop) in enumerate(offsets)} for offsets in (ours, theirs))
    return [(place, other[stop]) for stop, place in last.items() if stop in other]
