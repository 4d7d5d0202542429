"""`longsearch eval`: how well it finds, beside baselines, on sets in BEIR format."""

from argparse import Namespace

from engine.evaluation.run import run as evaluate


def run(options: Namespace) -> int:
    """What `python -m engine.evaluation` does."""
    return evaluate(options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments)
