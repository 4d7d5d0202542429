"""`longsearch bench`: how fast this machine reads with a model, in tokens and in pages, or how fast it searches."""

import json
from argparse import ArgumentTypeError, Namespace
from typing import NamedTuple

from longsearch.app.options import JSON, flag, option
from longsearch.engine.amounts import counted
from longsearch.engine.widths import Width, parse_width

HELP = "measure how fast this machine reads documents, in tokens a second and pages an hour"
PAGE_TOKENS = 500
LONG_TOKENS = (8_000, 64_000, 1_000_000)


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 3600:
        raise ArgumentTypeError("must be above 0 and at most 3600")
    return number


OPTIONS = (
    option("--model", "folder or name of a model (default: the model in use)", default="", metavar="M"),
    option(
        "--width",
        "fraction of the model's heads to run: 1/2, or one for each layer: 1,1/2,1/2,1",
        type=parse_width,
        default=1.0,
        metavar="W",
    ),
    option("--seconds", "time to measure for (default: 8)", type=_seconds, default=8.0, metavar="S"),
    flag("--long", "measure memory for 8,000 to 1,000,000 tokens too; takes minutes"),
    option("--search", "measure how long searches of this indexed folder take, instead of reading", metavar="FOLDER"),
    JSON,
)


class Figures(NamedTuple):
    """The measurements, as `--json` prints them. No dataclass: `dataclasses` takes 10 ms to import."""

    model: str
    n_parameters: int
    device: str
    dtype: str
    threads: int
    block_size: int
    """Q, in tokens."""
    vertical_size: int
    """V, in tokens, chosen by measuring."""
    batch_documents: int
    """Short documents read at once."""
    batch_tokens: int
    """Tokens of all those documents in one step."""
    tokens_per_s: float
    """Rate for one long document."""
    notes_one_by_one_per_s: float
    """Tokens a second for notes of 200 tokens, read one after another."""
    notes_together_per_s: float
    """Tokens a second for the same notes, read in batches."""
    matmul_flops_per_s: dict[str, float]
    """Speed of plain matrix products at the model's shapes, by number format."""
    matmul_share: float
    """Fraction of that speed that the model's dense products reach while it reads, in the format it runs in."""
    peak_mib: float
    """Peak memory of this process, or of the GPU if there is one."""
    pages_per_hour: int
    """Pages of 500 tokens."""
    memory: tuple[dict[str, float], ...] = ()
    """Peak memory by document length; only with `--long`."""


def run(options: Namespace) -> int:
    """Measure and print. Returns 0."""
    if options.search is not None:
        from longsearch.app.paths import find_index
        from longsearch.app.search import search_times

        times = search_times.measure(*find_index(options.search))
        print(json.dumps(times._asdict(), indent=2) if options.json else search_times.describe(times))
        return 0
    from longsearch.app.models.encoders import chosen_model
    from longsearch.engine.inference.opening import require_torch

    require_torch("longsearch bench")
    figures = measure(options.model or chosen_model(), options.width, options.seconds)
    if options.long:
        from dataclasses import asdict

        from longsearch.engine.inference.footprint import footprints

        found = footprints(figures.model, options.width, figures.dtype, figures.vertical_size, list(LONG_TOKENS))
        figures = figures._replace(memory=tuple(asdict(footprint) for footprint in found))
    print(json.dumps(figures._asdict(), indent=2) if options.json else describe(figures))
    return 0


def measure(model: str, width: Width, seconds: float) -> Figures:
    """Measure all but memory by length, in about `seconds`. Raises ModelError.

    The first call on a machine takes 3 s more, to choose V.
    """
    import torch

    from longsearch.app.paths import calibration_path, speed_path
    from longsearch.engine.inference import speed
    from longsearch.engine.inference.calibration import calibrated_size, measured_formats
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.inference.footprint import peak_mib

    encoder = Encoder.open(model, width=width, speeds=measured_formats(model, speed_path()))
    encoder.vertical_size = calibrated_size(encoder, calibration_path(), may_measure=True) or encoder.vertical_size
    dtype = encoder.hardware.products
    tokens_per_s = speed.document_rate(encoder, seconds / 2)
    alone, together = speed.notes_rates(encoder, seconds / 4)
    formats = ("float32", "bfloat16", *(["int8"] if dtype == "int8" else []))
    products = {name: speed.matmul_rate(encoder, name, seconds / 8) for name in formats}
    is_gpu = encoder.model.device.type == "cuda"
    rows, budget = encoder.batch()
    return Figures(
        model=model,
        n_parameters=sum(parameter.numel() for parameter in encoder.model.parameters()),
        device=torch.cuda.get_device_name(encoder.model.device) if is_gpu else "cpu",
        dtype=dtype,
        threads=torch.get_num_threads(),
        block_size=encoder.model.block_size,
        vertical_size=encoder.vertical_size,
        batch_documents=rows,
        batch_tokens=budget,
        tokens_per_s=tokens_per_s,
        notes_one_by_one_per_s=alone,
        notes_together_per_s=together,
        matmul_flops_per_s=products,
        matmul_share=speed.linear_flops(encoder) * tokens_per_s / products[dtype],
        peak_mib=torch.cuda.max_memory_allocated(encoder.model.device) / 2**20 if is_gpu else peak_mib(),
        pages_per_hour=round(tokens_per_s * 3600 / PAGE_TOKENS),
    )


def describe(figures: Figures) -> str:
    """Return the figures as lines of text."""
    products = ", ".join(f"{rate / 1e9:,.0f} in {name}" for name, rate in figures.matmul_flops_per_s.items())
    lines = [
        f"model       {figures.model}, {figures.n_parameters / 1e6:,.1f} million parameters",
        f"runs on     {figures.device}, {figures.dtype}, {counted(figures.threads, 'thread')}",
        f"slices      Q {figures.block_size}, V {figures.vertical_size}; short documents"
        f" {figures.batch_documents} at once, {figures.batch_tokens} tokens a step",
        f"reading     {figures.tokens_per_s:,.0f} tokens/s",
        f"            notes of 200 tokens: {figures.notes_together_per_s:,.0f} together,"
        f" {figures.notes_one_by_one_per_s:,.0f} one by one",
        f"GFLOP/s     {products}, for matrix products of the model's shapes;"
        f" the model reaches {figures.matmul_share:.0%} of that",
        f"memory      {figures.peak_mib:,.0f} MiB at most",
        f"an hour     {figures.pages_per_hour:,} pages of {PAGE_TOKENS} tokens",
    ]
    for row in figures.memory:
        more = row["peak_mib"] / figures.memory[0]["peak_mib"] - 1
        lines.append(
            f"            {row['n_tokens']:>9,} tokens: {row['peak_mib']:,.0f} MiB ({more:+.1%}),"
            f" {row['loaded_mib']:,.0f} before reading, {row['tokens_per_s']:,.0f} tokens/s"
        )
    return "\n".join(lines)
