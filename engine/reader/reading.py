"""Reads passages with a query: which sentence answers, and whether any does. By numpy alone.

Query and passage are read apart, so what was read of a passage is kept for the next query.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from threadpoolctl import threadpool_limits
from tokenizers import Tokenizer

from longsearch import assets
from longsearch.engine.errors import ModelError
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.models.without_torch.query_weights import QueryWeights, open_query_weights
from longsearch.engine.reader.layers import BERT_MARKS, Array, Layers
from longsearch.engine.reader.scoring import Scores, score
from longsearch.engine.sentences import PAGE_BREAK, Span, cut_sentences

FILE = "reader.safetensors"
SHIPPED = Path(assets.__path__[0]) / "reader"
"""The folder of the reader that ships with longsearch, whether or not it is there."""
LONGEST_QUERY, LONGEST_WINDOW = 32, 200
"""In tokens, as in the training. A longer passage is read in windows of whole sentences."""
N_THREADS = 2
_KEPT = 128
"""Windows that are kept for the next query: 30 MB."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader says of a passage."""

    sentences: list[Span]
    """Where each sentence begins and ends in the passage."""
    scores: Array
    """(sentences,), -1 to 1: how near each is to the query, as `engine.answers` scores them without the reader; -1 for
    all of a passage that was not read."""
    pairs: Array
    """(sentences - 1,): the same of each sentence and the one after it, taken together; -1 where a window ends."""
    relevance: float
    """A logit that the passage is about the query; -inf for a passage without words."""
    answers: float
    """The logit that some sentence of the passage answers; -inf for a passage without words."""


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of a passage: whole sentences, as tokens."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    """The first token of each sentence."""

    @property
    def key(self) -> bytes:
        """What tells it from other windows."""
        return self.ids.tobytes()


class Reader:
    """The reader of the bundled model. Safe to use from several threads."""

    def __init__(self, tokenizer: TextTokenizer, table: QueryWeights, tensors: dict[str, NDArray[np.float16]]) -> None:
        """`table`: the bundled model's weights. `tensors`: what `engine.training.reader` wrote."""
        self._tokenizer, self._table, self._marks = tokenizer, table, marks_of(tokenizer.tokenizer)
        weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
        self._layers = Layers({name[5:]: weight for name, weight in weights.items() if name.startswith("body.")})
        self._weights = {name: weight for name, weight in weights.items() if not name.startswith("body.")}
        self._project = np.ascontiguousarray(weights["project.weight"].T)
        self._kept: OrderedDict[bytes, Array] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def shipped(cls) -> Self | None:
        """Open the reader that ships with longsearch; None where it is left out. As `open` otherwise."""
        return cls.open(SHIPPED) if (SHIPPED / FILE).exists() else None

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the reader in `folder`, with the bundled model's tokenizer and table. Raises ModelError."""
        model = locate("bundled")
        config, _ = read_config(model.folder / "config.json")
        table = open_query_weights(model.folder, config) if isinstance(config, Mamba2Config) else None
        try:
            tensors = load_file(folder / FILE)
        except (SafetensorError, OSError) as error:
            raise ModelError(f"cannot read {folder / FILE}: {error}", "install longsearch again") from error
        if table is None:
            raise ModelError("the reader needs the table of the bundled model", "install longsearch again")
        return cls(TextTokenizer.load(model.tokenizer_folder), table, tensors)

    def read(self, query: str, passages: Sequence[tuple[str, str]]) -> list[Reading]:
        """Return what the reader says of each passage, given as (text, language)."""
        asked = self._tokenizer.tokenize(query).ids[:LONGEST_QUERY]
        cut = [cut_sentences(text, language) for text, language in passages]
        windows = [self._windows(text, spans) for (text, _), spans in zip(passages, cut, strict=True)]
        if not len(asked):
            return [_joined(spans, []) for spans in cut]
        # BLAS' own threads wait for each other by spinning: on busy processors that takes ten times as long
        with threadpool_limits(1, "blas"):
            vectors = self._vectors([window for own in windows for window in own])
            hidden = self._hidden([asked], 0)
            own = hidden[1:-1]
            weight = self._weights["idf"][asked] * np.exp(self._linear("weight", own))
            threshold = float(self._linear("threshold", hidden[:1])[0])
            unit, mix = self._unit(own), self._weights["mix"]
            return [
                _joined(spans, [score(vectors[w.key] @ unit.T, weight, w.starts, mix, threshold) for w in parts])
                for spans, parts in zip(cut, windows, strict=True)
            ]

    def knows(self, word: str) -> bool:
        """Whether a word, without the marks around it, is one piece: common words and names are."""
        letters = re.search(r"\w+", word)
        return letters is not None and len(self._tokenizer.tokenize(letters[0]).ids) == 1

    def _windows(self, text: str, spans: Sequence[Span]) -> list[_Window]:
        """Return the windows of a passage: as few as hold its sentences."""
        if not spans:
            return []
        tokens = self._tokenizer.tokenize(text.replace(PAGE_BREAK, "\n"))  # nothing, for the tokenizer
        starts = np.searchsorted(tokens.starts, [start for start, _ in spans]).astype(np.int64)
        bounds = np.append(starts, len(tokens))
        parts = [[0]]
        for number in range(1, len(spans)):
            if bounds[number + 1] - bounds[parts[-1][0]] > LONGEST_WINDOW:
                parts.append([number])
            else:
                parts[-1].append(number)
        return [
            _Window(tokens.ids[bounds[part[0]] : bounds[part[-1] + 1]], starts[part] - bounds[part[0]])
            for part in parts
        ]

    def _vectors(self, windows: Sequence[_Window]) -> dict[bytes, Array]:
        """Return the unit vectors of each window's tokens, read now or before."""
        found = {}
        with self._lock:
            for window in windows:
                if window.key in self._kept:
                    self._kept.move_to_end(window.key)
                    found[window.key] = self._kept[window.key]
        new = list({window.key: window for window in windows if window.key not in found}.values())
        parts = [new[n::N_THREADS] for n in range(N_THREADS) if new[n::N_THREADS]]
        with ThreadPoolExecutor(N_THREADS) as pool:
            for part in pool.map(self._read, parts):
                found |= part
        with self._lock:
            for window in new:
                self._kept[window.key] = found[window.key]
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def _read(self, windows: Sequence[_Window]) -> dict[bytes, Array]:
        """Return the unit vectors of windows."""
        found = {}
        for first in range(0, len(windows), 4):  # so that what is computed stays in the cache
            part = windows[first : first + 4]
            hidden = self._hidden([window.ids for window in part], 1)
            stops = np.cumsum([len(window.ids) + 2 for window in part]).tolist()
            for window, stop in zip(part, stops, strict=True):
                found[window.key] = self._unit(hidden[stop - len(window.ids) - 1 : stop - 1])
        return found

    def _hidden(self, texts: Sequence[NDArray[np.int64]], kind: int) -> Array:
        """Return the hidden states of [CLS] text [SEP], one text after another."""
        cls, sep = self._marks
        ids = np.concatenate([np.concatenate(([cls], text, [sep])) for text in texts])
        rows, _ = self._table.rows(ids)
        return self._layers.read(rows, [len(text) + 2 for text in texts], kind)

    def _unit(self, hidden: Array) -> Array:
        vectors: Array = hidden @ self._project
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    def _linear(self, name: str, x: Array) -> Array:
        """Return (rows,): a head with one number."""
        product: Array = x @ self._weights[f"{name}.weight"][0] + self._weights[f"{name}.bias"]
        return product


def marks_of(tokenizer: Tokenizer) -> tuple[int, int]:
    """The tokens that stand before and after a text: <s> and </s> for XLM-R's pieces, otherwise BERT's."""
    first, last = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    return BERT_MARKS if first is None or last is None else (first, last)


def _joined(spans: list[Span], windows: Sequence[Scores]) -> Reading:
    """Return what the windows of a passage say together."""
    if not windows:
        none = np.full(len(spans), -1, np.float32)
        return Reading(spans, none, none[1:], -np.inf, -np.inf)
    scores = np.concatenate([window.sentences for window in windows])
    pairs = np.concatenate([np.append(window.pairs, np.float32(-1)) for window in windows])[:-1]
    relevance = max(window.relevance for window in windows)
    answers = reduce(np.logaddexp, [window.answers for window in windows])
    return Reading(spans, scores, pairs, relevance, float(answers))
