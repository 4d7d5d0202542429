"""`longsearch mcp`: let an agent search and read the indexed folders, by the Model Context Protocol."""

import importlib.util
import sys
from argparse import ArgumentParser, Namespace

from longsearch.engine.errors import LongsearchError, install_hint

HELP = "let an agent search and read your indexed folders (Model Context Protocol, read-only)"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch mcp`."""
    parser.add_argument(
        "folder", nargs="*", default=[], help="names or paths of the indexed folders it may read (default: all)"
    )


def run(options: Namespace) -> int:
    """Serve on stdin and stdout until the client closes them; return 0. Raises LongsearchError without the SDK."""
    if importlib.util.find_spec("mcp") is None or importlib.util.find_spec("mcp.server.mcpserver") is None:
        raise LongsearchError("longsearch mcp needs the package mcp, version 2", install_hint("mcp"))
    from longsearch.app.agents.server import make_server

    server = make_server(options.folder)
    if sys.stdin.isatty():
        print("longsearch mcp: waiting for an agent's requests on stdin (docs/agents.md); Ctrl+C ends", file=sys.stderr)
    server.run("stdio")
    return 0
