"""Blocking calls, made in threads by the event loop.

A thread cannot be stopped from outside. Without `LatestOnly`, ten keystrokes during a slow search would
occupy ten threads.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import NoActiveWorker, get_current_worker

from longsearch.tui.text.progress_words import trouble

Parameters = ParamSpec("Parameters")
Request = TypeVar("Request")
Answer = TypeVar("Answer")


async def attempt(
    call: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> tuple[Answer | None, str]:
    """Make a call in a thread. Return its answer and "", or None and any error it raised in one line.

    Raises CancelledError if the widget whose worker asked is being removed: its children may be gone already.
    """
    try:
        answered: tuple[Answer | None, str] = await asyncio.to_thread(call, *args, **kwargs), ""
    except Exception as error:
        answered = None, trouble(error)
    if _asker_is_leaving():
        raise asyncio.CancelledError
    return answered


def _asker_is_leaving() -> bool:
    """Return whether this runs in the worker of a widget that is being removed. Textual cancels it only at the end."""
    try:
        return get_current_worker().node._pruning
    except NoActiveWorker:
        return False


@dataclass
class Said(Message):
    """What was done, or what went wrong, in one line; without either, the progress is shown again."""

    notice: str = ""
    error: str = ""


async def attempt_or_say(
    sender: MessagePump, call: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Answer | None:
    """Make a call in a thread, and let `sender` say what went wrong. Return the answer, or None."""
    answer, error = await attempt(call, *args, **kwargs)
    if error:
        sender.post_message(Said(error=error))
    return answer


class LatestOnly(Generic[Request]):
    """Makes one call at a time. While it runs, only the newest request waits; older ones are dropped."""

    def __init__(self) -> None:
        self.running: Request | None = None
        self._waiting: Request | None = None
        self._has_loop = False
        """Whether somebody iterates over `answers`, or is about to."""

    def offer(self, request: Request, is_anew: bool = True) -> bool:
        """Accept a request. Return True if nobody iterates over `answers`: then the caller must do it now.

        Unless `is_anew`, the request that runs is not made a second time.
        """
        if self.running is None:
            self.running = request
        elif self.running == request and not is_anew:
            self.drop()
        else:
            self._waiting = request
        is_idle, self._has_loop = not self._has_loop, True
        return is_idle

    def drop(self) -> None:
        """Forget the waiting request."""
        self._waiting = None

    async def answers(self, call: Callable[[Request], Answer]) -> AsyncIterator[tuple[Request, Answer | None, str]]:
        """Call `call` with each accepted request, until none waits. Yield the request and what `attempt` returns."""
        while (request := self.running) is not None:
            answer, error = await attempt(call, request)
            self.running, self._waiting = self._waiting, None
            yield request, answer, error
        self._has_loop = False
