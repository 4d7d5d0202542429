"""What a query costs, counted over real text: which path answers it, and how much of the index it reads.

No clock: a class of queries that falls off the fast path, or that reads more than before, fails here on any machine.
"""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.engine.answers import choosing
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.passages import cut_passages
from longsearch.engine.search import spelling, versions
from longsearch.engine.search.searcher import SLOWLY
from longsearch.engine.store import connection, keywords, vectors
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.segments import files, filter_cache, upkeep, word_parts, word_positions
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue
from longsearch.engine.types.results import Folder, SearchMode, SearchResults
from tests.app.homes import make_home

REPOSITORY = Path(__file__).parents[2]
MODEL = "model-a"
DIM = 16
GERMAN = (
    "Die Kündigungsfrist des Mietvertrags beträgt drei Monate zum Ende eines Quartals. Wer früher auszieht, schuldet"
    " die Miete, bis ein Nachmieter gefunden ist. Kleine Reparaturen zahlt der Mieter, die Heizung der Vermieter."
)
JAPANESE = "庭師の契約は双方が署名し、町の家に保管された。東大寺には大仏がある。果樹園の木は冬に剪定し、春に花が咲く。"
MOST_CHARACTERS = 30_000
"""Of a text: a page of the manual that grows shall not make a search dearer."""
FOLDERS = {
    "samples": ["assets/samples/*"],
    "manual": ["docs/app.md", "docs/agents.md", "docs/formats.md", "docs/scores.md", "docs/settings.md"],
    "science": ["docs/papers.md", "docs/models.md", "docs/evaluation.md", "docs/scale.md"],
}


def vector_of(text: str) -> np.ndarray:
    """A vector that is alike for texts with the same words."""
    vector = np.full(DIM, 1e-3, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        vector[zlib.crc32(word.encode()) % DIM] += 1
    return vector / np.linalg.norm(vector)


def fill(store: Store, name: str, text: str, number: int) -> None:
    """Add a document with its passages, the vectors of these and a date and an author."""
    starts = np.array([match.start() for match in re.finditer(r"\w+|[^\w\s]", text)], np.int64)
    passages = cut_passages(text, starts)
    values = (MetadataValue("date", f"20{10 + number % 15}-03-01", "front matter"),
              MetadataValue("author", ("Ann Lee", "Bo Li")[number % 2], "front matter"))  # fmt: skip
    document = DocumentText(text, (), "", (), values)
    stamp = FileStamp(name, len(text), number, number + 1)
    known = store.add_document(stamp, hashlib.sha256(text.encode()).digest(), document, passages)
    own = np.stack([vector_of(text[one.start : one.stop]) for one in passages])
    store.add_vectors(known, 0, own, len(starts), None)
    store.finish_embedding(known, vector_of(text), len(starts))


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """Three folders of real text, with segments."""
    with pytest.MonkeyPatch.context() as patch:
        home = make_home(tmp_path_factory.mktemp("costs"), patch)
        patch.setattr(upkeep, "LEAST_PASSAGES", 1)
        made = []
        for folder, patterns in FOLDERS.items():
            files = [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]
            texts = {f"{path.parent.name}/{path.name}": path.read_text("utf-8")[:MOST_CHARACTERS] for path in files}
            if folder == "samples":
                texts |= {"german/miete.md": GERMAN, "japanese/niwa.md": JAPANESE}
            root = home / folder
            root.mkdir()
            with Store.open(index_path(root), root=root) as store:
                store.use_model(MODEL, DIM)
                for number, (name, text) in enumerate(texts.items()):
                    fill(store, name, text, number)
                store.tidy()
            made.append(root)
        yield made


@dataclass
class Costs:
    """What some searches did."""

    slow: set[str] = field(default_factory=set)
    """The slow twins that answered."""
    counts: Counter[str] = field(default_factory=Counter)


SLOW = {
    keywords: ("best", "first_matching", "scores_of_forms", "matching", "n_matching_by_document", "occurrences",
               "frequencies"),
    vectors: ("nearest_of_all",),
    CandidateFilter: ("ids",),
}  # fmt: skip


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Costs:
    """Counts what is done from now on, by connections that are opened from now on. Nothing is kept from before."""
    found = Costs()

    def spied(owner: Any, name: str, note: Callable[..., None]) -> None:
        does = getattr(owner, name)

        def spy(*arguments: Any, **options: Any) -> Any:
            answer = does(*arguments, **options)
            note(answer, *arguments)
            return answer

        monkeypatch.setattr(owner, name, spy)

    for owner, names in SLOW.items():
        for name in names:
            spied(owner, name, lambda *_, name=name: found.slow.add(name))
    spied(choosing, "cut_sentences", lambda *_: found.counts.update(passages_cut=1))
    spied(TextTokenizer, "_encoded", lambda *_: found.counts.update(tokenizer_calls=1))
    spied(word_parts, "phrase", lambda *_: found.counts.update(phrases=1))
    spied(word_positions, "positions_at", lambda found_at, *_: found.counts.update(positions=len(found_at)))
    spied(word_parts, "number_of", lambda *_: found.counts.update(lookups=1))
    spied(word_parts, "Part", lambda part, *_: found.counts.update(
        postings=sum(held.n_passages for held in part.held)))  # fmt: skip

    def trace(event: dict[str, Any]) -> None:
        if event["code"] == apsw.SQLITE_TRACE_ROW:
            found.counts["rows"] += 1
        elif event["code"] == apsw.SQLITE_TRACE_PROFILE:
            found.counts["statements"] += 1
            found.counts["transactions"] += event["sql"].startswith("BEGIN")
            found.counts["rows_scanned"] += event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"]

    hook = lambda db: db.trace_v2(apsw.SQLITE_TRACE_ROW | apsw.SQLITE_TRACE_PROFILE, trace)  # noqa: E731
    monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, hook])
    for owner, name in ((connection, "_idle"), (spelling, "_kept"), (versions, "_beginnings"), (filter_cache, "_kept"),
                        (filter_cache, "_counted")):  # fmt: skip
        monkeypatch.setattr(owner, name, {})
    choosing.overlapping.cache_clear()
    monkeypatch.setattr(choosing, "_cut", lru_cache(512)(choosing._cut.__wrapped__))
    spied(choosing, "_cut", lambda *_: found.counts.update(passages_chosen_for=1))
    return found


