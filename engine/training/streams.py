"""Stage 3: long documents in one stream. Passages at any depth, and the document, must be found from their queries.

A batch of documents is read side by side, slice by slice (vertical chunks); the state is carried from slice to slice
but its gradient is not (truncated backpropagation), so memory is that of one slice. In every slice some passages' own
sentences are their queries (inverse cloze), the batch's other passages their negatives; the document's vector so far is
matched with its title. The teacher, where there is one, says what a passage's vector is and which negatives are unfair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import LongsearchError
from engine.inference.tokens import TextTokenizer
from engine.models.mamba2 import Mamba2State
from engine.passages import cut_passages
from engine.training.data import LongDocument
from engine.training.instructions import Prompter
from engine.training.loop import StepLoss
from engine.training.losses import cosine_distance, info_nce, unfair_negatives
from engine.training.student import Padded, Student

_SENTENCE_TOKENS = (5, 64)
Encode = Callable[[list[NDArray[np.int64]]], NDArray[np.float32]]
"""Token ids of texts to unit vectors (n, dim): the teacher's."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Of stage 3."""

    seed: int = 0
    documents: int = 4
    """Read side by side."""
    min_tokens: int = 2048
    max_tokens: int = 32_768
    slice_tokens: int = 1024
    """V: gradients reach back this far at most."""
    contrast_weight: float = 0.25
    cosine_weight: float = 4.0
    """Of 1 - cos between passages and the teacher's vectors of them, each alone."""
    document_weight: float = 0.25


@dataclass(frozen=True, slots=True)
class TokenDocument:
    """A long document, tokenised and cut."""

    title: NDArray[np.int64]
    ids: NDArray[np.int64]
    borders: NDArray[np.int64]
    """(n_passages, 2) in tokens."""
    sentence_starts: NDArray[np.int64]
    """Indices of tokens that begin a sentence."""


def prepare(document: LongDocument, tokenizer: TextTokenizer, max_tokens: int) -> TokenDocument:
    """Tokenise a document's first `max_tokens` and cut it into passages as the product does."""
    tokens = tokenizer.tokenize(document.text[: max_tokens * 8])
    ids, starts = tokens.ids[:max_tokens], tokens.starts[:max_tokens]
    text = document.text[: int(tokens.starts[max_tokens])] if len(tokens) > max_tokens else document.text
    spans = np.array([(p.start, p.stop) for p in cut_passages(text, starts)], np.int64).reshape(-1, 2)
    ends = [i + 1 for i, c in enumerate(text) if c in ".!?\n"]
    sentences = np.unique(np.searchsorted(starts, np.array([0, *ends])))
    return TokenDocument(tokenizer.tokenize(document.title).ids, ids, np.searchsorted(starts, spans), sentences)


