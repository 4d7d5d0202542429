"""Run systems on datasets: what `python -m engine.evaluation` and `longsearch eval` do."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.errors import LongsearchError
from engine.evaluation.datasets import Dataset, load_dataset
from engine.evaluation.depth import passages_at_depth
from engine.evaluation.keeping import Kept
from engine.evaluation.longembed import ESSAY, make_task, task_names
from engine.evaluation.metrics import METRICS, bootstrap
from engine.evaluation.minilm import MiniLM, minilm_folder
from engine.evaluation.our_vectors import OurVectors
from engine.evaluation.ranked_spans import Ranked
from engine.evaluation.report import Result, as_json, as_table
from engine.evaluation.scoring import score_system
from engine.evaluation.systems import BASELINES, OURS, Bench
from engine.inference.device import choose_hardware
from engine.inference.encoder import Encoder
from engine.printable import printable

SYSTEMS = (*OURS, *BASELINES)


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    datasets: tuple[str, ...]
    """Folders or .tar.xz archives, or generated tasks: `passkey`, `needle`, `needle-4096`."""
    systems: tuple[str, ...] = SYSTEMS
    limit_queries: int = 0
    """At most so many queries of each set; 0: all."""
    widths: tuple[float, ...] = (1.0,)
    """Nested fractions of the heads at which our systems are run."""
    dims: tuple[int, ...] = ()
    """First dimensions of our vectors, with which our systems are run beside the whole."""
    model: str = "bundled"
    instruction: str | None = None
    """The prompt in front of our queries; None: the model's own."""
    cache: Path | None = None
    """Folder in which vectors, ours and MiniLM's, are kept from run to run."""
    filler: Path | None = None
    """Text to read before passages at a depth; None: a short essay of our own, over and over."""
    depths: tuple[int, ...] = ()
    """Tokens read before every document, for `meaning` at a depth of a stream."""
    device: str = "auto"
    dtype: str = "auto"


def evaluate(options: Options) -> Iterator[Result]:
    """Each system on each dataset, as they finish. Raises LongsearchError for what cannot be read or run."""
    filler = options.filler.read_text("utf-8", "replace") if options.filler else ESSAY
    unknown = sorted(set(options.systems) - set(SYSTEMS))
    if unknown:
        raise LongsearchError(f"no such system: {', '.join(unknown)}", f"one of {', '.join(SYSTEMS)}")
    if any(name.startswith("minilm") for name in options.systems):
        minilm_folder()  # says what is missing before an hour is spent on the rest
    encoders = {w: Encoder.open(options.model, options.device, options.dtype, width=w) for w in options.widths}
    _check_dims(options.dims, min(encoder.dim for encoder in encoders.values()))
    hardware, kept = choose_hardware(options.device, options.dtype), Kept(options.cache)
    minilm = cache(lambda: MiniLM(hardware.device, hardware.dtype))
    for dataset in _datasets(options):
        limited = dataset.limited(options.limit_queries or len(dataset.queries))
        ours = {w: OurVectors(limited, encoder, options.instruction, w, kept) for w, encoder in encoders.items()}
        yield from _on_dataset(limited, options, ours, minilm, kept)
        yield from _at_depths(options, ours, filler, kept)


def _on_dataset(
    dataset: Dataset,
    options: Options,
    ours: dict[float, OurVectors],
    minilm: Callable[[], MiniLM],
    kept: Kept,
) -> Iterator[Result]:
    whole = Bench(dataset, ours[max(ours)], minilm, kept)
    marked = {_mark(width): vectors for width, vectors in ours.items()}
    for width, vectors in ours.items():
        marked |= {_mark(width, dim): vectors.of_dim(dim) for dim in options.dims}
    benches = {mark: Bench(dataset, vectors, minilm, kept, same_words=whole) for mark, vectors in marked.items()}
    for name in options.systems:
        for mark, bench in benches.items() if name in OURS else [("", whole)]:
            began = time.perf_counter()
            result = _result(dataset, name + mark, (OURS | BASELINES)[name](bench), began)
            if result.metrics:  # none where the set wants passages and the system ranks documents
                yield result


