"""Makes hypothesis draw the same examples in every run, so a test that passes once passes on any machine.

`pytest --hypothesis-profile=explore` draws new examples. Keeps tests away from the config file of who runs them.
"""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest

_NO_CONFIG = Path(tempfile.gettempdir(), f"longsearch-tests-without-config-{os.getpid()}")
os.environ["XDG_CONFIG_HOME"] = str(_NO_CONFIG)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each core has a worker: a second thread would wait for the first

try:
    from hypothesis import settings
except ImportError:  # the machine of the GPU tests may lack hypothesis
    pass
else:
    settings.register_profile("steady", deadline=None, derandomize=True)
    settings.register_profile("explore", deadline=None, max_examples=500)
    settings.load_profile("steady")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Fail a test that leaves a config file to those after it; a search read one, and entered one function more."""
    if (_NO_CONFIG / "longsearch").exists():
        shutil.rmtree(_NO_CONFIG)
        pytest.fail("the test wrote a config file outside its home: take the fixture `home`, or set XDG_CONFIG_HOME")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run tests that share what a fixture makes for a whole module in one process, so that it is made once."""
    for item in items if config.pluginmanager.hasplugin("xdist") else ():
        fixtures = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009 - pytest has no other door
        is_shared = any(one.scope == "module" and one.baseid.startswith("tests") for same in fixtures for one in same)
        if is_shared and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported: to look through it again and again took a quarter of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
