"""Stage 3: long documents in one stream. Queries must find passages at any depth, and the document.

A batch of documents is read side by side, slice by slice (a slice is a vertical chunk). The state is carried from slice
to slice, but its gradient is not (truncated backpropagation), so memory is that of one slice. In every slice, sentences
of passages are their queries (inverse cloze), and the other passages of the batch are negatives. The document's vector
so far is matched with its title. A teacher, if there is one, gives target vectors and finds near-duplicates among the
negatives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.mamba2 import Mamba2State
from longsearch.engine.passages import cut_passages
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.pairs import LongDocument
from longsearch.engine.training.stages.loop import StepLoss
from longsearch.engine.training.stages.losses import cosine_distance, info_nce, unfair_negatives
from longsearch.engine.training.student.student import Padded, Student

_SENTENCE_TOKENS = (5, 64)
Encode = Callable[[list[NDArray[np.int64]]], NDArray[np.float32]]
"""The teacher: turns token ids of texts into unit vectors (n, dim)."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Options of stage 3."""

    seed: int = 0
    documents: int = 4
    """Number of documents read side by side."""
    min_tokens: int = 2048
    max_tokens: int = 32_768
    slice_tokens: int = 1024
    """V; gradients reach back at most so many tokens."""
    contrast_weight: float = 0.25
    cosine_weight: float = 4.0
    """Weight of 1 - cos between passages and the teacher's vectors, each passage read alone."""
    document_weight: float = 0.25
    both_ways: bool = True
    """Whether passages must also find their queries in InfoNCE. Equation 2 of the paper has queries only."""
    joint: bool = False
    """Whether each step is called once for each width: then every width carries its own state."""


@dataclass(frozen=True, slots=True)
class TokenDocument:
    """A long document, tokenized and cut into passages."""

    title: NDArray[np.int64]
    ids: NDArray[np.int64]
    borders: NDArray[np.int64]
    """(n_passages, 2) in tokens."""
    sentence_starts: NDArray[np.int64]
    """Indices of the tokens that begin a sentence."""


def prepare(document: LongDocument, tokenizer: TextTokenizer, max_tokens: int) -> TokenDocument:
    """Tokenize a document's first `max_tokens` tokens and cut them into passages, as the index does."""
    tokens = tokenizer.tokenize(document.text[: max_tokens * 8])
    ids, starts = tokens.ids[:max_tokens], tokens.starts[:max_tokens]
    text = document.text[: int(tokens.starts[max_tokens])] if len(tokens) > max_tokens else document.text
    spans = np.array([(p.start, p.stop) for p in cut_passages(text, starts)], np.int64).reshape(-1, 2)
    ends = [i + 1 for i, c in enumerate(text) if c in ".!?\n"]
    sentences = np.unique(np.searchsorted(starts, np.array([0, *ends])))
    return TokenDocument(tokenizer.tokenize(document.title).ids, ids, np.searchsorted(starts, spans), sentences)