class Streams:
    """Stage 3. A step is one slice of the documents being read; the next step goes on where it ended.

    A resumed run begins with new documents: states are not saved with the weights they were made by.
    """

    def __init__(
        self,
        student: Student,
        documents: list[TokenDocument],
        options: StreamOptions,
        prompter: Prompter,
        teacher: Encode | None,
    ) -> None:
        """Raises LongsearchError where fewer documents are long enough than are read side by side."""
        long = [d for d in documents if len(d.ids) >= options.min_tokens and len(d.title) and len(d.borders)]
        self._documents = sorted(long, key=lambda document: len(document.ids))
        if len(long) < options.documents:
            hint = f"a document has a title and {options.min_tokens} tokens or more"
            raise LongsearchError(f"{len(long)} long documents, {options.documents} are read side by side", hint)
        self._student, self._options, self._prompter, self._teacher = student, options, prompter, teacher
        self._reading = _Reading((), 1.0)

    def __call__(self, step: int, width: float) -> StepLoss:
        """The next slice; `width` counts when documents begin, for a state has the width it was made at."""
        if self._reading.is_done:
            self._reading = _Reading(self._draw(step), width)
        reading, student = self._reading, self._student
        start, stop = reading.place, reading.place + self._options.slice_tokens
        texts = Padded.of([d.ids[start:stop] for d in reading.documents], student.device)
        hidden, state = student.hidden(texts.tokens, reading.state, reading.width)
        weighted = student.weighted(hidden, texts.tokens) * texts.mask[..., None]
        totals = weighted.sum(1) + (0 if reading.totals is None else reading.totals)
        terms = self._passage_terms(weighted, start, step) | {"document": self._document_loss(totals, step)}
        reading.go_on(state, totals, stop)
        o = self._options
        weights = {"nce": o.contrast_weight, "cosine_distance": o.cosine_weight, "document": o.document_weight}
        loss = torch.stack([weights[name] * term for name, term in terms.items()]).sum()
        figures = {name: term.item() for name, term in terms.items()}
        tokens = int(texts.mask.sum().item())
        return StepLoss(loss, tokens, figures | {"width": reading.width, "depth": float(start)}, {})

    def _draw(self, step: int) -> tuple[TokenDocument, ...]:
        """Documents of like length, so that few wait for the longest."""
        n = self._options.documents
        random = np.random.default_rng([self._options.seed, step, 3])
        first = int(random.integers(max(1, len(self._documents) - 4 * n)))
        neighbours = self._documents[first : first + 4 * n]
        return tuple(neighbours[i] for i in random.permutation(len(neighbours))[:n])

    def _passage_terms(self, weighted: Tensor, start: int, step: int) -> dict[str, Tensor]:
        """InfoNCE of sentences and the passages of this slice that hold them, and the way to the teacher's vectors."""
        found = passages_in_slice(self._reading.documents, start, start + weighted.shape[1])
        random = np.random.default_rng([self._options.seed, step, 4])
        cloze = [(p, q) for p in found if len(q := cut_sentence(self._reading.documents[p.row], p, random))]
        if len(cloze) < 2:
            return {}
        passages = torch.stack([weighted[p.row, p.first - start : p.stop - start].sum(0) for p, _ in cloze])
        vectors = self._student.project(passages)
        queries = self._prompter([ids for _, ids in cloze], "ict", self._options.seed, step)
        query_vectors = self._student(Padded.of(queries, self._student.device), self._reading.width)
        ids = [self._reading.documents[p.row].ids[p.first : p.stop] for p, _ in cloze]
        teacher = self._taught(ids)
        rows = torch.arange(len(cloze), device=vectors.device)  # passages of one document are fair negatives here
        same = unfair_negatives(rows, rows, vectors.detach() if teacher is None else teacher)
        terms = {"nce": info_nce(query_vectors, vectors, same)}
        if teacher is not None:
            terms["cosine_distance"] = cosine_distance(vectors, teacher)
        return terms

    def _taught(self, ids: list[NDArray[np.int64]]) -> Tensor | None:
        return None if self._teacher is None else torch.from_numpy(self._teacher(ids)).to(self._student.device)

    def _document_loss(self, totals: Tensor, step: int) -> Tensor:
        """InfoNCE of the titles and the documents' vectors so far."""
        titles = self._prompter([d.title for d in self._reading.documents], "title2", self._options.seed, step)
        queries = self._student(Padded.of(titles, self._student.device), self._reading.width)
        rows = torch.arange(len(titles), device=totals.device)
        return info_nce(queries, self._student.project(totals), rows[:, None] == rows[None, :])


@dataclass(slots=True)
class _Reading:
    """Documents being read side by side."""

    documents: tuple[TokenDocument, ...]
    width: float
    place: int = 0
    """Tokens of each read so far."""
    state: Mamba2State | None = None
    totals: Tensor | None = None
    """(documents, d_model) the readout's sums so far."""

    @property
    def is_done(self) -> bool:
        """Whether all were read to their ends."""
        return self.place >= max((len(document.ids) for document in self.documents), default=0)

    def go_on(self, state: Mamba2State, totals: Tensor, place: int) -> None:
        """Keep what was read, without its gradient: that ends at the slice's start."""
        conv, ssm = (tuple(tensor.detach() for tensor in part) for part in (state.conv, state.ssm))
        self.state, self.totals, self.place = Mamba2State(conv, ssm), totals.detach(), place


@dataclass(frozen=True, slots=True)
class SlicePassage:
    """A passage that lies whole in a slice."""

    row: int
    """Of its document in the batch."""
    first: int
    stop: int
    """Tokens first .. stop - 1 of the document."""


def passages_in_slice(documents: tuple[TokenDocument, ...], start: int, stop: int) -> list[SlicePassage]:
    """All passages of `documents` whose tokens all lie in start .. stop - 1."""
    return [
        SlicePassage(row, int(first), int(last))
        for row, document in enumerate(documents)
        for first, last in document.borders
        if first >= start and last <= stop
    ]


def cut_sentence(document: TokenDocument, passage: SlicePassage, random: np.random.Generator) -> NDArray[np.int64]:
    """The ids of one of the passage's sentences, of 5 to 64 tokens; empty where it has none."""
    starts = document.sentence_starts
    inside = starts[(starts >= passage.first) & (starts < passage.stop)]
    borders = pairwise([*inside.tolist(), passage.stop])
    fitting = [border for border in borders if _SENTENCE_TOKENS[0] <= border[1] - border[0] <= _SENTENCE_TOKENS[1]]
    if not fitting:
        return document.ids[:0]
    first, stop = fitting[int(random.integers(len(fitting)))]
    return document.ids[first:stop]
