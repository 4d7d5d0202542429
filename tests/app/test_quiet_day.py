"""Without new text neither the daemon nor `longsearch index` loads torch. Each test runs in a process of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from homes import SAMPLES

from longsearch.app.cli import main

REPOSITORY = Path(__file__).parents[2]

DAY = """
import os, shutil, sys, threading
from pathlib import Path
from longsearch.app.local_backend import LocalBackend
from longsearch.app.background.daemon import Daemon
from longsearch.app.background.daemon_control import daemon_status, stop_daemon, watch

root = Path(sys.argv[1])
thread = threading.Thread(target=Daemon(stay=True).run)
thread.start()

def wait_until_current(n_files):
    for _ in range(1200):
        status = daemon_status()
        if status and not status["roots"][0]["busy"] and LocalBackend(root).progress().n_current == n_files:
            return
        threading.Event().wait(0.05)
    print(status, LocalBackend(root).progress())

wait_until_current(2)
os.utime(root / "tides.md", ns=(1, 1))
(root / "violin.md").rename(root / "renamed.md")
shutil.copy(root / "tides.md", root / "copy.md")
watch(root)
wait_until_current(3)
loaded = daemon_status()["model"]["loaded"]
print(loaded, [name for name in ("torch", "transformers") if name in sys.modules])
stop_daemon()
thread.join()
"""

INDEX = """
import sys
from longsearch.app.cli import main

main(["index", "-q", sys.argv[1]])
print([name for name in ("torch", "transformers") if name in sys.modules])
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


def test_a_daemon_with_nothing_to_embed_never_loads_torch(root: Path) -> None:
    assert run(DAY, root) == ["False []"]


def test_an_index_command_with_nothing_to_embed_never_loads_torch(root: Path) -> None:
    assert run(INDEX, root) == ["2 files: 2 current; 512 of 512 tokens embedded", "[]"]
    shutil.copy(SAMPLES / "lease.txt", root)
    assert run(INDEX, root)[-1] == "['torch']"
