"""Generates retrieval tasks of a chosen length: a person's passkey in filler, or a needle in an essay.

They follow LongEmbed (Zhu et al., arXiv 2404.12096, section 3.2): 50 queries over 100 documents of 256 to 32,768
tokens, where a token counts as .75 words; ours go on to 1,048,576. The texts are our own. The needles are 100 written
facts about invented people, places and things (needles.jsonl). A seed gives the same task everywhere and in any order;
a test checks the bytes. A third task, `needles-LENGTH`, is not LongEmbed's: one document hides a needle for every 200
words, up to 100, and the passage that holds it must be found. So one reading of a million tokens answers 100 questions.

No text is kept: a document is written anew whenever it is read, so a task of a million tokens takes no memory.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from importlib.resources import files

import numpy as np

from longsearch.engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
N_DOCUMENTS, N_QUERIES = 100, 50
_WORDS_PER_TOKEN = 0.75  # LongEmbed, footnote 2
FIFTHS = (1, 2, 3, 4, 5)
"""Bands of depth: the first to the last fifth of a document."""
_WORDS_PER_NEEDLE = 200
_TASK = re.compile(r"(passkey|needles?)(?:-(\d{2,7})(?:-fifth-([1-5]))?)?")
_SYNTHETIC = re.compile(r"(?:longembed-)?(?:passkey|needles?)-\d+(?:-fifth-[1-5])?")

_FIRST = (
    "Ada Boris Clara Dmitri Elena Farid Greta Hugo Ines Jonas "
    "Katya Lars Mina Nadia Oscar Petra Quentin Rosa Samir Tilda"
)
_LAST = "Abbott Berg Castillo Dahl Engel Fontaine Greene Haddad Ivanov Jensen"
_FILLER = (
    "The tide comes in and the tide goes out. Boats lean on the sand until there is water under them. "
    "Gulls walk along the wall and look for bread. The clock on the tower is a little slow."
)
ESSAY = """\
A good workshop is recognised by what is missing from its walls. Tools that nobody reaches for are given away, and the
hooks they hung on are taken down, so that the eye never stops at a place where the hand has no business.

People who write letters by hand say that the slowness is the point. A sentence that has to be inked is weighed first,
and half of what one meant to say turns out not to be worth the ink.

Gardens teach patience badly, because they reward it only sometimes. The pear that was pruned by the book sulks for
three summers, and the one that grew out of a compost heap bends under its fruit.

It is often said that maps are lies that everyone has agreed on. The cartographer leaves out the washing lines and the
dogs, and what remains is called a village.

Music lessons fail in the second year. In the first everything is new, in the third something can be played, but the
second consists of knowing exactly how bad one is.

There is a kind of conversation that happens only on trains, between people who will not meet again. It has no use, and
perhaps for that reason it is remembered longer than most.

Bridges are built twice, once on paper against the wind, and once in the river against the budget. Those that stand for
a century were usually lucky in the first and honest in the second.

Every kitchen has a drawer for things without a name. Its contents are never sorted, since to sort them would be to
admit what they are."""


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
    random = np.random.default_rng([seed, length, ("passkey", "needle", "needles").index(kind)])
    facts = (_passkeys if kind == "passkey" else _needles)(random)
    return make(facts, int(length * _WORDS_PER_TOKEN), fifth, random)


def _documents(
    name: str, kind: str, n_documents: int, facts: list[Fact], n_words: int, fifth: int, random: np.random.Generator
) -> Dataset:
    """Make a document for each fact, with the fact at any depth, or in one fifth of its document."""
    sentences = _sentences(_FILLER if kind == "passkey" else ESSAY)
    documents = []
    for row, (_, fact) in enumerate(facts):
        offset = 0 if kind == "passkey" else int(random.integers(len(sentences)))
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
    document = GeneratedDocument("d0", partial(_hide, hidden, _sentences(ESSAY), 0, n_words))
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


def _hide(facts: list[tuple[float, str]], sentences: list[str], offset: int, n_words: int) -> str:
    """Write a text of at most `n_words` words: repeated sentences, from `offset` on, with each fact at its depth.

    `facts` holds (depth, fact), by depth.
    """
    lines: list[str] = []
    count = sum(len(fact.split()) for _, fact in facts)
    while (count := count + len((line := sentences[(offset + len(lines)) % len(sentences)]).split())) <= n_words:
        lines.append(line)
    n_lines = len(lines)
    for depth, fact in reversed(facts):
        lines.insert(int(depth * (n_lines + 1)), fact)
    return " ".join(lines)