class Streams:
    """Stage 3. A step reads one slice of the current documents; the next step continues where it ended.

    A resumed run starts with new documents, because checkpoints do not hold the states.
    """

    def __init__(
        self,
        student: Student,
        documents: list[TokenDocument],
        options: StreamOptions,
        prompter: Prompter,
        teacher: Encode | None,
    ) -> None:
        """Raises LongsearchError if there are fewer long documents than are read side by side."""
        long = [d for d in documents if len(d.ids) >= options.min_tokens and len(d.title) and len(d.borders)]
        self._documents = sorted(long, key=lambda document: len(document.ids))
        if len(long) < options.documents:
            hint = f"a document needs a title and at least {options.min_tokens} tokens"
            message = f"{len(long)} long documents are too few: {options.documents} are read side by side"
            raise LongsearchError(message, hint)
        self._student, self._options, self._prompter, self._teacher = student, options, prompter, teacher
        self.reading = Reading((), 1.0)
        """The documents that are being read, and their state; of a joint step, those of the width called last."""
        self._readings: dict[float, Reading] = {}

    def __call__(self, step: int, width: float) -> StepLoss:
        """Return the loss of the next slice. `width` applies from the next documents on: a state keeps its width.

        In a joint step each width reads the next slice of the same documents.
        """
        if self._options.joint:
            self.reading = self._readings.get(width, Reading((), width))
        if self.reading.is_done:
            self.reading = Reading(self._draw(step), width)
        if self._options.joint:
            self._readings[width] = self.reading
        reading, student = self.reading, self._student
        start, stop = reading.place, reading.place + self._options.slice_tokens
        texts = Padded.of([d.ids[start:stop] for d in reading.documents], student.device)
        hidden, state = student.hidden(texts.tokens, reading.state, reading.width)
        weighted = student.weighted(hidden, texts.tokens) * texts.mask[..., None]
        totals = weighted.sum(1) + (0 if reading.totals is None else reading.totals)
        terms = self._passage_terms(weighted, start, step) | {"document": self._document_loss(totals, step)}
        reading.advance(state, totals, stop)
        o = self._options
        weights = {"nce": o.contrast_weight, "cosine_distance": o.cosine_weight, "document": o.document_weight}
        loss = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        figures = {name: term.item() for name, term in terms.items()}
        tokens = int(texts.mask.sum().item())
        return StepLoss(loss, tokens, figures | {"width": reading.width, "depth": float(start)}, {})

    def _draw(self, step: int) -> tuple[TokenDocument, ...]:
        """Draw documents of similar length, so that little of the batch is padding."""
        n = self._options.documents
        random = np.random.default_rng([self._options.seed, step, 3])
        first = int(random.integers(max(1, len(self._documents) - 4 * n)))
        neighbours = self._documents[first : first + 4 * n]
        return tuple(neighbours[i] for i in random.permutation(len(neighbours))[:n])

    def _passage_terms(self, weighted: Tensor, start: int, step: int) -> dict[str, Tensor]:
        """Return InfoNCE of sentences and the passages they come from, and the distance to the teacher's vectors."""
        in_slice = passages_in_slice(self.reading.documents, start, start + weighted.shape[1])
        random = np.random.default_rng([self._options.seed, step, 4])
        cloze = [(p, q) for p in in_slice if len(q := cut_sentence(self.reading.documents[p.row], p, random))]
        if len(cloze) < 2:
            return {}
        passages = torch.stack([weighted[p.row, p.first - start : p.stop - start].sum(0) for p, _ in cloze])
        vectors = self._student.project(passages)
        queries = self._prompter([ids for _, ids in cloze], "ict", self._options.seed, step)
        query_vectors = self._student(Padded.of(queries, self._student.device), self.reading.width)
        ids = [self.reading.documents[p.row].ids[p.first : p.stop] for p, _ in cloze]
        teacher = self._teacher_vectors(ids)
        rows = torch.arange(len(cloze), device=vectors.device)  # here passages of one document are fair negatives
        same = unfair_negatives(rows, rows, ids, teacher)
        terms = {"nce": info_nce(query_vectors, vectors, same, both_ways=self._options.both_ways)}
        if teacher is not None:
            terms["cosine_distance"] = cosine_distance(vectors, teacher)
        return terms

    def _teacher_vectors(self, ids: list[NDArray[np.int64]]) -> Tensor | None:
        return None if self._teacher is None else torch.from_numpy(self._teacher(ids)).to(self._student.device)

    def _document_loss(self, totals: Tensor, step: int) -> Tensor:
        """Return InfoNCE of the titles and the documents' vectors so far."""
        titles = self._prompter([d.title for d in self.reading.documents], "title2", self._options.seed, step)
        queries = self._student(Padded.of(titles, self._student.device), self.reading.width)
        rows = torch.arange(len(titles), device=totals.device)
        same = rows[:, None] == rows[None, :]
        return info_nce(queries, self._student.project(totals), same, both_ways=self._options.both_ways)


@dataclass(slots=True)
class Reading:
    """The documents that are being read side by side."""

    documents: tuple[TokenDocument, ...]
    width: float
    place: int = 0
    """Number of tokens read so far, of each document."""
    state: Mamba2State | None = None
    totals: Tensor | None = None
    """(documents, d_model): the readout's sums so far."""

    @property
    def is_done(self) -> bool:
        """Whether all documents are read to the end."""
        return self.place >= max((len(document.ids) for document in self.documents), default=0)

    def advance(self, state: Mamba2State, totals: Tensor, place: int) -> None:
        """Keep state and sums without their gradients, which end at the start of a slice."""
        conv, ssm = (tuple(tensor.detach() for tensor in part) for part in (state.conv, state.ssm))
        self.state, self.totals, self.place = Mamba2State(conv, ssm), totals.detach(), place


@dataclass(frozen=True, slots=True)
class SlicePassage:
    """A passage that lies entirely in a slice."""

    row: int
    """Row of its document in the batch."""
    first: int
    stop: int
    """The passage has the tokens first .. stop - 1 of the document."""


def passages_in_slice(documents: tuple[TokenDocument, ...], start: int, stop: int) -> list[SlicePassage]:
    """Return the passages of `documents` that lie entirely in the tokens start .. stop - 1."""
    return [
        SlicePassage(row, int(first), int(last))
        for row, document in enumerate(documents)
        for first, last in document.borders
        if first >= start and last <= stop
    ]


def cut_sentence(document: TokenDocument, passage: SlicePassage, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the ids of a random sentence of the passage, of 5 to 64 tokens; empty if there is none."""
    starts = document.sentence_starts
    inside = starts[(starts >= passage.first) & (starts < passage.stop)]
    borders = pairwise([*inside.tolist(), passage.stop])
    fitting = [border for border in borders if _SENTENCE_TOKENS[0] <= border[1] - border[0] <= _SENTENCE_TOKENS[1]]
    if not fitting:
        return document.ids[:0]
    first, stop = fitting[int(random.integers(len(fitting)))]
    return document.ids[first:stop]
