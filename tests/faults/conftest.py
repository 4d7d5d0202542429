"""`pytest tests/faults --rounds 200`: the faults an index must bear, at full size; without `--rounds`, a short run.

Two hundred rounds are 200 kills, a storm over 20,000 files, 20 seconds of writing beside readers, 1,000 new PDFs, and
an index of 100,000 passages; other numbers scale with it. What was measured is printed at the end. Times are asserted
only where `--rounds` is given: that is a run by hand, on a machine that is quiet.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "indexer"), str(TESTS / "engine" / "store")]  # the encoder without a model; store's invariants

SHORT_ROUNDS = 2
_figures = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounds", type=int, default=None, help="size of the fault harness; 200 is full size")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--rounds", default=None):
        for line in config.stash.get(_figures, []):
            terminalreporter.write_line(line)


@pytest.fixture
def by_hand(request: pytest.FixtureRequest) -> bool:
    """Whether somebody asked for a size, and so for times."""
    return request.config.getoption("--rounds", default=None) is not None


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--rounds", default=None) or SHORT_ROUNDS)


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Keeps a figure for the end of the run."""
    yield request.config.stash.setdefault(_figures, []).append


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: nothing is read from or written to the real one."""
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path
