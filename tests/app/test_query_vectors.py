"""Where the vector of a query comes from: a busy daemon does not hold a search up."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longsearch.app import rpc
from longsearch.app.models import query_vectors
from longsearch.app.models.query_vectors import (
    ENCODE_TIMEOUT_S,
    HURRY_S,
    PATIENCE_S,
    QueryVector,
    from_anywhere,
    without_torch,
)
from longsearch.app.paths import socket_path
from longsearch.app.search import query_vectors as of_each_index
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.engine.errors import ModelError
from longsearch.engine.platforms import local_sockets
from longsearch.engine.types.results import SearchMode
from tests.app.app_helpers import Clock
from tests.app.made_folders import MODEL, make_folder, toward


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each call was ready to wait for a daemon that answers after a minute only."""
    found: list[float] = []

    def call(_path: object, _method: str, timeout_s: float, *_: Any, **__: Any) -> dict[str, Any]:
        found.append(timeout_s)
        if timeout_s < ENCODE_TIMEOUT_S:
            raise rpc.DaemonUnreachableError("the daemon did not answer")
        return QueryVector(toward(1), "by the daemon").to_json()

    monkeypatch.setattr(rpc, "call", call)
    monkeypatch.setattr(query_vectors, "_made_here", set())
    return found


def test_a_command_makes_the_vector_itself_after_two_seconds(waited: list[float]) -> None:
    made = from_anywhere("the moon", None)
    assert waited == [PATIENCE_S]
    assert made.fingerprint != "by the daemon"


def test_the_app_makes_the_vector_itself_where_that_needs_no_torch_and_then_waits_no_longer_for_a_busy_daemon(
    waited: list[float],
) -> None:
    query_vectors._light.cache_clear()
    first, second = without_torch("the moon", None), without_torch("the sea", None)
    assert waited == [PATIENCE_S, HURRY_S]
    assert first.fingerprint == second.fingerprint != "by the daemon"
    assert query_vectors._light.cache_info().misses == 1


def test_the_app_waits_for_a_model_that_needs_torch(waited: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "_light", lambda model: None)
    assert without_torch("the moon", None).fingerprint == "by the daemon"
    assert waited == [PATIENCE_S, ENCODE_TIMEOUT_S]


def test_an_app_that_closes_makes_no_vector(waited: list[float]) -> None:
    with pytest.raises(rpc.DaemonUnreachableError):
        without_torch("the moon", None, cancelled=lambda: True)


class SilentDaemon:
    """A connection over which no answer comes. The clock goes on while somebody waits for one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __enter__(self) -> "SilentDaemon":
        return self

    def __exit__(self, *_: object) -> None: ...

    def send_bytes(self, _: bytes) -> None: ...

    def poll(self, timeout_s: float) -> bool:
        self._clock.now += timeout_s
        return False


@pytest.fixture
def waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which searches wait for a daemon that accepts them and answers nothing; it begins at 0."""
    clock = Clock()
    socket_path().touch()
    monkeypatch.setattr(local_sockets, "connect", lambda *_: SilentDaemon(clock))
    monkeypatch.setattr(rpc, "time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(query_vectors, "_made_here", set())
    return clock


def own_model(*_: object) -> Any:
    """A model of this process that reads queries."""
    return SimpleNamespace(fingerprint=MODEL, encode_query=lambda *_: toward(1))


@pytest.mark.parametrize("source", [partial(from_anywhere, open_model=own_model), without_torch])
def test_no_search_waits_longer_than_two_seconds_for_a_daemon_that_does_not_answer(
    home: Path, waiting: Clock, source: Callable[..., QueryVector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_vectors, "_light", own_model)
    scope = Scope.of(make_folder(home / "new", {"a.md": "apples"}, [toward(1)]))
    found = search(scope, Question("apples", SearchMode.WORDS), source)
    assert found.hits and waiting.now == 0
    found = search(scope, Question("apples", SearchMode.HYBRID), source)
    assert (len(found.hits), found.mode, found.note) == (1, SearchMode.HYBRID, "")
    assert PATIENCE_S <= waiting.now <= PATIENCE_S + 2 * rpc._POLL_S


def test_without_a_model_of_its_own_such_a_search_answers_by_words_and_says_so(home: Path, waiting: Clock) -> None:
    def none_here() -> Any:
        raise ModelError("no model is here")

    source = partial(from_anywhere, open_model=none_here)
    scope = Scope.of(make_folder(home / "new", {"a.md": "apples"}, [toward(1)]))
    found = search(scope, Question("apples", SearchMode.HYBRID), source)
    assert (len(found.hits), found.mode, found.note) == (1, SearchMode.WORDS, "words only: no model is here")
    assert PATIENCE_S <= waiting.now <= PATIENCE_S + 2 * rpc._POLL_S


def test_a_search_over_folders_with_models_of_their_own_waits_once_for_all_of_them(
    home: Path, waiting: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        make_folder(home / name, {"a.md": f"apples of {name}"}, [toward(1)])
    monkeypatch.setattr(of_each_index, "own_model", lambda root: f"model of {root.name}")
    monkeypatch.setattr(of_each_index, "time", SimpleNamespace(monotonic=waiting))
    asked: list[object] = []
    source = partial(from_anywhere, open_model=lambda name: asked.append(name) or own_model())
    found = search(Scope.chosen("", everywhere=True), Question("apples", SearchMode.HYBRID), source)
    assert (len(found.hits), found.mode, len(asked)) == (3, SearchMode.HYBRID, 3)
    assert PATIENCE_S <= waiting.now <= PATIENCE_S + 2 * rpc._POLL_S
