"""`longsearch eval`: measure how well longsearch and baselines find documents, on sets in BEIR format."""

from argparse import REMAINDER, ArgumentParser, Namespace

HELP = "measure retrieval on sets with relevance judgements"


def add_options(parser: ArgumentParser) -> None:
    """Accept any arguments: `engine.evaluation` has a parser of its own."""
    parser.add_argument("arguments", nargs=REMAINDER, help="DIR...; `longsearch eval --help` lists all options")


def run(options: Namespace) -> int:
    """Run `engine.evaluation`, and return its exit code."""
    from longsearch.engine.inference.opening import require_torch

    require_torch("longsearch eval")
    from longsearch.engine.evaluation.run import run as evaluate

    return evaluate(options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments)
