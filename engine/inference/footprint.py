"""Peak memory of reading documents of some length, each in a process of its own.

`python -m engine.inference.footprint MODEL WIDTH DTYPE V TOKENS LENGTH` is that process: it holds LENGTH tokens,
however many of them it reads, so that what differs between two lengths is the reading and nothing else.
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

from longsearch.engine.errors import ModelError


@dataclass(frozen=True, slots=True)
class Footprint:
    """What reading so many tokens took."""

    n_tokens: int
    loaded_mib: float
    """Peak before anything was read: torch, the weights, the tokens themselves."""
    peak_mib: float
    tokens_per_s: float


def peak_mib() -> float:
    """The most memory this process has had at a time."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss is handed down over fork and exec: a small child tells its parent's peak
        return int(status.read_text("utf-8").partition("VmHWM:")[2].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def footprints(model: str, width: float, dtype: str, vertical_size: int, lengths: list[int]) -> list[Footprint]:
    """One for each number of tokens. Raises ModelError where a process fails."""
    return [_in_own_process(model, str(width), dtype, str(vertical_size), str(n), str(max(lengths))) for n in lengths]


def _in_own_process(*arguments: str) -> Footprint:
    # glibc then gives large blocks back at once: its fragmentation is up to 4 % of the peak, and another in every run
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072"}
    command = [sys.executable, "-m", "longsearch.engine.inference.footprint", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)  # noqa: S603
    if done.returncode:
        raise ModelError(f"the measuring process ended with {done.returncode}", "it may have been out of memory")
    found: dict[str, Any] = json.loads(done.stdout)
    return Footprint(**found)


def _measure(model: str, width: str, dtype: str, vertical_size: str, n_tokens: str, length: str) -> Footprint:
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.inference.speed import PASSAGE_TOKENS, random_document

    encoder = Encoder.open(model, dtype=dtype, width=float(width), vertical_size=int(vertical_size))
    tokens, passages = random_document(encoder, int(length))
    n = int(n_tokens)
    tokens, passages = replace(tokens, ids=tokens.ids[:n], starts=tokens.starts[:n]), passages[: n // PASSAGE_TOKENS]
    before, began = peak_mib(), time.perf_counter()
    for _ in encoder.stream(tokens, passages):  # what becomes of the vectors is not this measurement's
        pass
    return Footprint(n, before, peak_mib(), n / (time.perf_counter() - began))


if __name__ == "__main__":
    print(json.dumps(asdict(_measure(*sys.argv[1:]))))
