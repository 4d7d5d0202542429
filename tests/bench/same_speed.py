"""Whether indexing and searching are as fast as at an earlier commit: `python tests/bench/same_speed.py --before REV`.

Both versions run in processes of their own that take turns (A B, B A, A B, ...), so that the rest of the machine's work
hits both. Each process indexes a folder of the repository's own prose into a new index, then searches it. For each
figure the script compares the best time of all rounds, because whatever else runs can only add to a time; the medians
stand beside it. A ratio above 1 means that the new version is slower. Run it on a quiet machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import REPOSITORY

Round = tuple[dict[str, float], dict[str, float]]
LIMIT = 1.03
_WORKER = Path(__file__).with_name("same_speed_worker.py")
_N_FILES = 24


def main() -> None:
    """Measure, print a line for each figure, and exit with 1 when one of them is slower than the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--before", default="HEAD~1", metavar="REV", help="the commit to compare with (default: HEAD~1)"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--characters", type=int, default=8_000, help="of prose in each of the 24 files")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, checkout(arguments.before, Path(folder) / "before") as before:
        papers = write_papers(Path(folder) / "papers", arguments.characters)
        rounds = [measure_both(before, papers, first_is_new=bool(n % 2)) for n in range(arguments.rounds + 1)][1:]
    ratios = {name: best(rounds, 1, name) / best(rounds, 0, name) for name in rounds[0][0]}
    if arguments.json:
        print(json.dumps({"before": arguments.before, "rounds": rounds, "ratios": ratios}, indent=1))
    else:
        report(rounds, ratios)
    sys.exit(any(ratio > LIMIT for ratio in ratios.values()))


def best(rounds: list[Round], side: int, name: str) -> float:
    """The best time of a figure over all rounds; side 0 is before, 1 is after."""
    return min(pair[side][name] for pair in rounds)


def report(rounds: list[Round], ratios: dict[str, float]) -> None:
    """Print the best time of each figure before and after, their ratio, and the medians."""
    for name, ratio in ratios.items():
        before, after = (statistics.median(pair[side][name] for pair in rounds) for side in (0, 1))
        times = f"{best(rounds, 0, name):8.2f} -> {best(rounds, 1, name):8.2f}"
        verdict = "slower" if ratio > LIMIT else "ok"
        print(f"{name:<20} {times}  ratio {ratio:.3f}  {verdict:<6} (medians {before:.2f} -> {after:.2f})")


@contextmanager
def checkout(revision: str, folder: Path) -> Iterator[Path]:
    """The files of a commit, in a git worktree that is removed afterwards."""
    git = ["git", "-C", str(REPOSITORY), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def write_papers(folder: Path, n_characters: int) -> Path:
    """A folder of Markdown files of which no two say the same: versions of a document are another search's work."""
    folder.mkdir()
    names = ("README.md", "assets/samples/*", "docs/*.md")
    prose = "\n\n".join(path.read_text("utf-8") for name in names for path in sorted(REPOSITORY.glob(name)))
    if len(prose) < n_characters * _N_FILES:
        sys.exit(f"there is prose for {len(prose) // _N_FILES} characters in each file")
    for number in range(_N_FILES):
        part = prose[number * n_characters : (number + 1) * n_characters]
        (folder / f"paper-{number:02}.md").write_text(f"# Paper {number}\n\n{part}", "utf-8")
    return folder


def measure_both(before: Path, papers: Path, first_is_new: bool) -> Round:
    """One round: the figures of the old version and of the new one."""
    trees = [before, REPOSITORY]
    figures = {tree: measure(tree, papers) for tree in (reversed(trees) if first_is_new else trees)}
    return figures[before], figures[REPOSITORY]


def measure(tree: Path, papers: Path) -> dict[str, float]:
    """The worker's figures for the version in `tree`, with a data folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"PYTHONPATH": str(tree), "XDG_DATA_HOME": home, "XDG_RUNTIME_DIR": home}
        command = [sys.executable, "-P", str(_WORKER), str(papers)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=home)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    main()
