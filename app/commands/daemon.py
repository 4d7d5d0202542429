"""`longsearch daemon`: the process behind the app."""

import logging
from argparse import Namespace

from app import daemon_control, rpc
from app.paths import socket_path
from engine.printable import printable
from indexer.politeness import be_polite


def run(options: Namespace) -> int:
    """0; LongsearchError where it cannot be done."""
    match options.action:
        case "run":
            return _run_here()
        case "start":
            status = daemon_control.ensure_daemon()
            print(f"the daemon is running, pid {status['pid']}")
        case "stop":
            print("stopped" if daemon_control.stop_daemon() else "no daemon was running")
        case "status":
            return _print_status()
        case "pause" | "resume":
            rpc.call(socket_path(), options.action, timeout_s=5)
            print("indexing is paused" if options.action == "pause" else "indexing goes on")
    return 0


def _run_here() -> int:
    from app.daemon import Daemon

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    be_polite()
    Daemon().run()
    return 0


def _print_status() -> int:
    status = daemon_control.daemon_status()
    if status is None:
        print("no daemon is running")
        return 1
    paused = ", paused" if status["paused"] else ""
    print(f"running, pid {status['pid']}, version {status['version']}{paused}")
    for root in status["roots"]:
        print(f"  {printable(root['root'])}" + (f": {printable(root['problem'])}" if root["problem"] else ""))
    return 0
