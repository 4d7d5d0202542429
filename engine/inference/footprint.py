"""Measures the peak memory of reading a document, in a new process for each number of tokens.

`python -m engine.inference.footprint MODEL WIDTH DTYPE V TOKENS LENGTH` is that process. It holds LENGTH tokens and
reads the first TOKENS of them. So two processes with the same LENGTH differ only in how much they read.
"""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import ModelError


@dataclass(frozen=True, slots=True)
class Footprint:
    """The memory and the speed of reading `n_tokens` tokens."""

    n_tokens: int
    loaded_mib: float
    """Peak memory before the first token is read: torch, the weights, the token ids."""
    peak_mib: float
    tokens_per_s: float


def peak_mib() -> float:
    """The peak resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss survives fork and exec: a small child reports its parent's peak
        return int(status.read_text("utf-8").partition("VmHWM:")[2].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def footprints(model: str, width: float, dtype: str, vertical_size: int, lengths: list[int]) -> list[Footprint]:
    """Measure each number of tokens. Raises ModelError if a process fails."""
    return [_in_own_process(model, str(width), dtype, str(vertical_size), str(n), str(max(lengths))) for n in lengths]


def _in_own_process(*arguments: str) -> Footprint:
    # makes glibc return large blocks at once; otherwise fragmentation adds up to 4 % to the peak, differently each time
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-m", "engine.inference.footprint", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)  # noqa: S603
    if done.returncode:
        raise ModelError(f"the measuring process ended with {done.returncode}", "it may have run out of memory")
    found: dict[str, Any] = json.loads(done.stdout)
    return Footprint(**found)


def _measure(model: str, width: str, dtype: str, vertical_size: str, n_tokens: str, length: str) -> Footprint:
    from engine.inference.encoder import Encoder
    from engine.inference.speed import PASSAGE_TOKENS, random_document

    encoder = Encoder.open(model, dtype=dtype, width=float(width), vertical_size=int(vertical_size))
    tokens, passages = random_document(encoder, int(length))
    n = int(n_tokens)
    tokens, passages = replace(tokens, ids=tokens.ids[:n], starts=tokens.starts[:n]), passages[: n // PASSAGE_TOKENS]
    before, began = peak_mib(), time.perf_counter()
    for _ in encoder.stream(tokens, passages):  # the vectors are dropped: only reading is measured
        pass
    return Footprint(n, before, peak_mib(), n / (time.perf_counter() - began))


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(*sys.argv[1:]))))
