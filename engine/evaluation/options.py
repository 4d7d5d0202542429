"""The options of a run, and the command line that they are read from."""

import argparse
from dataclasses import dataclass, fields
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.extension.names import EXTENSIONS, listing
from longsearch.engine.evaluation.metrics import METRICS
from longsearch.engine.evaluation.systems import BASELINES, ME5, OURS
from longsearch.engine.models.readout_config import READOUTS
from longsearch.engine.widths import Width, parse_width

SYSTEMS = (*OURS, *BASELINES)
WIDTHS = (1.0, 0.5, 0.25, 0.125)
"""The nested widths of the bundled model (MatMamba), as fractions of the heads."""


@dataclass(frozen=True, slots=True)
class Options:
    """The datasets, systems and settings of a run."""

    datasets: tuple[str, ...]
    """Folders or .tar.xz archives, or generated tasks: `passkey`, `needle`, `needle-4096`."""
    by_depth: bool = False
    """Whether to run each generated task five times, with the facts in each fifth of their documents."""
    limit_documents: int = 0
    """Documents of each generated task at most; 0: all 100."""
    systems: tuple[str, ...] = SYSTEMS
    limit_queries: int = 0
    """The most queries of a set; 0: all."""
    widths: tuple[Width, ...] = (1.0,)
    """Widths at which our systems run, as fractions of the heads; a tuple has a fraction for each layer."""
    width_table: bool = False
    """Whether documents and queries may have different widths: our systems run with each pair of them."""
    dims: tuple[int, ...] = ()
    """Our systems also run with so many first dimensions of their vectors."""
    model: str = "bundled"
    instruction: str | None = None
    """The instruction in front of our queries; None: the model's own."""
    readout: str | None = None
    """The readout to read the model with; None: its own."""
    think: int | None = None
    """Soft tokens of our queries, for a generative model; None: the model's own number."""
    cache: Path | None = None
    """Folder that caches vectors, ours and MiniLM's, from run to run."""
    device: str = "auto"
    dtype: str = "auto"
    extended: Path | None = None
    """Folder of the weights that the systems `minilm-tuned-…` and `minilm-rope-…` read."""
    me5: Path | None = None
    """Folder of a multilingual E5 for the systems `me5` and `me5-hybrid`, which run by default only if it is given."""


def check(options: Options) -> None:
    """Raise LongsearchError for unknown systems, and for options that a width table does not have."""
    unknown = sorted(set(options.systems) - {*SYSTEMS, *ME5, *EXTENSIONS})
    if unknown:
        known = f"systems are {', '.join((*SYSTEMS, *ME5))}, {listing()}"
        raise LongsearchError(f"no such system: {', '.join(unknown)}", known)
    baselines = [name for name in options.systems if name not in OURS]
    if options.me5 is None and not set(ME5).isdisjoint(options.systems):
        hint = "give --me5 DIR, as `python -m longsearch.engine.training teacher` writes it"
        raise LongsearchError("the baseline me5 needs the folder of a multilingual E5", hint)
    if options.limit_documents < 0:
        raise LongsearchError(f"--limit-documents {options.limit_documents} is below 0")
    if options.width_table and baselines:
        raise LongsearchError(f"{baselines[0]} has no widths", f"--width-table takes {', '.join(OURS)}")
    if options.width_table and options.dims:
        raise LongsearchError("--width-table cannot be combined with --dims")


def parser() -> argparse.ArgumentParser:
    """Build the parser of `longsearch eval`."""
    about = "Measure retrieval on sets with relevance judgements (BEIR format)."
    made = argparse.ArgumentParser(prog="longsearch eval", description=about)
    add = made.add_argument
    sets = "folder, .tar.xz, or a generated task: passkey, needle, needle-own, needle-4096"
    add("datasets", nargs="+", metavar="DIR", help=sets)
    systems = f"systems to run: {', '.join(SYSTEMS)} (default all of these); and, with a longer context, {listing()}"
    add("--systems", nargs="+", metavar="NAME", help=systems)
    add("--json", action="store_true", help="print all metrics as JSON")
    add("--metric", nargs="+", default=[METRICS[0]], choices=METRICS, help="metrics to print a table of")
    add("--by-depth", action="store_true", help="run generated tasks with the facts in each fifth of their documents")
    add("--limit-documents", type=int, default=0, metavar="N", help="use at most N documents of each generated task")
    add("--limit-queries", type=int, default=0, metavar="N", help="use at most N queries of each set")
    widths = "widths to run our systems at: 1 1/2, or one fraction for each layer: 1,1/2,1/2,1 (default 1)"
    add("--width", nargs="+", type=parse_width, metavar="W", help=widths)
    every = " ".join(f"{width:g}" for width in WIDTHS)
    table = f"run our systems (default meaning) with documents at each width and queries at each (default {every})"
    add("--width-table", action="store_true", help=table)
    add("--model", default="bundled", metavar="PATH", help="folder of a model (default bundled)")
    add("--instruction", metavar="TEXT", help="instruction in front of our queries")
    add("--readout", choices=READOUTS, help="read the model with another readout than its own")
    add("--think", type=int, metavar="K", help="soft tokens of our queries, for a generative model")
    add("--dims", nargs="+", type=int, default=[], metavar="N", help="also use only the first N dimensions")
    add("--cache", type=Path, metavar="DIR", help="folder to cache vectors in")
    add(
        "--extended",
        type=Path,
        metavar="DIR",
        help="folder of trained weights for minilm-tuned-... and minilm-rope-...",
    )
    add("--me5", type=Path, metavar="DIR", help="folder of a multilingual E5, for me5 and me5-hybrid")
    add("--device", default="auto", help="cpu, cuda or cuda:N (default auto)")
    add("--dtype", default="auto", help="float32, bfloat16 or int8 (default auto)")
    return made


def from_arguments(arguments: argparse.Namespace) -> Options:
    """Return the options that `parser` read. The defaults of systems and widths depend on --width-table."""
    table = arguments.width_table
    given = {f.name: getattr(arguments, f.name) for f in fields(Options) if hasattr(arguments, f.name)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    every = (*SYSTEMS, *(ME5 if arguments.me5 else ()))
    given["systems"] = tuple(arguments.systems or (("meaning",) if table else every))
    given["widths"] = tuple(arguments.width or (WIDTHS if table else (1.0,)))
    return Options(**given)
