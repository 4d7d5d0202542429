"""`longsearch mcp`: let an agent search and read the indexed folders, by the Model Context Protocol."""

import importlib.util
import os
import re
import sys
import threading
from argparse import Namespace
from typing import BinaryIO

from longsearch.app.options import option
from longsearch.engine.errors import LongsearchError, install_hint

HELP = "let an agent search and read your indexed folders (Model Context Protocol, read-only)"
OPTIONS = (
    option("folder", "names or paths of the indexed folders it may read (default: all)", nargs="*", default=[]),
    option("--http", "serve by HTTP on the loopback address, behind a token; 0: a free port", type=int, metavar="PORT"),
)


def run(options: Namespace) -> int:
    """Serve on stdin and stdout until the client closes them, or by HTTP until Ctrl+C; return 0.

    Raises LongsearchError without the SDK.
    """
    if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp.server.mcpserver") is None:
        raise LongsearchError("longsearch mcp needs the package mcp, version 2", install_hint("mcp"))
    from longsearch.app.agents.server import make_server

    server = make_server(options.folder)
    if options.http is not None:
        from longsearch.app.agents.http import serve

        serve(server, options.http)
        return 0
    if sys.stdin.isatty():
        print("longsearch mcp: waiting for an agent's requests on stdin (docs/agents.md); Ctrl+C ends", file=sys.stderr)
    _repair_stdin()
    server.run("stdio")
    return 0


_ESCAPE = re.compile(rb"\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)")
"""An escape in JSON: a surrogate pair, half of one, or any other."""


def _repair_stdin() -> None:
    """Put U+FFFD in place of each half of a surrogate pair that comes in, so that its request has an answer.

    The SDK drops a line with one, and the client would wait for ever.
    """
    source = os.fdopen(os.dup(0), "rb")
    read_end, write_end = os.pipe()
    os.dup2(read_end, 0)
    os.close(read_end)
    threading.Thread(target=_pass_on, args=(source, os.fdopen(write_end, "wb", 0)), daemon=True).start()


def _pass_on(source: BinaryIO, target: BinaryIO) -> None:
    with source, target:
        try:
            for line in source:
                target.write(repaired(line))
        except OSError:  # the server has ended
            pass


def repaired(line: bytes) -> bytes:
    """Return a line of JSON with U+FFFD in place of each half of a surrogate pair."""

    def whole(match: re.Match[bytes]) -> bytes:
        is_half = len(match[1]) == len("ud800") and match[1][1:2] in b"dD"
        return b"\\ufffd" if is_half else match[0]

    return _ESCAPE.sub(whole, line)
