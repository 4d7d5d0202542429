"""Draws what the reader is trained on: rows of a query and a window of sentences. Numpy alone; knows no model.

A *group* is three rows about one query: the window that answers, one on its subject that does not (its own window with
the answer cut out, another place of its context, or another context), and another context. *Loose* rows follow the
groups of a batch: a changed query over the window that answered it, and questions that their context does not answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.training.reader.library import Library

LONGEST, SHORTEST, HARD_LIMIT = 200, 60, 208
"""Tokens of a window. One of a single long sentence is cut off at the hard limit."""
CUT, OTHER, LOOSE = 1, 2, 3
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Queries beside windows. A window is two runs of sentences; the second may be empty."""

    query: Ints
    """The number of each row's query."""
    runs: Ints
    """(rows, 4): the first run's first sentence and one past its last, and the second's."""
    answers: NDArray[np.bool_]
    """Whether the window holds the query's right sentences."""
    kind: Ints
    """0 for a window that answers; else `CUT`, `OTHER` or `LOOSE`."""

    def take(self, which: Ints) -> "Rows":
        """Return some of the rows."""
        return Rows(self.query[which], self.runs[which], self.answers[which], self.kind[which])

    def lengths(self, library: Library) -> tuple[Ints, Ints]:
        """Return the numbers of tokens of each row's query and window."""
        starts = library.sentence_start.astype(np.int64)
        runs = starts[self.runs]
        window = runs[:, 1] - runs[:, 0] + runs[:, 3] - runs[:, 2]
        queries = library.query_start[self.query + 1] - library.query_start[self.query]
        return queries.astype(np.int64), np.minimum(window, HARD_LIMIT)


def joined(parts: list[Rows]) -> Rows:
    """Return the rows of all `parts`."""
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in Rows.__slots__))


def window_around(library: Library, first: Ints, last: Ints, context: Ints, rng: np.random.Generator) -> Ints:
    """Return (rows, 2): whole sentences of a context around those from `first` to `last`, of 60 to 200 tokens."""
    starts = library.sentence_start.astype(np.int64)
    low, high = (bound.astype(np.int64) for bound in library.span(context))
    begin, end = starts[first], starts[last]
    room = np.maximum(rng.integers(SHORTEST, LONGEST + 1, len(first)) - (end - begin), 0)
    before, after = begin - starts[low], starts[high] - end
    left = np.clip((rng.random(len(first)) * (room + 1)).astype(np.int64), room - after, before)
    left = np.clip(left, 0, before)
    new_first = np.searchsorted(starts, begin - left, "left")
    new_last = np.searchsorted(starts, end + room - left, "right") - 1
    return np.stack([np.clip(new_first, low, first), np.clip(new_last, last, high)], 1)


def random_window(library: Library, context: Ints, rng: np.random.Generator) -> Ints:
    """Return (rows, 2): a window somewhere in each context."""
    low, high = (bound.astype(np.int64) for bound in library.span(context))
    first = low + (rng.random(len(low)) * np.maximum(high - low, 1)).astype(np.int64)
    return window_around(library, first, np.minimum(first + 1, high), context, rng)


def positive_rows(library: Library, queries: Ints, rng: np.random.Generator) -> Rows:
    """Return each query beside a window that answers it; of a long run of right sentences, around one of them."""
    right = library.right[queries, 0].astype(np.int64)
    starts = library.sentence_start.astype(np.int64)
    long = starts[right[:, 1]] - starts[right[:, 0]] > SHORTEST
    middle = right[:, 0] + (rng.random(len(right)) * (right[:, 1] - right[:, 0])).astype(np.int64)
    first, last = np.where(long, middle, right[:, 0]), np.where(long, middle + 1, right[:, 1])
    windows = window_around(library, first, last, library.context[queries].astype(np.int64), rng)
    return Rows(queries, _one_run(windows), np.ones(len(queries), bool), np.zeros(len(queries), np.int64))


