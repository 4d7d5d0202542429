"""A search takes few hops: how many modules and functions of longsearch it enters, and how often it reads the same."""

import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import longsearch.engine
from longsearch.app.backend import AppBackend
from longsearch.app.cli import main
from longsearch.app.models import query_vectors
from longsearch.app.models.folder_models import own_model
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import choice_path, data_folder, index_path
from longsearch.engine.index import opening
from longsearch.engine.store.segments import upkeep
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import MODEL, make_folder, toward

_ROOMS = tuple(
    str(Path(longsearch.engine.__file__).resolve().parents[1] / room) + os.sep for room in ("app", "engine", "tui")
)
QUERY = "apples of the king"


def entered(run: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How often `run` enters each function of longsearch, as (file, name), once all is imported.

    Comprehensions do not count: from Python 3.12 on they are no functions.
    """
    run()
    found: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<"):
            found[os.path.realpath(code.co_filename), code.co_qualname] += 1

    gc.disable()  # else it may end a generator that a test before left behind, which counts as entering it
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        gc.enable()
    return Counter({key: n for key, n in found.items() if key[0].startswith(_ROOMS)})


@pytest.fixture(params=[False, True], ids=["FTS5", "segments"])
def root(home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of 40 documents, with segments and without."""
    if request.param:
        monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    texts = {f"{n}.md": f"apples of tree {n} in the garden of the {('king', 'queen')[n % 2]}" for n in range(40)}
    made = make_folder(home / "papers", texts, [toward(*np.random.default_rng(n).normal(size=4)) for n in range(40)])
    with Store.open(index_path(made)) as store:
        store.tidy()
    monkeypatch.setattr(query_vectors, "from_anywhere", lambda *_, **__: QueryVector(toward(1), MODEL))
    return made


def by_app(root: Path) -> Callable[[], object]:
    backend = AppBackend(root)
    backend._vector = lambda *_, **__: QueryVector(toward(1), MODEL)  # type: ignore[assignment]
    return lambda: backend.search(QUERY, SearchMode.HYBRID)


def by_command(root: Path) -> Callable[[], object]:
    return lambda: main(["search", QUERY, str(root)])


@pytest.mark.parametrize(("door", "n_modules", "n_functions"), [(by_app, 52, 174), (by_command, 59, 200)])
def test_a_hybrid_search_enters_few_modules_and_functions(
    root: Path, door: Callable[[Path], Callable[[], object]], n_modules: int, n_functions: int
) -> None:
    found = entered(door(root))
    assert ("engine/search/searcher.py", "search") in {
        (os.path.relpath(file, _ROOMS[1] + ".."), name) for file, name in found
    }
    assert len({file for file, _ in found}) <= n_modules
    assert len(found) <= n_functions


def test_a_search_reads_each_fact_of_an_index_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transactions: list[str] = []
    begin = opening.transaction

    @contextmanager
    def counted(db: Any, kind: str) -> Any:
        transactions.append(kind)
        with begin(db, kind):
            yield

    run = by_command(root)
    monkeypatch.setattr(opening, "transaction", counted)
    found = entered(run)
    times = {name: n for (file, name), n in found.items() if file.endswith(("manifest.py", "store/vectors.py"))}
    assert transactions == ["DEFERRED"] * 2  # one for each of the two runs
    assert times.get("read", 0) <= 2  # the manifest of words, and that of vectors
    assert times["model_of"] == 1
    once = (
        "Index.spoken",
        "Index.n_documents",
        "Index.n_waiting",
        "Index.fields",
        "Index.background",
        "parse",
        "lookup",
    )
    assert {name: n for (_, name), n in found.items() if name in once} == dict.fromkeys(once, 1)


def test_a_search_makes_the_data_folder_at_most_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    mkdir = Path.mkdir
    folder = data_folder()

    def counted(path: Path, *arguments: Any, **options: Any) -> None:
        made.append(path)
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", counted)
    main(["search", QUERY, str(root)])
    assert made.count(folder) <= 1


def test_a_search_reads_once_which_model_a_folder_has(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = {"model": "bundled", "index": index_path(root).name, "follows": True}
    choice_path(root).write_text(json.dumps(noted), "utf-8")
    read: list[str] = []
    read_text = Path.read_text

    def counted(path: Path, *arguments: Any, **options: Any) -> str:
        read.append(path.suffix)
        return read_text(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", counted)
    run = by_command(root)
    run()
    assert read.count(".model") == 1
    noted["model"] = "a model that is not here"
    choice_path(root).write_text(json.dumps(noted), "utf-8")
    assert own_model(root) == noted["model"]  # it is read again once it has changed
    assert read.count(".model") == 2
