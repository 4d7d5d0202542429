"""What `longsearch search` takes in a process of its own: `python tests/bench/cold.py FILE`.

FILE has questions with answer spans, as `answers.py` reads it; its articles are indexed first. Each question is asked
by words, by default, and with the reader (`--answers 3`), each twice and without a daemon: *cold*, after the system was
made to forget all files of the index, of longsearch and of the installed packages (Linux; elsewhere it may hold them),
and *warm*, at once afterwards. Printed are the median and the 95th percentile of wall and processor time, and how many
questions the reader answered with a probability.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import answers
import numpy as np
from measuring import REPOSITORY


def forget_pages(*roots: Path) -> None:
    """Have the system forget what it holds of all files in these folders, as far as it lets us."""
    if not hasattr(os, "posix_fadvise"):
        return
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                try:
                    with Path(folder, name).open("rb") as opened:
                        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                except OSError:  # a socket, or gone meanwhile
                    continue


KINDS = "cold", "warm"
WAYS = {"words": ["--mode", "words"], "hybrid": [], "reader": ["--answers", "3"]}


def asked(question: str, root: Path, way: Sequence[str]) -> tuple[float, float, bool]:
    """Milliseconds, milliseconds of processor time, and whether the first answer has a probability."""
    command = [sys.executable, "-m", "longsearch.app.cli", "search", question, str(root), *way, "--json"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = json.loads(done.stdout)["answers"] if done.returncode in (0, 1) else []
    return wall * 1000, used * 1000, bool(found) and found[0]["probability"] is not None


def main() -> None:
    """Index the articles, ask, and print two lines for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    options.articles, options.paragraphs, options.language = 48, 12, "en"
    with tempfile.TemporaryDirectory() as home:
        os.environ |= dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"), home)
        exam = answers.drawn(options.file, options)
        root = Path(home, "articles")
        answers.index(exam, root, "whole", "")
        questions = [one.text for one in exam.questions if one.answers]
        roots = Path(home), REPOSITORY, Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))
        asked(questions[0], root, WAYS["reader"])  # compiles what is imported
        times: dict[str, list[tuple[float, float, bool]]] = {f"{way}, {kind}": [] for way in WAYS for kind in KINDS}
        for question in questions:
            for way, arguments in WAYS.items():
                forget_pages(*roots)
                for kind in KINDS:
                    times[f"{way}, {kind}"].append(asked(question, root, arguments))
    for kind, found in times.items():
        (wall, wall_95), (used, used_95) = np.percentile(np.array(found)[:, :2], [50, 95], axis=0).T
        line = f"{kind}: {len(found)} questions, p50 {wall:.0f} ms, p95 {wall_95:.0f} ms, worst {max(found)[0]:.0f} ms"
        n_read = sum(is_read for *_, is_read in found)
        print(f"{line}; processor: p50 {used:.0f} ms, p95 {used_95:.0f} ms; read: {n_read}", flush=True)


if __name__ == "__main__":
    main()
