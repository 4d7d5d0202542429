"""Tests of the faults that an index must survive. `pytest tests/faults --rounds 200` runs them at full size.

Two hundred rounds are 200 kills, a storm over 20,000 files, 20 seconds of writing beside readers, 1,000 new PDFs,
1,000 mails with 200 office files, and an index of 100,000 passages; other numbers of rounds scale these. Without
`--rounds` the run is short. The measurements are printed at the end. Times are asserted only with `--rounds`: such a
run is started by hand on a quiet machine.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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
    """Whether `--rounds` was given, so times are asserted."""
    return request.config.getoption("--rounds", default=None) is not None


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--rounds", default=None) or SHORT_ROUNDS)


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Keep a line to print at the end of the run."""
    yield request.config.stash.setdefault(_figures, []).append


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for this test. The real home is neither read nor written."""
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "XDG_CONFIG_HOME"))
    return tmp_path
