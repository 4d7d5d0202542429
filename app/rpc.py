"""Calls between longsearch's processes: one JSON object each way over a local socket, never over the network.

Knows no methods: the daemon passes in the function that answers. `local_sockets` lets only the user in.
"""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.engine.errors import LongsearchError
from longsearch.engine.platforms import local_sockets

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Handler = Callable[[str, dict[str, Any]], Any]
_MAX_MESSAGE_BYTES = 1 << 20
_POLL_S = 0.1
IDLE_S = 10.0
"""Seconds that a caller has to say what it wants, and to take a part of the answer. Each connection holds a thread."""


class DaemonUnreachableError(LongsearchError):
    """No daemon answers."""


def call(
    path: Path, method: str, timeout_s: float, cancelled: Callable[[], bool] = lambda: False, **params: Any
) -> Any:
    """Call a method of the daemon at `path` and return its answer. Raises DaemonUnreachableError or the daemon's error.

    `cancelled` is called ten times a second; once it returns True, the call ends with DaemonUnreachableError.
    """
    hint = "start one: longsearch daemon start"
    there = local_sockets.door(path)
    if not there.file.exists():
        raise DaemonUnreachableError("no daemon is running", hint)
    from multiprocessing import AuthenticationError  # takes 20 ms

    deadline, late = time.monotonic() + timeout_s, f"the daemon did not answer within {timeout_s:g} s"
    try:
        with local_sockets.connect(there, timeout_s) as connection:
            connection.send_bytes(json.dumps({"method": method, "params": params}).encode())
            while not connection.poll(max(0.0, min(_POLL_S, deadline - time.monotonic()))):
                if cancelled() or time.monotonic() >= deadline:
                    raise DaemonUnreachableError(late)
            answer = json.loads(connection.recv_bytes())
    except BlockingIOError as error:
        raise DaemonUnreachableError(late) from error
    except (OSError, EOFError, AuthenticationError, json.JSONDecodeError) as error:
        raise DaemonUnreachableError("no daemon is running", hint) from error
    if "error" in answer:
        raise LongsearchError(answer["error"], answer.get("hint", ""))
    return answer["result"]


def serve(path: Path, handle: Handler, stopping: threading.Event) -> None:
    """Answer each call in a thread of its own, until `stopping` is set and one more call has come.

    If the handler raises, the caller gets the error: a LongsearchError as it is, any other exception as a defect.
    """
    from multiprocessing import AuthenticationError

    with local_sockets.listening(local_sockets.door(path)) as listener:
        while not stopping.is_set():
            try:
                connection = listener.accept()
            except (OSError, EOFError, AuthenticationError):  # the caller closed the connection, or is a stranger
                continue
            threading.Thread(target=_answer, args=(connection, handle), daemon=True).start()


def _answer(connection: "Connection", handle: Handler) -> None:
    with connection:
        try:
            local_sockets.limit(connection.fileno(), IDLE_S)
            if not connection.poll(IDLE_S):
                return
            request = json.loads(connection.recv_bytes(_MAX_MESSAGE_BYTES))
            answer = {"result": handle(request["method"], request["params"])}
        except LongsearchError as error:
            answer = {"error": error.message, "hint": error.hint}
        except (EOFError, OSError):
            return
        except Exception as error:
            answer = {"error": f"defect in the daemon: {error!r}", "hint": "see `longsearch doctor` for its log"}
        try:
            connection.send_bytes(json.dumps(answer).encode())
        except OSError:
            return  # the caller no longer waits
