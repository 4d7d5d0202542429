"""Generates retrieval tasks of a chosen length: a person's passkey in filler, or a needle in an essay.

They follow LongEmbed (Zhu et al., arXiv 2404.12096, section 3.2): 50 queries over 100 documents of 256 to 32,768
tokens, where a token counts as .75 words; ours go on to 1,048,576. The needles are 100 written facts about invented
people, places and things (needles.jsonl), hidden in real prose: the first 200,000 words of the diary of Samuel Pepys
(diary.txt.xz). No document repeats itself up to 262,144 tokens; a longer one goes through the diary again. In `needle`
all documents have the same prose, from its beginning, as in LongEmbed. In `needle-own` each begins in another place, so
up to 1,024 tokens no two share a sentence: a document is about other things than its needle, as in life. At 2,048
tokens three pairs of neighbours do, at 4,096 all neighbours, at 32,768 each shares some with 24 others.

Two tasks are not LongEmbed's. `needle-own` is one. In `needles-LENGTH` one document hides a needle for every 200 words,
up to 100, and the passage that holds it must be found: one reading of a million tokens answers 100 questions. The
filler of `passkey` is four sentences that repeat, as the paper's is.

A seed gives the same task everywhere and in any order; a test checks the bytes. No text is kept but the diary's: a
document is written anew whenever it is read.
"""

import json
import lzma
import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files

import numpy as np

from longsearch.engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
N_DOCUMENTS, N_QUERIES = 100, 50
_WORDS_PER_TOKEN = 0.75  # LongEmbed, footnote 2
FIFTHS = (1, 2, 3, 4, 5)
"""Bands of depth: the first to the last fifth of a document."""
_WORDS_PER_NEEDLE = 200
_KINDS = "passkey|needles?|needle-own"
_TASK = re.compile(rf"({_KINDS})(?:-(\d{{2,7}})(?:-fifth-([1-5]))?)?")
_SYNTHETIC = re.compile(rf"(?:longembed-)?(?:{_KINDS})-\d+(?:-fifth-[1-5])?")

_FIRST = (
    "Ada Boris Clara Dmitri Elena Farid Greta Hugo Ines Jonas "
    "Katya Lars Mina Nadia Oscar Petra Quentin Rosa Samir Tilda"
)
_LAST = "Abbott Berg Castillo Dahl Engel Fontaine Greene Haddad Ivanov Jensen"
_FILLER = (
    "The tide comes in and the tide goes out. Boats lean on the sand until there is water under them. "
    "Gulls walk along the wall and look for bread. The clock on the tower is a little slow."
)
Fact = tuple[str, str]
"""A query, and the sentence that answers it."""


class GeneratedDocument(EvalDocument):
    """A document whose text is written anew at every access, and is not kept."""

    __slots__ = ("_write",)
    _write: Callable[[], str]

    def __init__(self, id: str, write: Callable[[], str]) -> None:
        """`write` returns the text, always the same."""
        for name, value in (("id", id), ("title", ""), ("_write", write)):
            object.__setattr__(self, name, value)  # an EvalDocument is frozen

    @property
    def text(self) -> str:
        """The whole text."""
        return self._write()


def task_names(name: str, by_depth: bool = False) -> list[str] | None:
    """Return the names of the tasks that `name` stands for; None if it is no generated task.

    `needle` stands for a task of each length, `needle-4096` for one.

    With `by_depth`, each is five tasks (`needle-4096-fifth-1` to `-fifth-5`), which differ in nothing but the depth:
    the facts that queries ask for lie in one fifth of their documents.
    """
    match = _TASK.fullmatch(name)
    if not match:
        return None
    names = [name] if match[2] else [f"{name}-{length}" for length in LENGTHS]
    return [f"{name}-fifth-{fifth}" for name in names for fifth in FIFTHS] if by_depth and not match[3] else names


def is_synthetic(dataset: str) -> bool:
    """Return whether a set of this name is a passkey or needle task, ours or LongEmbed's, which is scored by Acc@1."""
    return _SYNTHETIC.fullmatch(dataset) is not None


def make_task(name: str, seed: int = 0, n_documents: int = N_DOCUMENTS) -> Dataset:
    """Generate a task of `task_names`, such as `needle-LENGTH`, with LENGTH in tokens.

    With fewer than 100 documents, those that a query asks for are kept, and each of up to 50 documents is asked for.
    """
    match = _TASK.fullmatch(name)
    if not match or not match[2] or n_documents < 1:
        raise ValueError(f"{name!r} with {n_documents} documents is no task")
    kind, length, fifth = match[1], int(match[2]), int(match[3] or 0)
    make = partial(_one_document, name) if kind == "needles" else partial(_documents, name, kind, n_documents)
    # the two needle tasks hide the same facts at the same depths
    random = np.random.default_rng([seed, length, {"passkey": 0, "needles": 2}.get(kind, 1)])
    facts = (_passkeys if kind == "passkey" else _needles)(random)
    return make(facts, int(length * _WORDS_PER_TOKEN), fifth, random)