def cut_rows(library: Library, positive: Rows) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the windows without the sentences that answer, and which of them surely answer no more."""
    right = library.right[positive.query].astype(np.int64)
    runs = positive.runs.copy()
    runs[:, 1], runs[:, 2], runs[:, 3] = right[:, 0, 0], right[:, 0, 1], positive.runs[:, 1]
    starts = library.sentence_start.astype(np.int64)
    left = starts[runs[:, 1]] - starts[runs[:, 0]] + starts[np.maximum(runs[:, 3], runs[:, 2])] - starts[runs[:, 2]]
    doubtful = library.doubtful[positive.query]
    inside = (doubtful >= positive.runs[:, :1]) & (doubtful < positive.runs[:, 1:2])
    sure = ~inside.any(1) & (right[:, 1, 0] < 0) & (doubtful[:, 2] < 0) & ~library.is_topic[positive.query]
    sure &= (
        (right[:, 0, 1] - right[:, 0, 0] <= 2) & (left >= 25) & (runs[:, 1] >= runs[:, 0]) & (runs[:, 3] >= runs[:, 2])
    )
    n = len(runs)
    return Rows(positive.query, runs, np.zeros(n, bool), np.full(n, CUT, np.int64)), sure


def elsewhere_rows(library: Library, positive: Rows, rng: np.random.Generator) -> tuple[Rows, NDArray[np.bool_]]:
    """Return windows of other places of the same contexts, and which of them surely do not answer."""
    context = library.context[positive.query].astype(np.int64)
    windows = random_window(library, context, rng)
    right, doubtful = library.right[positive.query], library.doubtful[positive.query]
    hits = ((right[:, :, 0] < windows[:, 1:]) & (right[:, :, 1] > windows[:, :1])).any(1) | (right[:, 2, 0] >= 0)
    hits |= ((doubtful >= windows[:, :1]) & (doubtful < windows[:, 1:])).any(1) | (doubtful[:, 2] >= 0)
    starts = library.sentence_start.astype(np.int64)
    long = starts[windows[:, 1]] - starts[windows[:, 0]] >= 30
    rows = Rows(positive.query, _one_run(windows), np.zeros(len(context), bool), np.full(len(context), OTHER, np.int64))
    return rows, ~hits & long & ~library.is_topic[positive.query]


def other_rows(library: Library, queries: Ints, rng: np.random.Generator) -> Rows:
    """Return each query beside a window of another context that shares its rare words."""
    of = library.others[queries, rng.integers(0, library.others.shape[1], len(queries))].astype(np.int64)
    n = len(queries)
    return Rows(queries, _one_run(random_window(library, of, rng)), np.zeros(n, bool), np.full(n, OTHER, np.int64))


def hard_rows(library: Library, positive: Rows, rng: np.random.Generator) -> Rows:
    """Return the second row of each group: the cut window, another place of the context, or another context."""
    other = other_rows(library, positive.query, rng)
    cut, sure_cut = cut_rows(library, positive)
    away, sure_away = elsewhere_rows(library, positive, rng)
    dice = rng.random(len(sure_cut))
    rows = joined([other, cut, away])
    choice = np.where(sure_cut & (dice < 0.75), 1, np.where(sure_away & (dice > 0.2), 2, 0))
    return rows.take(choice * len(dice) + np.arange(len(dice)))


@dataclass(frozen=True, slots=True)
class Shares:
    """What a batch is made of: numbers of groups and of loose rows."""

    questions: int = 64
    topics: int = 32
    changed: int = 16
    unanswered: int = 16

    @property
    def groups(self) -> int:
        """The number of groups."""
        return self.questions + self.topics

    @property
    def rows(self) -> int:
        """The number of pairs that the reader reads in a batch."""
        return 3 * self.groups + self.changed + self.unanswered


class Sampler:
    """Draws batches from a library's training part, without end."""

    def __init__(self, library: Library, weights: dict[str, float], shares: Shares, seed: int) -> None:
        self.library, self.shares, self.rng = library, shares, np.random.default_rng(seed)
        n_own = library.changed.size - int((library.changed >= 0).sum())
        numbers = np.arange(n_own)
        trained = library.part[:n_own] == 0
        answered = trained & (library.right[:n_own, 0, 0] >= 0)
        topic = library.is_topic[:n_own]
        of_set = np.array([weights.get(str(name), 1.0) for name in library.names])[library.set_of[:n_own]]
        self._pools = {
            "questions": (numbers[answered & ~topic], of_set[answered & ~topic]),
            "topics": (numbers[answered & topic], of_set[answered & topic]),
            "unanswered": (numbers[trained & ~answered], of_set[trained & ~answered]),
        }
        self._left: dict[str, Ints] = {name: np.zeros(0, np.int64) for name in self._pools}

    def batches(self, at_once: int = 64) -> Iterator[Rows]:
        """Yield batches of groups, then loose rows. Groups of like length share a batch."""
        while True:
            n = self.shares
            groups = self._groups(n.questions * at_once, n.topics * at_once)
            loose = self._loose(n.changed * at_once, n.unanswered * at_once)
            order = np.argsort(groups.lengths(self.library)[1].reshape(3, -1).max(0), kind="stable")
            loose = loose.take(np.argsort(loose.lengths(self.library)[1], kind="stable"))
            size, n_loose = n.groups, n.changed + n.unanswered
            for batch in self.rng.permutation(at_once):
                of = order[batch * size : (batch + 1) * size]
                own = groups.take(np.concatenate([of, of + len(order), of + 2 * len(order)]))
                yield joined([own, loose.take(np.arange(batch * n_loose, (batch + 1) * n_loose))])

    def _groups(self, n_questions: int, n_topics: int) -> Rows:
        queries = np.concatenate([self._draw("questions", n_questions), self._draw("topics", n_topics)])
        positive = positive_rows(self.library, queries, self.rng)
        hard = hard_rows(self.library, positive, self.rng)
        return joined([positive, hard, other_rows(self.library, queries, self.rng)])

    def _loose(self, n_changed: int, n_unanswered: int) -> Rows:
        pool = self._pools["questions"][0]
        pool = pool[self.library.changed[pool] >= 0]
        queries = self.rng.choice(pool, n_changed) if len(pool) else self._draw("questions", n_changed)
        rows = positive_rows(self.library, queries, self.rng)
        if len(pool):
            rows = replace(
                rows, query=self.library.changed[queries].astype(np.int64), answers=np.zeros(n_changed, bool)
            )
        rows = replace(rows, kind=np.full(n_changed, LOOSE, np.int64))
        if not len(self._pools["unanswered"][0]):
            return joined([rows, other_rows(self.library, self._draw("questions", n_unanswered), self.rng)])
        queries = self._draw("unanswered", n_unanswered)
        windows = random_window(self.library, self.library.context[queries].astype(np.int64), self.rng)
        none, kinds = np.zeros(n_unanswered, bool), np.full(n_unanswered, LOOSE, np.int64)
        return joined([rows, Rows(queries, _one_run(windows), none, kinds)])

    def _draw(self, name: str, n: int) -> Ints:
        """Return the next `n` queries: each set comes as often as its weight says, each query once before any twice."""
        numbers, weights = self._pools[name]
        while len(self._left[name]) < n:
            whole = np.floor(weights + self.rng.random(len(weights))).astype(np.int64)
            self._left[name] = np.concatenate([self._left[name], self.rng.permutation(np.repeat(numbers, whole))])
        drawn, self._left[name] = self._left[name][:n], self._left[name][n:]
        return drawn


def _one_run(windows: Ints) -> Ints:
    return np.concatenate([windows, windows[:, 1:], windows[:, 1:]], 1)