_PAPERS = (REPOSITORY / "docs" / "papers.md").read_text("utf-8")
LONG = " ".join(_PAPERS[_PAPERS.index("## Recurrent embeddings") :].split()[:600])
CLASSES = {
    "a question": "what should a beekeeper do when the colony wants to leave",
    "two words": "violin strings",
    "two spellings": "colour optimise licence",
    "a spelling without its apostrophe": "OBrien bees",
    "two languages": "Kündigungsfrist lease",
    "a German question": "wie lang ist die Frist der Kündigung der Wohnung",
    "a mistyped word": "bycicles and glaicers",
    "a pasted paragraph": LONG[:900],
    "a pasted page": LONG,
    "one letter": "b",
    "Japanese": "東大寺の大仏",
    "one Japanese character": "庭",
    "stop words alone": "what is the",
    "nothing that is there": "zygomorphic xylophagous",
    "a negation": "bees -honey",
    "a phrase": '"the colony" honey',
    "a phrase of stop words": '"of the" honey',
    "a negated phrase": 'bees -"the honey"',
    "AND and OR": "bees AND (honey OR sugar)",
    "NEAR": "bees NEAR honey",
    "a star": "glaci* ice",
    "a quantity": "120 mm 3 million",
    "a range of quantities": ">=10 % model",
    "an unfinished word": "what should a beek",
    "in:": "in:docs model width",
    "-in:": "-in:samples model width",
    "type:": "type:md model width",
    "-type:": "-type:txt honey bees",
    "a word with a sign inside": "state-space model",
    "lang:": "lang:de Miete",
    "-lang:": "-lang:de honey",
    "author:": 'author:"Ann Lee" model',
    "-author:": "-author:lee model",
    "date:": "date:2012..2014 model",
    "since:": "since:2011 model",
    "all filters": '-in:samples type:md lang:en author:lee since:2010 -"no such phrase" model width',
    "sort:date": "model width sort:date",
    "-sort:name": "model width -sort:name",
    "a listing": "type:md",
    "a sorted listing": "in:docs sort:name",
    "Chinese": "合同的期限",
    "a Japanese phrase": '"東大寺" 大仏',
    "a compound": "Nachmieterfrist",
    "a phrase alone": '"the colony"',
    "a number and an identifier": "1.234,56 € ISO 9001",
    "until:": "until:2014 model",
    "title:": "title:scores model",
    "marked:": "marked:yes model",
    "folder:": "folder:manual model width",
    "filters in three languages": 'lang:de -in:docs since:2010 until:2030 Miete "drei Monate" -Garten OR 庭師',
    "an operator for each word": '(bees OR ice) AND (honey NEAR/5 sugar OR "the colony") NOT (violin OR "no such")',
}


