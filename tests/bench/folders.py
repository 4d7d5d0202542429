"""Reads folders of odd shapes and prints time, memory and result. A stand-in makes the vectors: only reading counts.

    nice -n 10 python tests/bench/folders.py                                 # all cases
    nice -n 10 python tests/bench/folders.py --files 20000 100000 --whole    # many files alone, by `longsearch index`

The cases: many small files, a text of 500 MB, a line of 95 MB, 200 folders in each other, names of all kinds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from longsearch.engine.store.store import Store
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.pipeline import Pipeline
from tests.indexer.fake_encoder import FakeEncoder

SENTENCE = "The keeper of the light wrote down the wind and the tide each morning. "
NAMES = (b"a b.txt", b"-rf.txt", b"\xff\xfe.txt", b"new\nline.txt", b"\x1b[2J.txt", "é\u0301\u202e.txt".encode())


def many(root: Path, n_files: int) -> None:
    """Write small files, a thousand in each folder."""
    for number in range(n_files):
        folder = root / f"{number // 1000:03}"
        if not number % 1000:
            folder.mkdir()
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\n{SENTENCE * 3}It was day {number}.\n")


def large(root: Path) -> None:
    """Write a text of 500 MB."""
    with (root / "large.txt").open("w") as file:
        for _ in range(500):
            file.write(f"{SENTENCE * 14}\n" * 1000)


def line(root: Path) -> None:
    """Write a text of 95 MB in one line."""
    (root / "line.txt").write_text(SENTENCE * (95_000_000 // len(SENTENCE)))


def deep(root: Path) -> None:
    """Write a file at the end of 200 folders in each other."""
    folder = root
    for number in range(200):
        folder = folder / f"level{number}"
    folder.mkdir(parents=True)
    (folder / "end.txt").write_text(SENTENCE)


def named(root: Path) -> None:
    """Write files with names of all kinds, the longest too."""
    for number, name in enumerate((*NAMES, b"n" * 251 + b".txt")):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_text(f"{SENTENCE}{number}")


def used_s() -> float:
    """Return the processor time of this process and of the children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(name: str, make: Callable[[Path], None]) -> None:
    """Make a folder, read it twice, and print what it took."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "root"
        root.mkdir()
        make(root)
        for again in ("", " again"):
            began, used = time.monotonic(), used_s()
            with Store.open(Path(home) / "index.sqlite") as store, ExtractorPool() as pool:
                summary = Pipeline(root, store, pool, FakeEncoder()).read()
                reasons = {file.reason for file in store.files() if file.reason}
            took = f"{time.monotonic() - began:.1f} s, {used_s() - used:.1f} s of processors"
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            size = (Path(home) / "index.sqlite").stat().st_size / 1e6
            print(f"{name}{again}: {took}, peak {peak:.0f} MB, index {size:.1f} MB, {summary}, {reasons}", flush=True)


def whole(n_files: int) -> None:
    """Index a folder of many files with the bundled model at its smallest width, and print what it took."""
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "root"
        root.mkdir()
        many(root, n_files)
        places = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
        environment = os.environ | dict.fromkeys(places, home)
        command = (sys.executable, "-m", "longsearch.app.cli", "index", "--quiet", "--width", "1/8", str(root))
        began, used = time.monotonic(), used_s()
        subprocess.run(command, env=environment, check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        took = f"{time.monotonic() - began:.0f} s, {used_s() - used:.0f} s of processors"
        print(f"{n_files:,} files, whole: {took}, peak {peak:.0f} MB", flush=True)


def main() -> None:
    """Measure all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[100_000], help="how many small files, in turn")
    parser.add_argument("--whole", action="store_true", help="only the many files, by `longsearch index`")
    options = parser.parse_args()
    print("load", os.getloadavg())
    if options.whole:
        for n_files in options.files:
            whole(n_files)
        return
    for name, make in {"names": named, "deep": deep, "large": large, "line": line}.items():
        measure(name, make)
    for n_files in options.files:
        measure(f"{n_files:,} files", partial(many, n_files=n_files))


if __name__ == "__main__":
    main()
