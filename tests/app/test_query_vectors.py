"""Where the vector of a query comes from: a busy daemon does not hold a search up."""

from typing import Any

import pytest

from longsearch.app import rpc
from longsearch.app.models import query_vectors
from longsearch.app.models.query_vectors import ENCODE_TIMEOUT_S, PATIENCE_S, QueryVector, from_anywhere, without_torch
from tests.app.made_folders import toward


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
    return found


def test_a_command_makes_the_vector_itself_after_two_seconds(waited: list[float]) -> None:
    made = from_anywhere("the moon", None)
    assert waited == [PATIENCE_S]
    assert made.fingerprint != "by the daemon"


def test_the_app_makes_the_vector_itself_where_that_needs_no_torch(waited: list[float]) -> None:
    query_vectors._light.cache_clear()
    first, second = without_torch("the moon", None), without_torch("the sea", None)
    assert waited == [PATIENCE_S] * 2
    assert first.fingerprint == second.fingerprint != "by the daemon"
    assert query_vectors._light.cache_info().misses == 1


def test_the_app_waits_for_a_model_that_needs_torch(waited: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "_light", lambda model: None)
    assert without_torch("the moon", None).fingerprint == "by the daemon"
    assert waited == [PATIENCE_S, ENCODE_TIMEOUT_S]


def test_an_app_that_closes_makes_no_vector(waited: list[float]) -> None:
    with pytest.raises(rpc.DaemonUnreachableError):
        without_torch("the moon", None, cancelled=lambda: True)
