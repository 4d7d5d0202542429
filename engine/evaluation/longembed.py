"""Generates retrieval tasks of a chosen length: a person's passkey in filler, or a needle in an essay.

They follow LongEmbed (Zhu et al., arXiv 2404.12096, section 3.2): 50 queries over 100 documents of 256 to 32,768
tokens, where a token counts as .75 words. The texts are our own. The needles are 100 written facts about invented
people, places and things (needles.jsonl), or sentences from a template of 10 things at 10 places. A seed gives the same
task everywhere and in any order; a test checks the bytes.
"""

import json
import re
from importlib.resources import files

import numpy as np

from longsearch.engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
N_DOCUMENTS, N_QUERIES = 100, 50
NEEDLES = ("written", "template")
_WORDS_PER_TOKEN = 0.75  # LongEmbed, footnote 2
_TASK = re.compile(r"(passkey|needle)(?:-(\d{2,6}))?")
_SYNTHETIC = re.compile(r"(?:longembed-)?(?:passkey|needle)-\d+")

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
_THINGS = """\
copper kettle
green bicycle
walnut violin
paper kite
silver thimble
broken telescope
wool blanket
chess set
brass compass
porcelain owl"""
_PLACES = """\
under the stairs of the lighthouse
behind the old bakery
in the third drawer of the pharmacy
on the roof of the library
beside the frozen canal
in the cellar of the town hall
at the back of the tram depot
beneath the bandstand
inside the church organ
next to the weather station"""


def task_names(name: str) -> list[str] | None:
    """Return the tasks of `passkey`, of `needle` or of a task with a length (`needle-4096`); None for other names."""
    match = _TASK.fullmatch(name)
    if not match:
        return None
    return [name] if match[2] else [f"{name}-{length}" for length in LENGTHS]


def is_synthetic(dataset: str) -> bool:
    """Return whether a set of this name is a passkey or needle task, ours or LongEmbed's, which is scored by Acc@1."""
    return _SYNTHETIC.fullmatch(dataset) is not None


def make_task(name: str, seed: int = 0, needles: str = NEEDLES[0]) -> Dataset:
    """Generate the task `passkey-LENGTH` or `needle-LENGTH`, with LENGTH in tokens; `needles` is one of NEEDLES."""
    kind, length = name.split("-")
    random = np.random.default_rng([seed, int(length), kind == "needle"])
    n_words = int(int(length) * _WORDS_PER_TOKEN)
    sentences = _sentences(_FILLER if kind == "passkey" else ESSAY)
    needle_facts = _written_needles if needles == "written" else _template_needles
    facts = (_passkeys if kind == "passkey" else needle_facts)(random)
    documents = []
    for row, (_, fact) in enumerate(facts):
        offset = 0 if kind == "passkey" else int(random.integers(len(sentences)))
        depth = random.random()
        documents.append(EvalDocument(f"d{row}", "", _hide(fact, sentences, offset, n_words, depth)))
    chosen = sorted(random.permutation(N_DOCUMENTS)[:N_QUERIES].tolist())
    queries = tuple(EvalQuery(f"q{row}", facts[row][0]) for row in chosen)
    return Dataset(name, tuple(documents), queries, {f"q{row}": {f"d{row}": 1} for row in chosen})


def _passkeys(random: np.random.Generator) -> list[tuple[str, str]]:
    """Return (query, sentence) for each document."""
    keys = random.integers(10_000, 99_999, N_DOCUMENTS).tolist()
    return [
        (
            f"What is the pass key for {name}?",
            f"The pass key for {name} is {key}. Remember it: {key} is the pass key for {name}.",
        )
        for name, key in zip(_people(random), keys, strict=True)
    ]


def _written_needles(random: np.random.Generator) -> list[tuple[str, str]]:
    """Return (query, sentence) for each document: the facts of needles.jsonl in random order."""
    lines = files("longsearch.engine.evaluation").joinpath("needles.jsonl").read_text("utf-8").splitlines()
    facts = [(record["question"], record["fact"]) for record in map(json.loads, lines)]
    return [facts[i] for i in random.permutation(len(facts))[:N_DOCUMENTS]]


def _template_needles(random: np.random.Generator) -> list[tuple[str, str]]:
    """Return (query, sentence) for each document: who left a thing at a place, each combination once."""
    combinations = [(thing, place) for thing in _THINGS.split("\n") for place in _PLACES.split("\n")]
    order = random.permutation(len(combinations))[:N_DOCUMENTS].tolist()
    facts = []
    for name, index in zip(_people(random), order, strict=True):
        thing, place = combinations[index]
        facts.append((f"Where did {name} leave the {thing}?", f"{name} left the {thing} {place}, and told nobody."))
    return facts


def _people(random: np.random.Generator) -> list[str]:
    names = [f"{first} {last}" for first in _FIRST.split() for last in _LAST.split()]
    return [names[i] for i in random.permutation(len(names))[:N_DOCUMENTS]]


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", " ".join(text.split()))


def _hide(fact: str, sentences: list[str], offset: int, n_words: int, depth: float) -> str:
    """Return at most `n_words` words: sentences from `offset` on, repeated, with `fact` at relative depth `depth`."""
    lines: list[str] = []
    count = len(fact.split())
    while (count := count + len((line := sentences[(offset + len(lines)) % len(sentences)]).split())) <= n_words:
        lines.append(line)
    lines.insert(int(depth * (len(lines) + 1)), fact)
    return " ".join(lines)
