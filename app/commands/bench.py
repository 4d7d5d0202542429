"""`longsearch bench`: how fast this machine reads with a model, and what that is in pages."""

import json
from argparse import Namespace
from dataclasses import asdict, dataclass, field

from app.encoders import chosen_model
from app.paths import calibration_path

PAGE_TOKENS = 500
LONG_TOKENS = (8_000, 64_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    model: str
    n_parameters: int
    device: str
    dtype: str
    threads: int
    block_size: int
    """Q, in tokens."""
    vertical_size: int
    """V, in tokens, as it was chosen by measuring."""
    batch_documents: int
    """Short documents read at once."""
    batch_tokens: int
    """Of all of them, in one step."""
    tokens_per_s: float
    """Of one long document."""
    notes_one_by_one_per_s: float
    """Tokens a second of notes of 200 tokens."""
    notes_together_per_s: float
    matmul_flops_per_s: dict[str, float]
    """The machine's own products at the model's shapes, by number format."""
    matmul_share: float
    """Of that rate in the format the model runs in, what its dense products reach while it reads."""
    peak_mib: float
    """Of this process; of the GPU where there is one."""
    pages_per_hour: int
    memory: list[dict[str, float]] = field(default_factory=list)
    """With `--long`: peak memory by length."""


def run(options: Namespace) -> int:
    """Measure and print."""
    figures = measure(options.model or chosen_model(), options.width, options.seconds)
    if options.long:
        from engine.inference.footprint import footprints

        found = footprints(figures.model, options.width, figures.dtype, figures.vertical_size, list(LONG_TOKENS))
        figures.memory.extend(asdict(footprint) for footprint in found)
    print(json.dumps(asdict(figures), indent=2) if options.json else describe(figures))
    return 0


def measure(model: str, width: float, seconds: float) -> Figures:
    """All figures but `--long`'s, in about `seconds`, and 3 more the first time, to choose V. Raises ModelError."""
    import torch

    from engine.inference import speed
    from engine.inference.calibration import calibrated_size
    from engine.inference.encoder import Encoder
    from engine.inference.footprint import peak_mib

    encoder = Encoder.open(model, width=width)
    encoder.vertical_size = calibrated_size(encoder, calibration_path(), may_measure=True) or encoder.vertical_size
    dtype = str(encoder.hardware.dtype).removeprefix("torch.")
    tokens_per_s = speed.document_rate(encoder, seconds / 2)
    alone, together = speed.notes_rates(encoder, seconds / 4)
    formats = (torch.float32, torch.bfloat16)
    products = {str(d).removeprefix("torch."): speed.matmul_rate(encoder, d, seconds / 8) for d in formats}
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
    """For a person."""
    products = ", ".join(f"{rate / 1e9:,.0f} in {name}" for name, rate in figures.matmul_flops_per_s.items())
    lines = [
        f"model       {figures.model}, {figures.n_parameters / 1e6:,.1f} million parameters",
        f"runs on     {figures.device}, {figures.dtype}, {figures.threads} threads",
        f"slices      Q {figures.block_size}, V {figures.vertical_size}; short documents"
        f" {figures.batch_documents} at once, {figures.batch_tokens} tokens a step",
        f"reading     {figures.tokens_per_s:,.0f} tokens/s",
        f"            notes of 200 tokens: {figures.notes_together_per_s:,.0f} together,"
        f" {figures.notes_one_by_one_per_s:,.0f} one by one",
        f"products    {products}: GFLOP/s of this machine at the model's shapes;"
        f" the model's own reach {figures.matmul_share:.0%} of it",
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
