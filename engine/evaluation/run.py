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
from engine.evaluation.longembed import ESSAY, make_task, task_names
from engine.evaluation.metrics import METRICS, bootstrap
from engine.evaluation.minilm import MiniLM, minilm_folder
from engine.evaluation.report import Result, as_json, as_table
from engine.evaluation.scoring import score_system
from engine.evaluation.systems import BASELINES, OURS, Bench, OurVectors, Ranked
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
    model: str = "bundled"
    instruction: str | None = None
    """The prompt in front of our queries; None: the model's own."""
    cache: Path | None = None
    """Folder in which MiniLM's vectors are kept from run to run."""
    essay: Path | None = None
    """Text to hide needles in, or to read before passages at a depth; None: a short essay of our own."""
    depths: tuple[int, ...] = ()
    """Tokens read before every document, for `meaning` at a depth of a stream."""
    device: str = "auto"
    dtype: str = "auto"


def evaluate(options: Options) -> Iterator[Result]:
    """Each system on each dataset, as they finish. Raises LongsearchError for what cannot be read or run."""
    essay = options.essay.read_text("utf-8", "replace") if options.essay else ESSAY
    unknown = sorted(set(options.systems) - set(SYSTEMS))
    if unknown:
        raise LongsearchError(f"no such system: {', '.join(unknown)}", f"one of {', '.join(SYSTEMS)}")
    if any(name.startswith("minilm") for name in options.systems):
        minilm_folder()  # says what is missing before an hour is spent on the rest
    encoders = {w: Encoder.open(options.model, options.device, options.dtype, width=w) for w in options.widths}
    hardware = choose_hardware(options.device, options.dtype)
    minilm = cache(lambda: MiniLM(hardware.device, hardware.dtype))
    for dataset in _datasets(options, essay):
        limited = dataset.limited(options.limit_queries or len(dataset.queries))
        yield from _on_dataset(limited, options, encoders, minilm)
        yield from _at_depths(limited, options, encoders, essay)


def _on_dataset(
    dataset: Dataset, options: Options, encoders: dict[float, Encoder], minilm: Callable[[], MiniLM]
) -> Iterator[Result]:
    benches = {
        width: Bench(dataset, OurVectors(dataset, encoder, options.instruction), minilm, options.cache)
        for width, encoder in encoders.items()
    }
    widest = benches[max(benches)]
    for name in options.systems:
        for width, bench in benches.items() if name in OURS else [(1.0, widest)]:
            began = time.perf_counter()
            result = _result(dataset, _label(name, width), (OURS | BASELINES)[name](bench), began)
            if result.metrics:  # none where the set wants passages and the system ranks documents
                yield result


def _at_depths(dataset: Dataset, options: Options, encoders: dict[float, Encoder], essay: str) -> Iterator[Result]:
    for depth in options.depths:
        for width, encoder in encoders.items():
            began = time.perf_counter()
            ranked = passages_at_depth(dataset, encoder, essay, depth, options.instruction)
            yield _result(dataset, _label(f"depth-{depth}", width), ranked, began)


def _label(system: str, width: float) -> str:
    return system if width == 1 else f"{system}@{width:g}"


def _result(dataset: Dataset, label: str, ranked: Ranked, began: float) -> Result:
    values = score_system(dataset, ranked)
    metrics = {metric: bootstrap(values[metric]) for metric in METRICS} if values else {}
    return Result(dataset.name, label, len(dataset.queries), metrics, round(time.perf_counter() - began, 2))


def _datasets(options: Options, essay: str) -> Iterator[Dataset]:
    for name in options.datasets:
        tasks = task_names(name)
        if tasks is None:
            yield load_dataset(Path(name))
        else:
            yield from (make_task(task, essay) for task in tasks)


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
    made.add_argument("--cache", type=Path, metavar="DIR", help="keep the baseline's vectors here")
    made.add_argument("--essay", type=Path, metavar="FILE", help="text for needles and depths")
    made.add_argument("--depths", nargs="+", type=int, default=[], metavar="TOKENS", help="read so much before each")
    made.add_argument("--device", default="auto")
    made.add_argument("--dtype", default="auto")
    return made


def _options(arguments: argparse.Namespace) -> Options:
    return Options(
        tuple(arguments.datasets), tuple(arguments.systems), arguments.limit_queries, tuple(arguments.width),
        arguments.model, arguments.instruction, arguments.cache, arguments.essay,
        tuple(arguments.depths), arguments.device, arguments.dtype,
    )  # fmt: skip
