"""Helpers of the benchmarks: texts to read, and the peak memory of a separate process."""

import os
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def read_texts(paths: list[Path], n_characters: int) -> list[str]:
    """Return the texts of the files. Without files, return one text of `n_characters` of the sample documents."""
    if paths:
        return [path.read_text("utf-8", "replace") for path in paths]
    return [sample_text(n_characters)]


def sample_text(n_characters: int) -> str:
    """Return the sample documents, repeated; a different number before each one keeps the parts distinct."""
    samples = [path.read_text("utf-8") for path in sorted((REPOSITORY / "assets" / "samples").iterdir())]
    n_parts = -(-n_characters // min(len(sample) for sample in samples))
    parts = [f"Part {number}.\n\n{sample}\n\n" for number, sample in enumerate(islice(cycle(samples), n_parts))]
    return "".join(parts)[:n_characters]


def run_python(code: str, *arguments: str, text: str = "", **environment: str) -> list[float]:
    """Run `code` in a separate process with `text` on standard input. Returns the numbers it prints on one line."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=text,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
    )
    return [float(number) for number in done.stdout.split()]


PEAK = """
import resource, sys
from pathlib import Path
def peak_mib():
    status = Path("/proc/self/status")
    if status.exists():  # on Linux a child inherits ru_maxrss: a small child would report its parent's peak
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
"""
"""Put this before the code of a measured process: it defines `peak_mib`."""
