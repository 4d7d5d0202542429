"""The `contextual` readout: Causal2Vec (Lin et al., arXiv 2507.23386) on a recurrent model.

A bidirectional encoder turns a text into one vector C, its contextual token. The model reads [instruction; C; text;
EOS] (equation 2), and a vector is the hidden states of C and of EOS, one after the other (section 3.2).

The C of a document is a real token at its start, so the model's state carries it on. It comes from the document's first
512 tokens, so text that is added later does not change it. A passage has a C of its own, a probe at the passage's
start, and an EOS probe at its end. Probes leave no trace in the state.
"""

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.arrays import Vectors
from longsearch.engine.models.batches import batches_by_length, padded_rows
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.probes import Probes
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.papers.causal2vec.encoder import MAX_TOKENS
from longsearch.engine.papers.causal2vec.token import ContextualToken
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.reading import Finished, Slice, join_places, unit, without_excerpts
from longsearch.engine.readouts.saved_states import PassState

_TOKEN, _EOS, _OF_PASSAGE, _OF_DOCUMENT = range(4)  # what stands at a place of the stream
_BATCH_TOKENS = 4096  # tokens that the encoder reads at once, with padding


class ContextualReading:
    """A document under the `contextual` readout."""

    def __init__(self, eos_id: int, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> None:
        self.n_tokens_done = resume.n_tokens_done if resume else 0
        self.n_passages_done = resume.n_passages_done if resume else 0
        self._of_document, self._of_passage = resume.sums if resume else (torch.zeros(0), torch.zeros(0))
        """(1, d_model) hidden states of the document's C and of the unfinished passage's; (0,) before they are read."""
        self._eos = torch.zeros(0)
        """(1, d_model) hidden state of the last EOS; (0,) before the first."""
        self._ids, self._borders = ids, borders
        rest = ids[self.n_tokens_done :]
        places, kinds = self._marks(len(ids))
        places = places - self.n_tokens_done
        self.stream = np.insert(rest, places, eos_id)  # `read` replaces the embedding where a C stands
        self._kinds = np.insert(np.zeros(len(rest), np.int64), places, kinds)
        self.probes = (self._kinds == _EOS) | (self._kinds == _OF_PASSAGE)
        self._at = 0
        self._next = self.n_passages_done + len(self._of_passage)
        """The passage whose C is read next."""

    def _marks(self, n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where C and EOS have yet to be read, in tokens of the document, and which of them stands there."""
        passages = self._borders.passages[self.n_passages_done :]
        places, kinds = passages.ravel(), np.tile([_OF_PASSAGE, _EOS], len(passages))
        if len(self._of_passage):
            places, kinds = places[1:], kinds[1:]
        if not len(places) or places[-1] != n_tokens:
            places, kinds = np.append(places, n_tokens), np.append(kinds, _EOS)  # no passage ends with the document
        if not len(self._of_document):
            # it comes first: only queries have instructions, and queries have no passages
            places, kinds = np.insert(places, 0, self._borders.n_instruction), np.insert(kinds, 0, _OF_DOCUMENT)
        return places, kinds

    @property
    def sums(self) -> tuple[Tensor, ...]:
        """The hidden states of the document's C and of the C of the passage that is being read."""
        passages = self._borders.passages[self.n_passages_done : self.n_passages_done + 1]
        begun = len(passages) and passages[0, 0] < self.n_tokens_done
        # if none of the passage's tokens is read, then its C can be read again: the passage may still change
        return self._of_document, self._of_passage if begun else self._of_passage[:0]

    @property
    def document_vector(self) -> Vectors:
        """As in `EmbeddedPart`."""
        if not len(self._eos):
            return np.zeros(0, np.float32)
        vector: Vectors = unit(torch.cat((self._of_document, self._eos), dim=1))[0]
        return vector

    def contexts(self, length: int) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        """Return the places of the Cs among the next `length` ids of the stream, and the text that each stands for."""
        kinds = self._kinds[self._at : self._at + length]
        at = np.flatnonzero(kinds >= _OF_PASSAGE)
        texts, passage = [], self._next
        for kind in kinds[at]:
            if kind == _OF_DOCUMENT:
                texts.append(self._ids[self._borders.n_instruction :][:MAX_TOKENS])
            else:
                start, stop = self._borders.passages[passage]
                texts.append(self._ids[start:stop][:MAX_TOKENS])
                passage += 1
        return at, texts

    def marks_within(self, length: int) -> NDArray[np.int64]:
        """Return the places of every C and EOS among the next `length` ids of the stream."""
        return np.flatnonzero(self._kinds[self._at : self._at + length])

    def advance(self, length: int, hidden: Tensor) -> Tensor:
        """Move on by `length` ids. `hidden` (n, d_model) are the states of every C and EOS among them.

        Returns the vectors (n, 2 d_model) of the passages that are finished now, not yet scaled to unit length.
        """
        kinds = self._kinds[self._at : self._at + length]
        finished = []
        for kind, state in zip(kinds[kinds != _TOKEN], hidden.clone()[:, None], strict=True):
            if kind == _OF_DOCUMENT:
                self._of_document = state
            elif kind == _OF_PASSAGE:
                self._of_passage = state
                self._next += 1
            else:
                self._eos = state
                if len(self._of_passage):
                    finished.append(torch.cat((self._of_passage, state), dim=1))
                    self._of_passage = self._of_passage[:0]
        self._at += length
        self.n_tokens_done += length - len(hidden)
        self.n_passages_done += len(finished)
        return torch.cat(finished) if finished else hidden.new_zeros(0, 2 * hidden.shape[1])


class ContextualReadout:
    """The `contextual` readout of a Mamba2. Excerpts get no vectors."""

    n_sums = 2

    def __init__(self, token: ContextualToken, eos_id: int, d_model: int) -> None:
        self.token = token
        self._eos_id = eos_id
        self.dim = 2 * d_model

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], n_heads: int, eos_id: int, d_model: int) -> Self:
        """Take a checkpoint's `readout.*` tensors. Raises ModelError if they do not fit the model."""
        return cls(ContextualToken.from_tensors(tensors, d_model, n_heads), eos_id, d_model)

    def begin(self, ids: NDArray[np.int64], borders: Borders, resume: PassState | None) -> ContextualReading:
        """See `Readout`."""
        return ContextualReading(self._eos_id, ids, borders, resume)

    def ahead(self, state: PassState, ids: NDArray[np.int64], borders: Borders) -> tuple[NDArray[np.int64], ...]:
        """See `Readout`: the document's first tokens, and the passage that is being read, if its C has been read."""
        first = ids[borders.n_instruction :][:MAX_TOKENS]
        if not len(state.sums[1]):
            return (first,)
        passage = borders.passages[state.n_passages_done : state.n_passages_done + 1].ravel()
        return first, passage, ids[slice(*passage)] if len(passage) else passage

    def read(
        self, model: RecurrentModel, readings: Sequence[ContextualReading], given: Slice, state: Any
    ) -> tuple[list[Finished], Any]:
        """See `Readout`."""
        mamba = cast(Mamba2, model)  # `open_readout` refuses other families
        embedded = mamba.embeddings(given.tokens).float()
        contexts = [reading.contexts(length) for reading, length in zip(readings, given.lengths, strict=True)]
        rows, places = join_places([at for at, _ in contexts])
        if len(rows):
            C = contextual_tokens(
                self.token, mamba.embeddings.weight, [text for _, texts in contexts for text in texts]
            )
            embedded[rows.to(C.device), places.to(C.device)] = C
        located = Probes.locate(given.probes, mamba.config.d_conv, embedded.device) if given.probes.any() else None
        hidden, state = mamba.step_embedded(embedded, state, located)
        return self.take(readings, hidden, given.lengths), state

    def take(self, readings: Sequence[ContextualReading], hidden: Tensor, lengths: Sequence[int]) -> list[Finished]:
        """Take the hidden states (documents, length, d_model) of one step, and return what each document finished."""
        marks = [reading.marks_within(length) for reading, length in zip(readings, lengths, strict=True)]
        rows, places = join_places(marks)
        states = hidden[rows.to(hidden.device), places.to(hidden.device)].split(
            [len(places_of_row) for places_of_row in marks]
        )
        passages = [r.advance(n, places_of_row) for r, n, places_of_row in zip(readings, lengths, states, strict=True)]
        vectors = np.split(
            unit(torch.cat(passages)), np.cumsum([len(places_of_row) for places_of_row in passages])[:-1]
        )
        return without_excerpts(vectors)


def contextual_tokens(token: ContextualToken, table: Tensor, texts: Sequence[NDArray[np.int64]]) -> Tensor:
    """Return C (n, d_model) of texts, given as ids of `table` (vocabulary, d_model). Similar lengths share a batch.

    Equal texts are read once: a document of one passage and this passage have the same C.
    """
    numbers = dict[bytes, int]()
    which = [numbers.setdefault(ids.tobytes(), len(numbers)) for ids in texts]
    texts = [np.frombuffer(ids, np.int64) for ids in numbers]
    made = torch.zeros(len(texts), table.shape[1], device=table.device)
    for rows in batches_by_length(np.array([len(ids) for ids in texts], np.int64), _BATCH_TOKENS):
        ids, mask = (torch.from_numpy(part).to(table.device) for part in padded_rows([texts[row] for row in rows]))
        made[torch.from_numpy(rows).to(table.device)] = token(table[ids].float(), mask)
    return made[which]
