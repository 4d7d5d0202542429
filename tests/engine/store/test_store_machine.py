"""After changes in any order, the index agrees with a model made of dictionaries and has no orphans."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from longsearch.engine.store import files
from longsearch.engine.store.documents import title_of
from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import (
    add,
    check_invariants,
    document,
    open_store,
    record,
    unit_vectors,
    vector_of,
    vectors_of_passages,
)

PATHS = ["a.pdf", "b.pdf", "folder/a.pdf", "c\udcff.pdf"]
paths = st.sampled_from(PATHS)
seeds = st.sampled_from(["one", "two", ""])


class StoreMachine(RuleBasedStateMachine):
    """The model: the seed that each path holds (None for a failure), and the number of vectors of each seed."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "index.db"
        self.store: Store = open_store(self.path)
        self.store.use_model("model-0", 8)
        self.n_models = 1
        self.held: dict[str, str | None] = {}
        self.n_done: dict[str, int] = {}

    def document_id(self, seed: str) -> int:
        with self.store.reading() as db:
            return int(db.execute("SELECT id FROM contents WHERE hash = ?", (document(seed)[0],)).get)

    def drop_unheld(self) -> None:
        self.n_done = {seed: n for seed, n in self.n_done.items() if seed in self.held.values()}

    @rule(path=paths, seed=seeds)
    def add(self, path: str, seed: str) -> None:
        add(self.store, path, seed, 3)
        self.held[path] = seed
        self.n_done.setdefault(seed, 0)  # the same bytes with the same text keep their vectors
        self.drop_unheld()

    @rule(path=paths, seed=seeds)
    def link(self, path: str, seed: str) -> None:
        known = seed in self.held.values()
        assert self.store.link(record(path), document(seed, 3)[0]) == known
        if known:
            self.held[path] = seed
            self.drop_unheld()

    @rule(path=paths)
    def fail(self, path: str) -> None:
        self.store.add_failure(record(path), "encrypted")
        self.held[path] = None
        self.drop_unheld()

    @rule(olds=st.lists(paths, unique=True), news=st.permutations(PATHS))
    def move(self, olds: list[str], news: list[str]) -> None:
        moves = dict(zip(olds, news, strict=False))
        known = {new: self.held[old] for old, new in moves.items() if old in self.held}
        assert self.store.move([(old, record(new)) for old, new in moves.items()]) == len(known)
        self.held = {path: seed for path, seed in self.held.items() if path not in moves} | known
        self.drop_unheld()

    @rule(path=paths)
    def touch(self, path: str) -> None:
        with self.store.changing() as db:
            assert files.touch(db, record(path, mtime_ns=7)) == (path in self.held)

    @rule(gone=st.lists(paths, max_size=3))
    def forget(self, gone: list[str]) -> None:
        self.store.forget(gone)
        for path in gone:
            self.held.pop(path, None)
        self.drop_unheld()

    @precondition(lambda self: any(n < 3 for n in self.n_done.values()))
    @rule(data=st.data())
    def embed_a_batch(self, data: st.DataObject) -> None:
        seed = data.draw(st.sampled_from(sorted(seed for seed, n in self.n_done.items() if n < 3)))
        n = data.draw(st.integers(0, 3 - self.n_done[seed]))
        document_id = self.document_id(seed)
        first = self.n_done[seed]
        given = unit_vectors(3)[first : first + n]
        width = 0.5 if seed == "two" else 1.0
        assert self.store.add_vectors(document_id, first, given, 9 * (first + n), b"state", width=width)
        self.n_done[seed] += n

    @precondition(lambda self: 3 in self.n_done.values())
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        seed = data.draw(st.sampled_from(sorted(seed for seed, n in self.n_done.items() if n == 3)))
        assert self.store.finish_embedding(self.document_id(seed), unit_vectors(1)[0], 28)
        self.n_done[seed] = 4

    @precondition(lambda self: self.store.narrow())
    @rule(n=st.integers(0, 3))
    def deepen(self, n: int) -> None:
        (narrow,) = self.store.narrow()
        assert narrow.document_id == self.document_id("two")
        done = narrow.n_passages_done
        given = unit_vectors(3)[done : done + n]
        assert self.store.deepen_vectors(narrow.document_id, done, given, 9 * (done + len(given)), b"state")
        if done + len(given) == 3:
            assert self.store.finish_deepening(narrow.document_id, unit_vectors(1)[0], 28)
            assert self.store.narrow() == []

    @rule()
    def change_the_model(self) -> None:
        assert self.store.use_model(f"model-{self.n_models}", 8)
        self.n_models += 1
        self.n_done = dict.fromkeys(self.n_done, 0)

    @rule()
    def open_again(self) -> None:
        self.store.tidy()
        self.store.close()
        self.store = open_store(self.path)
        assert self.store.notes == ()

    @invariant()
    def agrees(self) -> None:
        check_invariants(self.store)
        assert {path: known.failed for path, known in self.store.catalogue().items()} == {
            path: seed is None for path, seed in self.held.items()
        }
        for seed, n_done in self.n_done.items():
            document_id = self.document_id(seed)
            text = document(seed)[1]
            if not seed:
                text = replace(
                    text, title=title_of(min((path for path in self.held if self.held[path] == ""), key=os.fsencode))
                )
            assert self.store.text(document_id) == text
            assert (vectors_of_passages(self.store, document_id) == unit_vectors(3)[: min(n_done, 3)]).all()
            assert (vector_of(self.store, document_id) is not None) == (n_done == 4)
        waiting = {pending.document_id for pending in self.store.pending()}
        assert waiting == {self.document_id(seed) for seed, n in self.n_done.items() if n < 4}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


StoreMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=30)


class TestStoreMachine(StoreMachine.TestCase):  # type: ignore[misc]
    """Lets pytest find the machine."""
