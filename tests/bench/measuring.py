"""Helpers of the benchmarks: texts to read, and the peak memory of a new process."""

import os
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def read_texts(paths: list[Path], n_characters: int) -> list[str]:
    """Return the texts of the files; without files, one text of `n_characters` of the repository's own prose."""
    if paths:
        return [path.read_text("utf-8", "replace") for path in paths]
    return [own_prose(n_characters)]


def own_prose(n_characters: int) -> str:
    """Repeat the sample documents, each time under a new number, so that no two parts are equal."""
    samples = [path.read_text("utf-8") for path in sorted((REPOSITORY / "assets" / "samples").iterdir())]
    n_parts = -(-n_characters // min(len(sample) for sample in samples))
    parts = [f"Part {number}.\n\n{sample}\n\n" for number, sample in enumerate(islice(cycle(samples), n_parts))]
    return "".join(parts)[:n_characters]


def run_python(code: str, *arguments: str, text: str = "", **environment: str) -> list[float]:
    """Run `code` in a new process with `text` on its standard input; return the numbers that it prints."""
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
    if status.exists():  # on Linux, ru_maxrss survives fork and exec: a small child reports its parent's peak
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
"""
"""Code to put in front of the code of a measured process."""
