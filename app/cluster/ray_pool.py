"""A pool of Ray actors, each with one `Worker`. A lost actor is replaced by a new one, wherever there is room.

Ray's own restarts are not used: the driver must know when a worker has lost its packets. An actor without room waits in
Ray's queue, and counts when it has started.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from longsearch.app.cluster.pool import CALLS_PER_WORKER, Outcome, WorkerLostError
from longsearch.app.cluster.work import UnknownPacketError, WorkerJob
from longsearch.app.cluster.worker import Worker
from longsearch.engine.errors import LongsearchError

_WAKE_S = 1.0
"""`ray.wait` returns so often, so that Ctrl-C is heard."""
_MAX_FAILED_STARTS = 5
"""Workers that are lost before they have started, one after the other."""


@dataclass(slots=True)
class _Actor:
    handle: Any
    machine: str = ""
    pid: int = 0
    """0 until it has started."""
    n_calls: int = 0


@dataclass(frozen=True, slots=True)
class _Call:
    worker: int
    ticket: object


_START = object()
_FORGOTTEN = object()


class RayPool:
    """An `app.cluster.pool.Pool`. Ray must be connected."""

    def __init__(self, job: WorkerJob, n_workers: int, cores: float, gpus: float) -> None:
        """`cores`, `gpus`: what each worker reserves."""
        # an actor has one thread: the two calls that it may have waiting run one after the other
        self._start_actor: Callable[[], Any] = lambda: actor_class.remote(job)
        actor_class = ray.remote(Worker).options(num_cpus=cores, num_gpus=gpus)
        self._n_workers = n_workers
        self._n_failed_starts = 0
        self._actors: dict[int, _Actor] = {}
        self._calls: dict[Any, _Call] = {}
        self._refused: deque[Outcome] = deque()
        """Calls of workers whose loss is known already: another call of theirs told of it first."""
        self._next = 0
        self.n_lost: Counter[str] = Counter()
        """How many workers were lost, by the name of their machine."""
        for _ in range(n_workers):
            self._add()

    @property
    def n_wanted(self) -> int:
        """See `Pool`."""
        return self._n_workers

    def wait_for(self, n_workers: int) -> None:
        """Wait until so many workers have started. Raises LongsearchError if they cannot."""
        while sum(actor.pid > 0 for actor in self._actors.values()) < n_workers:
            self.outcome()

    def pid(self, worker: int) -> int:
        """Return the process id of a worker, on its machine."""
        return self._actors[worker].pid

    def free(self) -> int | None:
        """See `Pool`."""
        started = [number for number, actor in self._actors.items() if actor.pid]
        number = min(started, key=self.n_calls, default=None)
        return None if number is None or self.n_calls(number) >= CALLS_PER_WORKER else number

    def n_calls(self, worker: int) -> int:
        """See `Pool`."""
        actor = self._actors.get(worker)
        return CALLS_PER_WORKER if actor is None else actor.n_calls

    def call(self, worker: int, ticket: object, method: str, *arguments: object) -> None:
        """See `Pool`."""
        if worker not in self._actors:
            self._refused.append(Outcome(ticket, worker, WorkerLostError()))
            return
        actor = self._actors[worker]
        actor.n_calls += 1
        self._calls[getattr(actor.handle, method).remote(*arguments)] = _Call(worker, ticket)

    def outcome(self) -> Outcome | None:
        """See `Pool`."""
        while not self._refused:
            done, _ = ray.wait(list(self._calls), num_returns=1, timeout=_WAKE_S)
            for reference in done:
                call = self._calls.pop(reference)
                result = self._result(reference, call)
                if call.ticket is _START:
                    return None
                if call.ticket is not _FORGOTTEN:
                    return Outcome(call.ticket, call.worker, result)
        return self._refused.popleft()

    def forget_calls(self) -> None:
        """See `Pool`."""
        self._refused.clear()
        self._calls = {
            reference: call if call.ticket is _START else _Call(call.worker, _FORGOTTEN)
            for reference, call in self._calls.items()
        }

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        for actor in self._actors.values():
            ray.kill(actor.handle)
        self._actors, self._calls = {}, {}

    def _add(self) -> None:
        number, self._next = self._next, self._next + 1
        actor = self._actors[number] = _Actor(self._start_actor())
        self._calls[actor.handle.start.remote()] = _Call(number, _START)

    def _result(self, reference: Any, call: _Call) -> object:
        """Return what a call has returned. Raises LongsearchError if the worker has raised one."""
        actor = self._actors.get(call.worker)
        try:
            result = ray.get(reference)
        except RayTaskError as error:
            if isinstance(error.cause, UnknownPacketError):
                result = error.cause
            elif isinstance(error.cause, LongsearchError):
                raise error.cause from None
            else:
                raise
        except RayError as error:  # the actor, its node, or the result with its node is lost
            return self._lost(call, error)
        if actor is not None and call.ticket is _START:
            actor.machine, actor.pid = result
            self._n_failed_starts = 0
        elif actor is not None:
            actor.n_calls -= 1
        return result

    def _lost(self, call: _Call, error: RayError) -> WorkerLostError:
        """Put another worker in the place of a lost one."""
        actor = self._actors.pop(call.worker, None)
        if actor is not None:  # None: an earlier call has told of the same loss
            ray.kill(actor.handle)
            if not actor.pid:
                self._n_failed_starts += 1
                if self._n_failed_starts >= _MAX_FAILED_STARTS:
                    hint = "longsearch must be installed on every machine, with the same Python and Ray"
                    raise LongsearchError(f"workers cannot be started: {first_line(error)}", hint)
            else:
                self.n_lost[actor.machine] += 1
            self._add()
        return WorkerLostError()


def first_line(error: BaseException) -> str:
    """Return the first line of an error of Ray, which may go on for pages."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
