"""Removes from a model's vectors what all texts of a language share, and shrinks what sets a pair apart.

In a multilingual model, texts of one language lie near each other, whatever they say. Two linear maps in the readout
mend that, and the model is as fast as before:

- The mean vectors of the languages span a subspace, which is projected out (nuisance attribute projection, Solomonoff,
  Campbell and Boardman, ICASSP 2005; for languages Yang et al., arXiv 2109.04727).
- A text and its translation, or a question and its passage, should have one vector. The covariance of their differences
  says in which directions they differ, and a power of its inverse shrinks these (within-class covariance normalisation,
  Hatch, Kajarekar and Stolcke, Interspeech 2006, whose power is -1/2).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.languages.detection import language_of
from longsearch.engine.training.data.shards import PairSet, load_pairs
from longsearch.engine.training.student.saving import load_student, save_model
from longsearch.engine.training.student.student import read_all

Matrix = NDArray[np.float64]

POWER = 0.2
_PER_SOURCE = 60  # pairs
_LEAST_TEXTS = 40  # of a language, for its mean
_RIDGE = 0.5  # of the mean variance: directions in which pairs hardly differ would count too much
_TRANSLATIONS, _QUESTIONS = ("other2english", "english2other"), ("question2",)


def save_whitened(model: Path, shards: Path, out: Path, power: float = POWER, seed: int = 0) -> None:
    """Write to `out` the model in `model` with both maps in its readout, measured on pairs of `shards`.

    Of each source 60 pairs are read. `power` 0 leaves the second map out. Raises ModelError if `out`
    is `model`, and LongsearchError if no two languages have 40 passages each, or if there are no translations and
    questions.
    """
    if out.resolve() == model.resolve():
        raise ModelError(f"{out} is the model itself", "write the whitened model to another folder")
    student, tokenizer = load_student(model, "cpu", torch.float32)
    pairs = load_pairs(shards, tokenizer, labelled_only=False)
    rows = _drawn(pairs, np.random.default_rng(seed))
    passages = [tokenizer.decode(pairs.passages[row].tolist()) for row in rows.tolist()]
    languages = np.array([language_of(text) for text in passages])
    texts = ([texts[row] for row in rows.tolist()] for texts in (pairs.queries, pairs.passages))
    of_queries, of_passages = (read_all(student, own).astype(np.float64) for own in texts)
    whole = projecting_out(language_means(of_passages, languages))
    if power:
        kinds = [pairs.kind_names[kind] for kind in pairs.kinds[rows]]
        whole = shrunk(within_pairs(of_queries - of_passages, kinds, pairs.sources[rows]), power) @ whole
    with torch.no_grad():
        student.projection.copy_(torch.from_numpy(whole).float() @ student.projection)
    save_model(student, model, out, {})


def language_means(vectors: Matrix, languages: NDArray[np.str_]) -> Matrix:
    """Return (n_languages, dim): the mean vector of each language with 40 texts or more. Raises LongsearchError."""
    counts = Counter(languages.tolist())
    names = sorted(language for language, n in counts.items() if language and n >= _LEAST_TEXTS)
    if len(names) < 2:
        raise LongsearchError(f"texts of {len(names)} languages", f"give shards with {_LEAST_TEXTS} of two or more")
    return np.stack([vectors[languages == language].mean(0) for language in names])


def projecting_out(means: Matrix) -> Matrix:
    """Return (dim, dim): the projection that gives all these means (n, dim) the same vector."""
    directions = np.linalg.svd(means - means.mean(0), full_matrices=False)[2][: len(means) - 1]
    projection: Matrix = np.eye(means.shape[1]) - directions.T @ directions
    return projection


def within_pairs(differences: Matrix, kinds: Sequence[str], sources: NDArray[np.int64]) -> Matrix:
    """Return (dim, dim): the covariances of translations and of questions, added up. Raises LongsearchError."""
    chosen = (np.array([kind.startswith(names) for kind in kinds]) for names in (_TRANSLATIONS, _QUESTIONS))
    covariances = [covariance(differences[rows], sources[rows]) for rows in chosen if rows.any()]
    if not covariances:
        raise LongsearchError("no translation and no question in the shards", "give --power 0, or other shards")
    return sum(covariances[1:], covariances[0])


def covariance(differences: Matrix, sources: NDArray[np.int64]) -> Matrix:
    """Return (dim, dim): the covariance of differences within each source, with a trace of 1."""
    centred = differences.copy()
    for source in np.unique(sources):
        centred[sources == source] -= centred[sources == source].mean(0)
    total: Matrix = centred.T @ centred
    return total / max(float(np.trace(total)), 1e-12)


def shrunk(within: Matrix, power: float) -> Matrix:
    """Return (dim, dim): (within + ridge) ** -power, scaled so that the mean variance keeps its size."""
    dim = len(within)
    values, directions = np.linalg.eigh(within + _RIDGE * np.trace(within) / dim * np.eye(dim))
    scaled: Matrix = (directions * (values / values.mean()) ** -power) @ directions.T
    return scaled


def _drawn(pairs: PairSet, random: np.random.Generator) -> NDArray[np.int64]:
    """Return rows of pairs with tokens on both sides, at most `_PER_SOURCE` of each source."""
    is_full = (pairs.queries.lengths > 0) & (pairs.passages.lengths > 0)
    of_sources = (np.flatnonzero(is_full & (pairs.sources == source)) for source in range(len(pairs.source_names)))
    chosen = [random.permutation(rows)[:_PER_SOURCE] for rows in of_sources]
    return np.sort(np.concatenate(chosen))
