"""`longsearch completion`: print a shell completion script."""

from argparse import ArgumentParser, Namespace

HELP = "print a shell completion script"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch completion`."""
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish", "tcsh", "powershell"), help="the shell to print it for"
    )


def run(options: Namespace) -> int:
    """Print the script. Returns 0.

    To install it: longsearch completion bash > ~/.local/share/bash-completion/completions/longsearch
    """
    import shtab

    from longsearch.app.cli import build_parser

    print(shtab.complete(build_parser(), shell=options.shell))
    return 0
