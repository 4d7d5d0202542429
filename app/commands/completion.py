"""`longsearch completion`: a script for the shell to source."""

from argparse import Namespace

import shtab

from app.cli import build_parser


def run(options: Namespace) -> int:
    """Print it, for instance: longsearch completion bash > ~/.local/share/bash-completion/completions/longsearch."""
    print(shtab.complete(build_parser(), shell=options.shell))
    return 0
