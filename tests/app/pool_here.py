"""A pool whose worker runs in this process, in place of Ray's."""

import pickle
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from longsearch.app.cluster import running
from longsearch.app.cluster.connection import Resources
from longsearch.app.cluster.pool import CALLS_PER_WORKER, Outcome
from longsearch.app.cluster.work import WorkerJob
from longsearch.app.cluster.worker import Worker


def _sent(value: Any) -> Any:
    """The value as it arrives on another machine."""
    return pickle.loads(pickle.dumps(value))


class PoolHere:
    """One worker, in this thread."""

    n_wanted = 1

    def __init__(self, job: WorkerJob) -> None:
        self.worker = Worker(_sent(job))
        self._calls: deque[tuple[object, str, tuple[Any, ...]]] = deque()
        self.made: Counter[str] = Counter()
        self.n_lost: Counter[str] = Counter()

    def free(self) -> int | None:
        return 0 if len(self._calls) < CALLS_PER_WORKER else None

    def n_calls(self, worker: int) -> int:
        return len(self._calls)

    def call(self, worker: int, ticket: object, method: str, *arguments: object) -> None:
        self._calls.append((ticket, method, _sent(arguments)))
        self.made[method] += 1

    def outcome(self) -> Outcome | None:
        ticket, method, arguments = self._calls.popleft()
        return Outcome(ticket, 0, getattr(self.worker, method)(*arguments))

    def forget_calls(self) -> None:
        self._calls.clear()


def without_ray(patch: pytest.MonkeyPatch) -> list[PoolHere]:
    """Have `longsearch index --on` use such pools, and return those of the runs so far."""
    made: list[PoolHere] = []

    @contextmanager
    def connected(address: str) -> Iterator[Resources]:
        yield Resources((1.0,), (0.0,))

    @contextmanager
    def pool(job: WorkerJob, *_: object) -> Iterator[PoolHere]:
        made.append(PoolHere(job))
        with closing(made[-1].worker):
            yield made[-1]

    patch.setattr(running, "connected", connected)
    patch.setattr(running, "_pool", pool)
    return made