def _at_depths(options: Options, ours: dict[float, OurVectors], filler: str, kept: Kept) -> Iterator[Result]:
    for depth in options.depths:
        for width, vectors in ours.items():
            began = time.perf_counter()
            ranked = passages_at_depth(vectors, filler, depth, kept)
            yield _result(vectors.dataset, f"depth-{depth}{_mark(width)}", ranked, began)


def _check_dims(dims: tuple[int, ...], whole: int) -> None:
    wrong = [dim for dim in dims if not 0 < dim <= whole]
    if wrong:
        raise LongsearchError(f"vectors have no first {wrong[0]} dimensions", f"the model's have {whole}")


def _mark(width: float, dim: int | None = None) -> str:
    """What tells a system at a width and with its first dimensions from the whole: "", "@0.5", ":128", "@0.5:128"."""
    return ("" if width == 1 else f"@{width:g}") + ("" if dim is None else f":{dim}")


def _result(dataset: Dataset, label: str, ranked: Ranked, began: float) -> Result:
    values = score_system(dataset, ranked)
    metrics = {metric: bootstrap(values[metric]) for metric in METRICS} if values else {}
    return Result(dataset.name, label, len(dataset.queries), metrics, round(time.perf_counter() - began, 2))


def _datasets(options: Options) -> Iterator[Dataset]:
    for name in options.datasets:
        tasks = task_names(name)
        if tasks is None:
            yield load_dataset(Path(name))
        else:
            yield from map(make_task, tasks)


def run(argv: list[str] | None = None) -> int:
    """The command line: the table, or JSON, on stdout; progress on stderr. Returns the exit status."""
    arguments = parser().parse_args(argv)
    results = []
    try:
        for result in evaluate(_options(arguments)):
            results.append(result)
            ndcg = 100 * result.metrics[METRICS[0]].mean
            line = f"{printable(result.dataset)} {result.system} {ndcg:.1f} ({result.seconds:.1f} s)"
            print(line, file=sys.stderr, flush=True)
    except (LongsearchError, OSError) as error:
        message, hint = (error.message, error.hint) if isinstance(error, LongsearchError) else (str(error), "")
        print(f"longsearch eval: {printable(message)}" + (f"\n  {printable(hint)}" if hint else ""), file=sys.stderr)
        return 1
    print(as_json(results) if arguments.json else "\n\n".join(as_table(results, m) for m in arguments.metric))
    return 0


def parser() -> argparse.ArgumentParser:
    """The options, for `--help` and for `longsearch eval`."""
    made = argparse.ArgumentParser(
        prog="longsearch eval", description="Measure retrieval on sets with relevance judgements (BEIR format)."
    )
    made.add_argument(
        "datasets", nargs="+", metavar="DIR", help="folder, .tar.xz, or a task: passkey, needle, needle-4096"
    )
    made.add_argument("--systems", nargs="+", default=SYSTEMS, metavar="NAME", help=", ".join(SYSTEMS))
    made.add_argument("--json", action="store_true", help="everything measured, as JSON")
    made.add_argument("--metric", nargs="+", default=[METRICS[0]], choices=METRICS, help="tables to print")
    made.add_argument("--limit-queries", type=int, default=0, metavar="N", help="at most N queries of each set")
    made.add_argument(
        "--width", nargs="+", type=float, default=[1.0], metavar="W", help="fractions of the heads: 1 0.5"
    )
    made.add_argument("--model", default="bundled", metavar="PATH", help="a model's folder")
    made.add_argument("--instruction", metavar="TEXT", help="what stands in front of our queries")
    made.add_argument("--dims", nargs="+", type=int, default=[], metavar="N", help="also with our first N dimensions")
    made.add_argument("--cache", type=Path, metavar="DIR", help="keep vectors here, for other runs")
    made.add_argument("--filler", type=Path, metavar="FILE", help="text to be read before passages at a depth")
    made.add_argument("--depths", nargs="+", type=int, default=[], metavar="TOKENS", help="read so much before each")
    made.add_argument("--device", default="auto")
    made.add_argument("--dtype", default="auto")
    return made


def _options(arguments: argparse.Namespace) -> Options:
    return Options(
        tuple(arguments.datasets), tuple(arguments.systems), arguments.limit_queries, tuple(arguments.width),
        tuple(arguments.dims), arguments.model, arguments.instruction, arguments.cache, arguments.filler,
        tuple(arguments.depths), arguments.device, arguments.dtype,
    )  # fmt: skip
