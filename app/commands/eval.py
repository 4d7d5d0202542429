"""`longsearch eval`: measure how well longsearch and baselines find documents, on sets in BEIR format."""

from argparse import REMAINDER, Namespace

from longsearch.app.options import option

HELP = "measure retrieval on sets with relevance judgements"
OPTIONS = (option("arguments", "DIR...; `longsearch eval --help` lists all options", nargs=REMAINDER),)
"""Any arguments: `engine.evaluation` has a parser of its own."""


def run(options: Namespace) -> int:
    """Run `engine.evaluation`, and return its exit code."""
    from longsearch.engine.inference.opening import require_torch

    require_torch("longsearch eval")
    from longsearch.engine.evaluation.run import run as evaluate

    return evaluate(options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments)