PHRASES = {"a spelling without its apostrophe", "a pasted paragraph", "a pasted page", "a phrase", "a negated phrase",
           "a phrase of stop words", "NEAR", "all filters", "a word with a sign inside"}  # fmt: skip
"""The classes of which phrases are looked up."""
FOUND = {"a pasted paragraph": 14, "a pasted page": 14, "a number and an identifier": 4,
         "filters in three languages": 4, "an operator for each word": 4,
         "a mistyped word": 6, "nothing that is there": 36}  # fmt: skip
"""How many phrases are found in a folder, each once though it must be held and ranks too; elsewhere two forms.

A word that is near none is looked for as two words beside each other, at each place where it may be cut.
"""
MISTYPED = {"a mistyped word", "nothing that is there"}
TESTED = {
    "author:",
    "-author:",
    "date:",
    "since:",
    "lang:",
    "-lang:",
    "all filters",
    "a listing",
    "a sorted listing",
    "title:",
    "marked:",
}
"""The classes that look at every document of the index once."""


def source(text: str, _: str | None, **__: str) -> QueryVector:
    return QueryVector(vector_of(text), MODEL)


def ask(name: str, roots: list[Path], mode: SearchMode) -> SearchResults:
    scope = Scope.of(roots[0]) if len(roots) == 1 else Scope([Folder(root.name, str(root)) for root in roots])
    text, is_typing = CLASSES[name], name == "an unfinished word"
    return search(scope, Question(text, mode, prefix_last=is_typing, literal=name not in MISTYPED), source)


@pytest.mark.parametrize("n_folders", [1, 3])
@pytest.mark.parametrize("mode", [SearchMode.WORDS, SearchMode.HYBRID])
@pytest.mark.parametrize("name", CLASSES)
def test_a_query_stays_on_the_fast_path_and_reads_little(
    roots: list[Path], costs: Costs, name: str, mode: SearchMode, n_folders: int
) -> None:
    asked_of = roots if n_folders == 3 else roots[1:2]
    first = ask(name, asked_of, mode)
    counts = costs.counts
    assert not costs.slow, "a slow twin answered"
    assert counts["transactions"] == (1 if name == "folder:" else n_folders)
    n_statements, n_rows = 44, 140
    if name in MISTYPED:
        n_statements, n_rows = 500, 1200  # the words of some passages are compared, once for each word
    elif "pasted" in name:
        n_statements, n_rows = 800, 1700
    elif name in PHRASES or "*" in CLASSES[name]:
        n_statements, n_rows = 110, 250
    assert counts["statements"] <= n_statements * n_folders, counts
    assert counts["rows"] <= n_rows * n_folders, counts
    # FTS5 reads the two rows of its settings whenever it opens a table of words, which spelling and stars do once more
    assert counts["rows_scanned"] <= (32 if name in TESTED else 15), counts
    assert counts["passages_chosen_for"] <= 20, counts
    assert counts["tokenizer_calls"] <= counts["passages_chosen_for"] + 8, counts
    assert counts["postings"] <= 800 * (10 if "pasted" in name else 1), counts
    assert counts["lookups"] <= (180 if "pasted" in name else 24) * n_folders, counts
    n_positions = 0 if name == "a phrase of stop words" else 160 if "pasted" in name else 60
    assert counts["positions"] <= n_positions, counts  # those of stop words are read in one piece
    assert counts["phrases"] <= FOUND.get(name, 2) * n_folders, counts
    costs.counts.clear()
    again = ask(name, asked_of, mode)
    assert [hit.path for hit in again.hits] == [hit.path for hit in first.hits]
    assert costs.counts["passages_cut"] == 0
    assert costs.counts["tokenizer_calls"] <= 1
    assert costs.counts["statements"] <= n_statements * n_folders


def test_what_answers_without_segments_is_told(roots: list[Path], costs: Costs) -> None:
    (words,) = index_path(roots[0]).parent.glob(f"{index_path(roots[0]).name}-words-*")
    aside = words.rename(words.with_suffix(".aside"))
    files.mapped.cache_clear()
    try:
        scope = Scope.of(roots[0])
        found = search(scope, Question("honey", SearchMode.WORDS, explain=True), source)
        assert "n_matching_by_document" in costs.slow
        assert SLOWLY in found.note
        assert SLOWLY not in search(scope, Question("honey", SearchMode.WORDS), source).note
    finally:
        aside.rename(words)
        files.mapped.cache_clear()
    assert SLOWLY not in search(Scope.of(roots[0]), Question("honey", SearchMode.WORDS, explain=True), source).note
