"""Finds what does not answer: other contexts that share a query's rare words, and queries with a name changed."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

N_OTHERS, LONGEST_QUERY = 8, 32


@dataclass(frozen=True, slots=True)
class Row:
    """A query, as it was read."""

    query: str
    set_name: str
    """The file's name, or "topics-" and the kind of pair."""
    context: int
    spans: list[tuple[int, int]]
    """Where the answers lie in the context, in characters; none: it does not answer."""
    answers: list[str]
    is_topic: bool
    """Whether the query is a title, key words or a claim, which the whole context answers."""


@dataclass(frozen=True, slots=True)
class CutTexts:
    """Contexts as tokens and sentences."""

    tokens: NDArray[np.uint16]
    """The tokens of all contexts, one after another."""
    offsets: NDArray[np.int32]
    """The character at which each token begins, in its context."""
    sentence_start: NDArray[np.int32]
    """The first token of each sentence, and the number of tokens."""
    context_start: NDArray[np.int32]
    """The first sentence of each context, and the number of sentences."""


def encode(tokenizer: Tokenizer, texts: list[str], most: int = LONGEST_QUERY) -> list[list[int]]:
    """Return up to `most` tokens of each text, and at least one."""
    return [
        (encoded.ids or [100])[:most]
        for first in range(0, len(texts), 5000)
        for encoded in tokenizer.encode_batch(texts[first : first + 5000], add_special_tokens=False)
    ]


def other_contexts(
    rows: list[Row], part: NDArray[np.uint8], lower: list[str], cut: CutTexts, tokenizer: Tokenizer
) -> NDArray[np.int32]:
    """Return for each row up to eight contexts of its part that BM25 finds and that do not hold its answer."""
    n_contexts, n_words = len(lower), tokenizer.get_vocab_size()
    bounds = cut.sentence_start[cut.context_start]
    sizes = np.diff(bounds)
    of = np.repeat(np.arange(n_contexts), sizes)
    keys, counts = np.unique(cut.tokens.astype(np.int64) * n_contexts + of, return_counts=True)
    word_of, context_of = np.divmod(keys, n_contexts)
    frequency = np.bincount(word_of, minlength=n_words)
    idf = np.log1p((n_contexts - frequency + 0.5) / (frequency + 0.5))
    length = (sizes / sizes.mean())[context_of]
    weights = counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length)) * idf[word_of]
    column = np.concatenate([[0], np.cumsum(frequency)])
    rare = frequency < max(20, n_contexts // 60)
    context_part = np.full(n_contexts, 255, np.uint8)
    context_part[[row.context for row in rows]] = part
    topic = np.zeros(n_contexts, bool)
    topic[[row.context for row in rows if row.is_topic]] = True
    found = np.full((len(rows), N_OTHERS), -1, np.int32)
    rng = np.random.default_rng(1)
    queries = encode(tokenizer, [row.query for row in rows])
    for n, (row, ids) in enumerate(zip(rows, queries, strict=True)):
        words = [word for word in set(ids) if rare[word]]
        if not words:
            continue
        contexts = np.concatenate([context_of[column[word] : column[word + 1]] for word in words])
        scores = np.concatenate([weights[column[word] : column[word + 1]] for word in words])
        unique, inverse = np.unique(contexts, return_inverse=True)
        total = np.bincount(inverse, scores) * (context_part[unique] == part[n]) * (topic[unique] == row.is_topic)
        best = unique[np.argsort(-total)[:20]][: int((total > 0).sum())]
        right = [other for other in best if other != row.context and not _answers(row, lower, int(other))][:N_OTHERS]
        found[n, : len(right)] = right
    return _filled(found, part, topic, rows, rng)


def _answers(row: Row, lower: list[str], other: int) -> bool:
    """Return whether another context holds the row's answer, or words of its evidence."""
    text = lower[other]
    if any(answer.lower() in text for answer in row.answers if len(answer) <= 150):
        return True
    own = lower[row.context]
    pieces = [own[start : start + 60] for start, _ in row.spans[:3]] if not row.is_topic else [own[:50], own[100:150]]
    return any(len(piece) >= 30 and piece in text for piece in pieces)


def _filled(
    found: NDArray[np.int32], part: NDArray[np.uint8], topic: NDArray[np.bool_], rows: list[Row],
    rng: np.random.Generator,
) -> NDArray[np.int32]:  # fmt: skip
    """Fill the empty places with a row's own others, or else with random contexts of its part."""
    of_part = defaultdict(list)
    for row, own in zip(rows, part, strict=True):
        of_part[int(own), row.is_topic].append(row.context)
    for n, row in enumerate(rows):
        missing = found[n] < 0
        if not missing.any():
            continue
        own = found[n][~missing]
        pool = own if len(own) else [c for c in rng.choice(of_part[int(part[n]), row.is_topic], 6) if c != row.context]
        found[n, missing] = rng.choice(pool if len(pool) else [row.context], int(missing.sum()))
    return found


_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'.-]+(?: [A-Z][\w'.-]+)*")
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")


def changed_queries(rows: list[Row], rng: np.random.Generator) -> Iterator[tuple[int, str]]:
    """Yield (row, query) of queries with a name, a number or a date that is another query's."""
    pools: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for kind, pattern in (("name", _NAME), ("number", _NUMBER)):
            pools[row.set_name, kind] += pattern.findall(row.query)
    for n, row in enumerate(rows):
        if row.is_topic or not row.spans or row.set_name.startswith(("cuad", "policyqa")):
            continue
        found = [("number", m) for m in _NUMBER.finditer(row.query)] + [("name", m) for m in _NAME.finditer(row.query)]
        if not found:
            continue
        kind, match = found[rng.integers(len(found))]
        pool = pools[row.set_name, kind]
        other = _other_than(match.group(), pool, rng)
        if other:
            yield n, row.query[: match.start()] + other + row.query[match.end() :]


def _other_than(text: str, pool: list[str], rng: np.random.Generator) -> str | None:
    """Return an entry of `pool` that is as long in words as `text` and shares none with it."""
    words = set(text.lower().split())
    for _ in range(12):
        other = pool[rng.integers(len(pool))]
        if len(other.split()) == len(text.split()) and not words & set(other.lower().split()):
            return other
    return None
