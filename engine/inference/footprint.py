"""Measures the peak memory of reading long documents, in a process for each length.

The process is `python -m longsearch.engine.inference.footprint MODEL WIDTH DTYPE V TOKENS LENGTH`. It holds LENGTH
tokens in memory and reads the first TOKENS of them, so processes that read different amounts differ in nothing else.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from longsearch.engine.errors import ModelError
from longsearch.engine.widths import Width, as_decimals, parse_width


@dataclass(frozen=True, slots=True)
class Footprint:
    """The memory and the speed of reading `n_tokens` tokens."""

    n_tokens: int
    loaded_mib: float
    """Peak before the reading: torch, the weights and the tokens themselves."""
    peak_mib: float
    tokens_per_s: float


def peak_mib() -> float:
    """Return the peak resident memory of this process, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux a child inherits ru_maxrss: a small child would report its parent's peak
        return int(status.read_text("utf-8").partition("VmHWM:")[2].split()[0]) / 2**10
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def footprints(model: str, width: Width, dtype: str, vertical_size: int, lengths: list[int]) -> list[Footprint]:
    """Measure each number of tokens in `lengths`. Raises ModelError if a process fails."""
    return [
        _in_own_process(model, as_decimals(width), dtype, str(vertical_size), str(n), str(max(lengths)))
        for n in lengths
    ]


def _in_own_process(*arguments: str) -> Footprint:
    # makes glibc return large blocks at once: fragmentation would add up to 4 % to the peak, differently in every run
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-m", "longsearch.engine.inference.footprint", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)  # noqa: S603
    if done.returncode:
        raise ModelError(f"the measuring process exited with status {done.returncode}", "it may have run out of memory")
    figures: dict[str, Any] = json.loads(done.stdout)
    return Footprint(**figures)


def _measure(model: str, width: str, dtype: str, vertical_size: str, n_tokens: str, length: str) -> Footprint:
    from longsearch.engine.inference.opening import open_encoder
    from longsearch.engine.inference.speed import PASSAGE_TOKENS, random_document

    encoder = open_encoder(model, dtype=dtype, width=parse_width(width))
    encoder.vertical_size = int(vertical_size)
    tokens, passages = random_document(encoder, int(length))
    n = int(n_tokens)
    tokens, passages = replace(tokens, ids=tokens.ids[:n], starts=tokens.starts[:n]), passages[: n // PASSAGE_TOKENS]
    before, began = peak_mib(), time.perf_counter()
    for _ in encoder.stream(tokens, passages):  # the vectors are not needed
        pass
    return Footprint(n, before, peak_mib(), n / (time.perf_counter() - began))


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(*sys.argv[1:]))))
