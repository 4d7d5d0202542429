"""Only reading new text loads torch; searching and sweeping do not. Each test runs in a process of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longsearch.app.cli import main
from tests.app.homes import SAMPLES

REPOSITORY = Path(__file__).parents[2]

DAY = """
import os, shutil, sys, threading
from pathlib import Path
from longsearch.app.backend import AppBackend
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.daemon.daemon_control import daemon_status, stop_daemon, watch

root = Path(sys.argv[1])
thread = threading.Thread(target=Daemon(stay=True).run)
thread.start()

def wait_until_current(n_files):
    for _ in range(1200):
        status = daemon_status()
        if status and not status["roots"][0]["busy"] and AppBackend(root).progress().n_current == n_files:
            return
        threading.Event().wait(0.05)
    print(status, AppBackend(root).progress())

wait_until_current(2)
os.utime(root / "tides.md", ns=(1, 1))
(root / "violin.md").rename(root / "renamed.md")
shutil.copy(root / "tides.md", root / "copy.md")
watch(root)
wait_until_current(3)
from longsearch.engine.types.results import SearchMode
print(AppBackend(root).search("why does the sea rise", SearchMode.MEANING).hits[0].title)
loaded = daemon_status()["model"]["loaded"]
print(loaded, [name for name in ("torch", "transformers") if name in sys.modules])
stop_daemon()
thread.join()
"""

INDEX = """
import sys
from longsearch.app.cli import main

main(["index", "-q", sys.argv[1]])
print([name for name in ("torch", "transformers", "ray", "longsearch.app.cluster.ray_pool") if name in sys.modules])
"""

SEARCH = """
import sys
import longsearch
from longsearch.app.cli import main

for mode in ("hybrid", "meaning", "words"):
    print(main(["search", "why do harbours keep two clocks", sys.argv[1], "--mode", mode]))
print(longsearch.search(sys.argv[1], "the moon").hits[0].title)
print([name for name in ("torch", "transformers", "huggingface_hub", "multiprocessing") if name in sys.modules])
"""


@pytest.fixture
def root(root: Path) -> Path:
    """Two documents, indexed."""
    assert main(["index", "-q", str(root)]) == 0
    return root


def run(program: str, root: Path) -> list[str]:
    """Run the program, and return the lines that it prints."""
    ended = subprocess.run(
        [sys.executable, "-c", program, str(root)], cwd=REPOSITORY, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_a_daemon_with_nothing_to_embed_answers_searches_and_never_loads_torch(root: Path) -> None:
    assert run(DAY, root) == ["Why harbours keep two clocks", "False []"]


def test_a_search_without_a_daemon_never_loads_torch(root: Path) -> None:
    *printed, loaded = run(SEARCH, root)
    assert printed.count("0") == 3
    assert printed[-1] == "Why harbours keep two clocks"
    assert [line for line in printed if "documents, " in line and ("hybrid" in line or "meaning" in line)]
    assert loaded == "[]"


def test_an_index_command_loads_torch_only_to_embed_and_ray_only_for_a_cluster(root: Path) -> None:
    assert run(INDEX, root) == ["2 files: 2 current; 512 of 512 tokens embedded", "[]"]
    shutil.copy(SAMPLES / "lease.txt", root)
    assert run(INDEX, root)[-1] == "['torch']"
