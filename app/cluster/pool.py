"""What the driver asks of a pool of workers, whatever runs them. Knows no Ray."""

from dataclasses import dataclass
from typing import Any, Protocol

from longsearch.engine.errors import LongsearchError

CALLS_PER_WORKER = 2
"""A worker finds its next call waiting when it has finished one."""


class WorkerLostError(Exception):
    """The worker of a call ended, or the machine on which it ran. The call may be made again, of another worker."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended."""

    ticket: object
    """What the caller gave for it."""
    worker: int
    result: Any
    """What the worker returned, a WorkerLostError, or an UnknownPacketError."""


class Pool(Protocol):
    """Workers, some of which may be starting. Every method may raise LongsearchError, if no worker can be started."""

    @property
    def n_wanted(self) -> int:
        """The workers that there are if all of them run."""

    def free(self) -> int | None:
        """Return the worker with the fewest calls, if it has fewer than `CALLS_PER_WORKER`."""

    def n_calls(self, worker: int) -> int:
        """Return the calls that a worker has not answered."""

    def call(self, worker: int, ticket: object, method: str, *arguments: object) -> None:
        """Make a call of a method of `app.cluster.worker.Worker`."""

    def outcome(self) -> Outcome | None:
        """Wait until a call has ended (its Outcome) or a worker has started (None)."""

    def forget_calls(self) -> None:
        """Ignore the outcomes of the calls under way: nobody waits for them any more."""


MAX_LOSSES = 4
"""Workers that a file or a document may lose before it is given up. Machines are lost too, so one is not enough."""


def too_many_losses(what: str) -> LongsearchError:
    """The error for a document whose workers are lost again and again, without any progress."""
    hint = "each may need more memory than its machine has: give a worker more cores with --worker-cores"
    return LongsearchError(f"{MAX_LOSSES} workers were lost one after the other while they read {what}", hint)
