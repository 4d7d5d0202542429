"""`longsearch completion`: print a shell completion script."""

from argparse import Namespace

from longsearch.app.options import option

HELP = "print a shell completion script"
OPTIONS = (option("shell", "the shell to print it for", choices=("bash", "zsh", "fish", "tcsh", "powershell")),)


def run(options: Namespace) -> int:
    """Print the script. Returns 0.

    To install it: longsearch completion bash > ~/.local/share/bash-completion/completions/longsearch
    """
    import shtab

    from longsearch.app.cli import build_parser

    print(shtab.complete(build_parser(), shell=options.shell))
    return 0