def _documents(
    name: str, kind: str, n_documents: int, facts: list[Fact], n_words: int, fifth: int, random: np.random.Generator
) -> Dataset:
    """Make a document for each fact, with the fact at any depth, or in one fifth of its document."""
    sentences = _sentences(_FILLER) if kind == "passkey" else _diary()
    documents = []
    for row, (_, fact) in enumerate(facts):
        offset = row * len(sentences) // N_DOCUMENTS if kind == "needle-own" else 0
        depth = random.random()
        depth = (fifth - 1 + depth) / len(FIFTHS) if fifth else depth
        documents.append(GeneratedDocument(f"d{row}", partial(_hide, [(depth, fact)], sentences, offset, n_words)))
    order = random.permutation(N_DOCUMENTS)[:n_documents].tolist()
    chosen = sorted(order[:N_QUERIES])
    queries = tuple(EvalQuery(f"q{row}", facts[row][0]) for row in chosen)
    qrels = {f"q{row}": {f"d{row}": 1} for row in chosen}
    return Dataset(name, tuple(documents[row] for row in sorted(order)), queries, qrels)


def _one_document(name: str, facts: list[Fact], n_words: int, fifth: int, random: np.random.Generator) -> Dataset:
    """Make one document with all facts, evenly spread, and ask for those in one fifth of it, or for all."""
    facts = facts[: max(n_words // _WORDS_PER_NEEDLE, len(FIFTHS))]
    depths = (np.arange(len(facts)) + random.random(len(facts))) / len(facts)
    hidden = [(depth, fact) for depth, (_, fact) in zip(depths.tolist(), facts, strict=True)]
    document = GeneratedDocument("d0", partial(_hide, hidden, _diary(), 0, n_words))
    text = document.text
    asked = [row for row, depth in enumerate(depths.tolist()) if fifth in (0, 1 + int(depth * len(FIFTHS)))]
    spans = {row: ((start := text.index(facts[row][1]), start + len(facts[row][1])),) for row in asked}
    queries = tuple(EvalQuery(f"q{row}", facts[row][0], spans[row]) for row in asked)
    return Dataset(name, (document,), queries, {query.id: {"d0": 1} for query in queries})


def _passkeys(random: np.random.Generator) -> list[Fact]:
    """Return (query, sentence) for each document."""
    keys = random.integers(10_000, 99_999, N_DOCUMENTS).tolist()
    return [
        (
            f"What is the pass key for {name}?",
            f"The pass key for {name} is {key}. Remember it: {key} is the pass key for {name}.",
        )
        for name, key in zip(_people(random), keys, strict=True)
    ]


def _needles(random: np.random.Generator) -> list[Fact]:
    """Return (query, sentence) for each document: the facts of needles.jsonl in random order."""
    lines = files("longsearch.engine.evaluation").joinpath("needles.jsonl").read_text("utf-8").splitlines()
    facts = [(record["question"], record["fact"]) for record in map(json.loads, lines)]
    return [facts[i] for i in random.permutation(len(facts))[:N_DOCUMENTS]]


def _people(random: np.random.Generator) -> list[str]:
    names = [f"{first} {last}" for first in _FIRST.split() for last in _LAST.split()]
    return [names[i] for i in random.permutation(len(names))[:N_DOCUMENTS]]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", " ".join(text.split()))


@cache
def _diary() -> list[str]:
    """Return the diary's sentences; one of more than 40 words is cut where 40 are reached."""
    packed = files("longsearch.engine.evaluation").joinpath("diary.txt.xz").read_bytes()
    words = [sentence.split() for sentence in _sentences(lzma.decompress(packed).decode())]
    return [" ".join(row[start : start + 40]) for row in words for start in range(0, len(row), 40)]


def _hide(facts: list[tuple[float, str]], sentences: list[str], offset: int, n_words: int) -> str:
    """Write a text of at most `n_words` words: sentences, from `offset` on, with each fact at its depth.

    `facts` holds (depth, fact), by depth.
    """
    lines: list[str] = []
    ends = [0]  # words before each line, and all of them
    room = n_words - sum(len(fact.split()) for _, fact in facts)
    while ends[-1] + len((line := sentences[(offset + len(lines)) % len(sentences)]).split()) <= room:
        lines.append(line)
        ends.append(ends[-1] + len(line.split()))
    n_filler = ends[-1]
    for depth, fact in reversed(facts):
        lines.insert(bisect_left(ends, depth * n_filler), fact)
    return " ".join(lines)
