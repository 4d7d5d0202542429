"""`longsearch daemon`: control the background process that watches, indexes and encodes queries."""

import json
import os
import signal
import sys
from argparse import Namespace
from typing import Any

from longsearch.app.options import JSON, Actions, flag
from longsearch.engine.printable import printable

HELP = "control the background process that watches and indexes folders"

_STAY = flag("--stay", "watch every indexed folder, and keep running when there is nothing to do")
OPTIONS = (
    Actions(
        {
            "start": ("start the daemon in the background, unless one runs", _STAY),
            "stop": ("stop the daemon after its current step",),
            "status": ("say which folders the daemon watches, and whether the model is in memory", JSON),
            "pause": ("pause indexing; queries are still answered",),
            "resume": ("resume indexing",),
            "install": (
                "let the system start the daemon now and at every login (systemd, launchd or Task Scheduler)",
                flag("--print", "print the service file and change nothing"),
            ),
            "uninstall": ("stop the daemon, and no longer start it at login",),
            "run": ("run the daemon in the foreground", _STAY),
        },
        required=True,
    ),
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0, or 1 if `status` finds no daemon. Raises LongsearchError if it fails."""
    match options.action:
        case "run":
            _run_here(options.stay)
        case "start":
            _start(options.stay)
        case "stop":
            from longsearch.app.daemon.daemon_control import stop_daemon

            print("stopped" if stop_daemon() else "no daemon was running")
        case "status":
            return _print_status(options.json)
        case "pause" | "resume":
            _pause_or_resume(options.action)
        case "install":
            _install(options.print)
        case "uninstall":
            _uninstall()
    return 0


def _start(stay: bool) -> None:
    from longsearch.app.daemon.daemon_control import ensure_daemon, stop_daemon

    status = ensure_daemon(stay)
    if stay and not status.get("stays"):  # the app has started it
        stop_daemon()
        status = ensure_daemon(stay=True)
    print(f"the daemon is running, pid {status['pid']}")


def _pause_or_resume(action: str) -> None:
    from longsearch.app import rpc
    from longsearch.app.paths import socket_path

    rpc.call(socket_path(), action, timeout_s=5)
    print("indexing is paused" if action == "pause" else "indexing goes on")


def _run_here(stay: bool) -> None:
    from longsearch.app.daemon.daemon import Daemon, end_process
    from longsearch.app.daemon.daemon_control import stop_daemon
    from longsearch.indexer.process_priority import lower_priority

    _log_to_stderr()
    lower_priority()
    if stay:
        stop_daemon()  # replace a daemon that the app has started
    daemon = Daemon(stay, end=end_process)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: daemon.stop())
    daemon.run()


def _log_to_stderr() -> None:
    """Log without control characters: those of a file name could drive the terminal in which the log is read."""
    import logging

    class Printable(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return printable(super().format(record), keep="\n")

    handler = logging.StreamHandler()
    handler.setFormatter(Printable("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _install(only_print: bool) -> None:
    from longsearch.app.daemon import service as services
    from longsearch.app.models.encoders import chosen_model
    from longsearch.app.paths import home

    wanted = services.service(sys.platform, os.environ, home())
    if only_print:
        sys.stdout.write(printable(wanted.content.decode(errors="surrogateescape"), keep="\n\t"))
        return
    services.install(wanted)
    print(f"the daemon is started now and at every login, with the model {printable(chosen_model())}: {wanted.path}")


def _uninstall() -> None:
    from longsearch.app.daemon import service as services
    from longsearch.app.paths import home

    removed = services.uninstall(services.service(sys.platform, os.environ, home()))
    print("the daemon is no longer started at login" if removed else "no daemon was installed")


def _print_status(as_json: bool) -> int:
    from longsearch.app.daemon.daemon_control import daemon_status

    status = daemon_status()
    if as_json:
        print(json.dumps({"running": status is not None, **(status or {})}, indent=2))
    elif status is None:
        print("no daemon is running")
    else:
        print(*_lines(status), sep="\n")
    return 0 if status else 1


def _lines(status: dict[str, Any]) -> list[str]:
    """Return a daemon's status as lines of text. The daemon of an older longsearch leaves some keys out."""
    extras = [word for word in ("paused",) if status["paused"]]
    extras += ["stays"] if status.get("stays") else []
    lines = [", ".join([f"running, pid {status['pid']}, version {status['version']}", *extras])]
    in_memory = status["model"].get("in_memory") or status["model"].get("name", "bundled")
    loaded = "loaded" if status["model"]["loaded"] else "not loaded"
    memory = f"; {status['memory_bytes'] / 1e6:.0f} MB in memory" if status.get("memory_bytes") else ""
    lines.append(f"model {printable(in_memory)}: {loaded}{memory}")
    for root in status["roots"]:
        busy = ", at work" if root["busy"] else ""
        problem = f": {printable(root['problem'])}" if root["problem"] else ""
        lines.append(f"  {printable(root['root'])}{busy}{problem}")
    return lines
