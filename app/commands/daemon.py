"""`longsearch daemon`: the process behind the app."""

import json
import logging
import os
import signal
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from app import daemon_control, rpc
from app import service as services
from app.encoders import chosen_model
from app.paths import socket_path
from engine.printable import printable
from indexer.politeness import be_polite


def run(options: Namespace) -> int:
    """0; 1 where there is nothing to tell of; LongsearchError where it cannot be done."""
    match options.action:
        case "run":
            return _run_here(options.stay)
        case "start":
            status = daemon_control.ensure_daemon(options.stay)
            if options.stay and not status.get("stays"):
                daemon_control.stop_daemon()
                status = daemon_control.ensure_daemon(stay=True)
            print(f"the daemon is running, pid {status['pid']}")
        case "stop":
            print("stopped" if daemon_control.stop_daemon() else "no daemon was running")
        case "status":
            return _print_status(options.json)
        case "pause" | "resume":
            rpc.call(socket_path(), options.action, timeout_s=5)
            print("indexing is paused" if options.action == "pause" else "indexing goes on")
        case "install":
            return _install(options.print)
        case "uninstall":
            removed = services.uninstall(services.service(sys.platform, os.environ, Path.home()))
            print("the daemon is no longer started at login" if removed else "no daemon was installed")
    return 0


class _Printable(logging.Formatter):
    """Names of files are hostile to the terminal that a log is read in."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keep="\n")


def _run_here(stay: bool) -> int:
    from app.daemon import Daemon

    handler = logging.StreamHandler()
    handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    be_polite()
    if stay:
        daemon_control.stop_daemon()  # one that the app has started makes room
    daemon = Daemon(stay)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: daemon.stop())
    daemon.run()
    return 0


def _install(only_print: bool) -> int:
    wanted = services.service(sys.platform, os.environ, Path.home())
    if only_print:
        sys.stdout.write(printable(wanted.content.decode(errors="surrogateescape"), keep="\n\t"))
        return 0
    services.install(wanted)
    print(f"the daemon is started now and at every login, with the model {printable(chosen_model())}: {wanted.path}")
    return 0


def _print_status(as_json: bool) -> int:
    status = daemon_control.daemon_status()
    if as_json:
        print(json.dumps({"running": status is not None, **(status or {})}, indent=2))
    elif status is None:
        print("no daemon is running")
    else:
        print(*_lines(status), sep="\n")
    return 0 if status else 1


def _lines(status: dict[str, Any]) -> list[str]:
    """What a daemon says of itself, for a person; one of an older longsearch says less."""
    extras = [word for word in ("paused",) if status["paused"]]
    extras += ["stays"] if status.get("stays") else []
    lines = [", ".join([f"running, pid {status['pid']}, version {status['version']}", *extras])]
    loaded = "loaded" if status["model"]["loaded"] else "not loaded"
    memory = f"; {status['memory_bytes'] / 1e6:.0f} MB in memory" if status.get("memory_bytes") else ""
    lines.append(f"model {printable(status['model'].get('name', 'bundled'))}: {loaded}{memory}")
    for root in status["roots"]:
        busy = ", at work" if root["busy"] else ""
        problem = f": {printable(root['problem'])}" if root["problem"] else ""
        lines.append(f"  {printable(root['root'])}{busy}{problem}")
    return lines
