"""Runs systems on datasets: `python -m longsearch.engine.evaluation` and `longsearch eval`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import Dataset, load_dataset
from longsearch.engine.evaluation.depth import passages_at_depth
from longsearch.engine.evaluation.longembed import ESSAY, make_task, task_names
from longsearch.engine.evaluation.metrics import METRICS, bootstrap
from longsearch.engine.evaluation.minilm import MiniLM, minilm_folder
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.ranked_spans import Ranked
from longsearch.engine.evaluation.report import Result, as_json, as_table
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.evaluation.systems import BASELINES, OURS, Bench
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.printable import printable

SYSTEMS = (*OURS, *BASELINES)


@dataclass(frozen=True, slots=True)
class Options:
    """The datasets, systems and settings of a run."""

    datasets: tuple[str, ...]
    """Folders or .tar.xz archives, or generated tasks: `passkey`, `needle`, `needle-4096`."""
    systems: tuple[str, ...] = SYSTEMS
    limit_queries: int = 0
    """Queries of each set at most; 0: all."""
    widths: tuple[float, ...] = (1.0,)
    """Widths at which our systems run, as fractions of the heads."""
    dims: tuple[int, ...] = ()
    """Our systems also run with so many first dimensions of their vectors."""
    model: str = "bundled"
    instruction: str | None = None
    """The instruction in front of our queries; None: the model's own."""
    cache: Path | None = None
    """Folder that caches vectors, ours and MiniLM's, from run to run."""
    filler: Path | None = None
    """Text to read before the documents at a depth; None: a short essay, repeated."""
    depths: tuple[int, ...] = ()
    """Numbers of tokens to read before every document, for `meaning` at a depth of a stream."""
    device: str = "auto"
    dtype: str = "auto"


def evaluate(options: Options) -> Iterator[Result]:
    """Yield the result of each system on each dataset. Raises LongsearchError if a set or model cannot be read."""
    filler = options.filler.read_text("utf-8", "replace") if options.filler else ESSAY
    unknown = sorted(set(options.systems) - set(SYSTEMS))
    if unknown:
        raise LongsearchError(f"no such system: {', '.join(unknown)}", f"systems are {', '.join(SYSTEMS)}")
    if any(name.startswith("minilm") for name in options.systems):
        minilm_folder()  # raises if it is missing, before an hour is spent on the rest
    encoders = {w: Encoder.open(options.model, options.device, options.dtype, width=w) for w in options.widths}
    _check_dims(options.dims, min(encoder.dim for encoder in encoders.values()))
    hardware, vector_cache = choose_hardware(options.device, options.dtype), VectorCache(options.cache)
    minilm = cache(lambda: MiniLM(hardware.device, hardware.dtype))
    for dataset in _datasets(options):
        limited = dataset.limited(options.limit_queries or len(dataset.queries))
        ours = {
            w: OurVectors(limited, encoder, options.instruction, w, vector_cache) for w, encoder in encoders.items()
        }
        yield from _on_dataset(limited, options, ours, minilm, vector_cache)
        yield from _at_depths(options, ours, filler, vector_cache)


def _on_dataset(
    dataset: Dataset,
    options: Options,
    ours: dict[float, OurVectors],
    minilm: Callable[[], MiniLM],
    vector_cache: VectorCache,
) -> Iterator[Result]:
    whole = Bench(dataset, ours[max(ours)], minilm, vector_cache)
    marked = {_mark(width): vectors for width, vectors in ours.items()}
    for width, vectors in ours.items():
        marked |= {_mark(width, dim): vectors.of_dim(dim) for dim in options.dims}
    benches = {
        mark: Bench(dataset, vectors, minilm, vector_cache, same_words=whole) for mark, vectors in marked.items()
    }
    for name in options.systems:
        for mark, bench in benches.items() if name in OURS else [("", whole)]:
            began = time.perf_counter()
            result = _result(dataset, name + mark, (OURS | BASELINES)[name](bench), began)
            if result.metrics:  # none if the set scores passages and the system ranks documents
                yield result


def _at_depths(
    options: Options, ours: dict[float, OurVectors], filler: str, vector_cache: VectorCache
) -> Iterator[Result]:
    for depth in options.depths:
        for width, vectors in ours.items():
            began = time.perf_counter()
            ranked = passages_at_depth(vectors, filler, depth, vector_cache)
            yield _result(vectors.dataset, f"depth-{depth}{_mark(width)}", ranked, began)


def _check_dims(dims: tuple[int, ...], whole: int) -> None:
    wrong = [dim for dim in dims if not 0 < dim <= whole]
    if wrong:
        raise LongsearchError(f"--dims {wrong[0]} is out of range", f"the model's vectors have {whole} dimensions")


def _mark(width: float, dim: int | None = None) -> str:
    """Return the suffix of a system's name at a width and with its first dimensions: "", "@0.5", ":128", "@0.5:128"."""
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
    """Run the command line and return its exit status. The table or JSON goes to stdout, progress to stderr."""
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
    """Build the parser of `longsearch eval`."""
    made = argparse.ArgumentParser(
        prog="longsearch eval", description="Measure retrieval on sets with relevance judgements (BEIR format)."
    )
    made.add_argument(
        "datasets", nargs="+", metavar="DIR", help="folder, .tar.xz, or a generated task: passkey, needle, needle-4096"
    )
    made.add_argument(
        "--systems",
        nargs="+",
        default=SYSTEMS,
        metavar="NAME",
        help=f"systems to run: {', '.join(SYSTEMS)} (default all)",
    )
    made.add_argument("--json", action="store_true", help="print all metrics as JSON")
    made.add_argument("--metric", nargs="+", default=[METRICS[0]], choices=METRICS, help="metrics to print a table of")
    made.add_argument("--limit-queries", type=int, default=0, metavar="N", help="use at most N queries of each set")
    made.add_argument(
        "--width", nargs="+", type=float, default=[1.0], metavar="W", help="widths to run our systems at, such as 1 0.5"
    )
    made.add_argument("--model", default="bundled", metavar="PATH", help="folder of a model (default bundled)")
    made.add_argument("--instruction", metavar="TEXT", help="instruction in front of our queries")
    made.add_argument(
        "--dims", nargs="+", type=int, default=[], metavar="N", help="also use only the first N dimensions"
    )
    made.add_argument("--cache", type=Path, metavar="DIR", help="folder to cache vectors in")
    made.add_argument("--filler", type=Path, metavar="FILE", help="text to read before the documents, with --depths")
    made.add_argument("--depths", nargs="+", type=int, default=[], metavar="TOKENS", help="read so much filler first")
    made.add_argument("--device", default="auto", help="cpu, cuda or cuda:N (default auto)")
    made.add_argument("--dtype", default="auto", help="float32 or bfloat16 (default auto)")
    return made


def _options(arguments: argparse.Namespace) -> Options:
    return Options(
        tuple(arguments.datasets), tuple(arguments.systems), arguments.limit_queries, tuple(arguments.width),
        tuple(arguments.dims), arguments.model, arguments.instruction, arguments.cache, arguments.filler,
        tuple(arguments.depths), arguments.device, arguments.dtype,
    )  # fmt: skip
