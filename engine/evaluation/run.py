"""Runs systems on datasets: `longsearch eval`."""

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.bench import Bench
from longsearch.engine.evaluation.datasets import Dataset, load_datasets
from longsearch.engine.evaluation.embedders.e5 import E5
from longsearch.engine.evaluation.embedders.minilm import MiniLM, minilm_folder
from longsearch.engine.evaluation.extension.reader import Extensions
from longsearch.engine.evaluation.longembed import N_DOCUMENTS, make_task, task_names
from longsearch.engine.evaluation.metrics import METRICS, bootstrap
from longsearch.engine.evaluation.options import Options, check, from_arguments, parser
from longsearch.engine.evaluation.our_vectors import OurVectors
from longsearch.engine.evaluation.ranked_spans import Ranked
from longsearch.engine.evaluation.report import Result, WidthResult, as_json, as_table, as_width_tables, progress
from longsearch.engine.evaluation.scoring import score_system
from longsearch.engine.evaluation.systems import BASELINES, OURS, System, me5_systems
from longsearch.engine.evaluation.vector_cache import VectorCache
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.readout_config import check_thinking
from longsearch.engine.printable import printable
from longsearch.engine.widths import Width, as_decimals, mean_width


def evaluate(options: Options, note: Callable[[str], None] = lambda line: None) -> Iterator[Result]:
    """Yield the result of each system on each dataset. Raises LongsearchError if a set or model cannot be read.

    All sets are checked before the model reads the first. `note` receives a line for each set with skipped judgements.
    """
    check(options)
    if any(name.startswith("minilm") for name in options.systems):
        minilm_folder()  # raises if it is missing, before an hour is spent on the rest
    checked = _checked(options, note)
    encoders = {w: _open(options, w) for w in options.widths}
    if options.think is not None:
        check_thinking(next(iter(encoders.values())).readout, options.think)
    _check_dims(options.dims, min(encoder.dim for encoder in encoders.values()))
    hardware, vector_cache = (
        choose_hardware(options.device, options.dtype, can_be_int8=True),
        VectorCache(options.cache),
    )
    minilm = cache(lambda: MiniLM(hardware.device, hardware.dtype))
    systems = OURS | BASELINES | Extensions(options.extended, minilm, vector_cache).open(options.systems)
    if options.me5:
        me5 = cache(partial(E5, options.me5, hardware.device, hardware.dtype))
        systems |= me5_systems(me5, str(options.me5.resolve()), vector_cache)
    for dataset in (_made(chosen, options) if isinstance(chosen, str) else chosen for chosen in checked):
        limited = dataset.limited(options.limit_queries or len(dataset.queries))
        ours = {
            w: OurVectors(limited, encoder, options.instruction, w, vector_cache, options.think)
            for w, encoder in encoders.items()
        }
        if options.width_table:
            yield from _at_all_widths(limited, options, ours, minilm, vector_cache)
            continue
        yield from _on_dataset(limited, options, ours, systems, minilm, vector_cache)


def _open(options: Options, width: Width) -> Encoder:
    return Encoder.open(options.model, options.device, options.dtype, width=width, readout=options.readout)


def _on_dataset(
    dataset: Dataset,
    options: Options,
    ours: dict[Width, OurVectors],
    systems: dict[str, System],
    minilm: Callable[[], MiniLM],
    vector_cache: VectorCache,
) -> Iterator[Result]:
    whole = Bench(dataset, ours[max(ours, key=mean_width)], minilm, vector_cache)
    marked = {_mark(width): vectors for width, vectors in ours.items()}
    for width, vectors in ours.items():
        marked |= {_mark(width, dim): vectors.of_dim(dim) for dim in options.dims}
    benches = {
        mark: Bench(dataset, vectors, minilm, vector_cache, same_words=whole) for mark, vectors in marked.items()
    }
    for name in options.systems:
        for mark, bench in benches.items() if name in OURS else [("", whole)]:
            began = time.perf_counter()
            result = _result(dataset, name + mark, systems[name](bench), began)
            if result.metrics:  # none if the set scores passages and the system ranks documents
                yield result


def _at_all_widths(
    dataset: Dataset,
    options: Options,
    ours: dict[Width, OurVectors],
    minilm: Callable[[], MiniLM],
    vector_cache: VectorCache,
) -> Iterator[WidthResult]:
    """Yield results of documents at each width with queries at each width. Every width reads each text once."""
    whole = Bench(dataset, ours[max(ours, key=mean_width)], minilm, vector_cache)
    for name in options.systems:
        for documents, queries in product(ours, ours):
            began = time.perf_counter()
            vectors = ours[documents].asked_by(ours[queries])
            ranked = OURS[name](Bench(dataset, vectors, minilm, vector_cache, same_words=whole))
            result = _result(dataset, name, ranked, began)
            if result.metrics:
                yield WidthResult(
                    result.dataset, name, result.n_queries, result.metrics, result.seconds, documents, queries
                )


def _check_dims(dims: tuple[int, ...], whole: int) -> None:
    wrong = [dim for dim in dims if not 0 < dim <= whole]
    if wrong:
        raise LongsearchError(f"--dims {wrong[0]} is out of range", f"the model's vectors have {whole} dimensions")


def _mark(width: Width, dim: int | None = None) -> str:
    """Return the suffix of a system's name at a width and with its first dimensions: "@0.5:128", "@1,0.5,0.5,1"."""
    return ("" if width == 1 else f"@{as_decimals(width)}") + ("" if dim is None else f":{dim}")


def _result(dataset: Dataset, label: str, ranked: Ranked, began: float) -> Result:
    values = score_system(dataset, ranked)
    metrics = {metric: bootstrap(values[metric]) for metric in METRICS} if values else {}
    return Result(dataset.name, label, len(dataset.queries), metrics, round(time.perf_counter() - began, 2))


def _made(task: str, options: Options) -> Dataset:
    return make_task(task, n_documents=options.limit_documents or N_DOCUMENTS)


def _checked(options: Options, note: Callable[[str], None]) -> list[Dataset | str]:
    """Return every set, loaded and checked, and the name of every task to generate."""
    checked: list[Dataset | str] = []
    for name in options.datasets:
        tasks = task_names(name, options.by_depth)
        if tasks:
            checked += tasks
            continue
        for dataset in load_datasets(Path(name)):
            checked.append(dataset)
            if dataset.n_skipped:
                note(f"{dataset.name}: skipped {dataset.n_skipped} judgements that name an unknown document or query")
    return checked


def run(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status. The table or JSON goes to stdout, progress to stderr."""
    arguments = parser().parse_args(argv)
    results = []
    try:
        for result in evaluate(from_arguments(arguments), _to_stderr):
            results.append(result)
            _to_stderr(progress(result))
    except (LongsearchError, OSError) as error:
        message, hint = (error.message, error.hint) if isinstance(error, LongsearchError) else (str(error), "")
        print(f"longsearch eval: {printable(message)}" + (f"\n  {printable(hint)}" if hint else ""), file=sys.stderr)
        return 1
    at_widths = [result for result in results if isinstance(result, WidthResult)]
    tables = (as_width_tables(at_widths, m) if at_widths else as_table(results, m) for m in arguments.metric)
    print(as_json(results) if arguments.json else "\n\n".join(tables))
    return 0


def _to_stderr(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)
