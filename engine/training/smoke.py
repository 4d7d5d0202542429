"""Trains a tiny model in seconds on generated data, to check that the whole pipeline learns.

Queries and passages of a topic share no word, so an untrained model ranks by chance, and matching words does not help.
There is no teacher: InfoNCE on pairs first, then streams.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from longsearch.engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.ranked_spans import by_vectors
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.pairs import LongDocument, Pair
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.stages.loop import LoopOptions, Stage, run
from longsearch.engine.training.stages.pair_stages import Contrast, Mixture, PairOptions
from longsearch.engine.training.stages.streams import StreamOptions, Streams, prepare
from longsearch.engine.training.student.initialise import Shape, new_checkpoint
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.student.student import Rates, Student

_TOPICS, _WORDS_PER_SIDE = 24, 8
_SHAPE = Shape(d_model=64, n_layers=2, d_state=16, head_dim=16, n_heads=8, block_size=16)
_RATES = {
    "pairs": Rates(blocks=5e-3, embedding=5e-3, projection=5e-4),
    "streams": Rates(blocks=1e-3, embedding=1e-3, projection=1e-4),
}


@dataclass(frozen=True, slots=True)
class SmokeResult:
    """nDCG@10 of queries that were not trained on."""

    before: float
    after_pairs: float
    after_streams: float


def smoke(folder: Path, steps: int = 60, seed: int = 0) -> SmokeResult:
    """Generate data and a model in `folder`, train it by stages 2 and 3, and score it before and after each stage."""
    random = np.random.default_rng(seed)
    tokenizer, start, dev = _tokenizer(), folder / "start", _dev_set(random)
    vectors = torch.from_numpy(random.normal(size=(tokenizer.get_vocab_size(), _SHAPE.d_model)).astype(np.float32))
    new_checkpoint(start, _SHAPE, tokenizer, vectors, seed)
    write_shards(_pairs(random), tokenizer, folder / "shards")
    scores = [_score(start, dev)]
    for name, like, n_steps in (("pairs", start, steps), ("streams", folder / "pairs", steps // 3)):
        student, _ = load_student(like, "cpu", torch.float32)
        options = PairOptions(seed=seed, batch_tokens=1024, max_pairs=48)
        pairs = load_pairs(folder / "shards", tokenizer, labelled_only=False)
        stage: Stage = Contrast(student, pairs, options, Prompter(tokenizer, 0.1))
        if name == "streams":
            stage = Mixture(_streams(student, tokenizer, random, seed), stage, 0.5, seed)
        run(student, stage, LoopOptions(folder / name, like, steps=n_steps, seed=seed, rates=_RATES[name]))
        scores.append(_score(folder / name, dev))
    return SmokeResult(*scores)


def _streams(student: Student, tokenizer: Tokenizer, random: np.random.Generator, seed: int) -> Streams:
    texts = TextTokenizer(tokenizer, None)
    documents = [prepare(document, texts, max_tokens=512) for document in _long_documents(random)]
    options = StreamOptions(seed=seed, documents=4, min_tokens=256, max_tokens=512, slice_tokens=256)
    return Streams(student, documents, options, Prompter(tokenizer, 0.1), None)


def _score(folder: Path, dev: Dataset) -> float:
    ours = OurVectors(dev, Encoder.open(folder, device="cpu", dtype="float32"), None)
    values = score_system(dev, by_vectors(ours.passages, ours.passage_vectors, ours.queries))
    return float(values["ndcg@10"].mean()) if values else 0.0


def _tokenizer() -> Tokenizer:
    """Return a tokenizer of whole words: those of all topics and of the instruction template."""
    words = [f"{side}{topic}x{i}" for topic in range(_TOPICS) for side in "qp" for i in range(_WORDS_PER_SIDE)]
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", ".", ":", "instruction", "query", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - not a password
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _words(side: str, topic: int, n: int, random: np.random.Generator) -> str:
    picked: NDArray[np.int64] = random.integers(_WORDS_PER_SIDE, size=n)
    return " ".join(f"{side}{topic}x{i}" for i in picked.tolist())


def _pairs(random: np.random.Generator) -> Iterator[Pair]:
    for number in range(960):
        topic = number % _TOPICS
        query, passage = _words("q", topic, 3, random), _words("p", topic, 16, random)
        yield Pair(query, passage, "question2passage", f"made-{number % 2}", f"{number}")


def _long_documents(random: np.random.Generator) -> Iterator[LongDocument]:
    for number in range(12):
        topics = random.integers(_TOPICS, size=4).repeat(11)  # four topics, each about a passage long
        sentences = [_words("p", int(topic), 10, random) for topic in topics]
        yield LongDocument(_words("q", number, 3, random), " . ".join(sentences) + " .", "made")


def _dev_set(random: np.random.Generator) -> Dataset:
    documents = tuple(EvalDocument(f"d{t}", "", _words("p", t, 16, random)) for t in range(_TOPICS))
    queries = tuple(EvalQuery(f"q{t}", _words("q", t, 3, random)) for t in range(_TOPICS))
    return Dataset("smoke", documents, queries, {f"q{t}": {f"d{t}": 1} for t in range(_TOPICS)})
