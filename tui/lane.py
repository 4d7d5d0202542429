"""A lane for calls that may block: one at a time, and of what is asked meanwhile only the newest is kept.

A thread cannot be stopped from outside: without this, ten key strokes during a slow search would hold ten threads.
Pure bookkeeping; whoever owns a lane starts the threads.
"""

from typing import Generic, TypeVar

Request = TypeVar("Request")


class Lane(Generic[Request]):
    """At most one request under way and one waiting."""

    def __init__(self) -> None:
        self.running: Request | None = None
        self.waiting: Request | None = None

    def offer(self, request: Request) -> Request | None:
        """Take a request in. Returns it where it is to be started now, None where it has to wait."""
        if self.running is not None:
            self.waiting = request
            return None
        self.running = request
        return request

    def finish(self) -> Request | None:
        """The request under way has ended. Returns the one to be started now, if any."""
        self.running, self.waiting = self.waiting, None
        return self.running

    def drop(self) -> None:
        """Forget what waits."""
        self.waiting = None
