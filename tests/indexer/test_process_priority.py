"""The daemon lets other programs go first."""

import subprocess
import sys
from pathlib import Path

import pytest

from longsearch.indexer.process_priority import on_battery, threads_to_use


def supply(folder: Path, name: str, **values: str) -> None:
    (folder / name).mkdir(parents=True)
    for key, value in values.items():
        (folder / name / key).write_text(value + "\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has disk priorities")
def test_a_polite_process_lowers_its_priority_for_processor_and_disk() -> None:
    script = (
        "import os, psutil; from longsearch.indexer.process_priority import lower_priority; lower_priority();"
        "print(os.nice(0) >= 10, psutil.Process().ionice().ioclass == psutil.IOPRIO_CLASS_IDLE)"
    )
    # in a session of its own: the niceness of this session would stay raised after the test, for the whole terminal
    said = subprocess.check_output([sys.executable, "-c", script], text=True, start_new_session=True)
    assert said.split() == ["True", "True"]


def test_only_the_machines_own_battery_counts_and_only_when_nothing_is_plugged_in(tmp_path: Path) -> None:
    assert not on_battery(tmp_path)
    assert not on_battery(tmp_path / "missing")
    supply(tmp_path, "hidpp_battery_0", type="Battery", status="Discharging", scope="Device")
    assert not on_battery(tmp_path)
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    supply(tmp_path, "AC", type="Mains", online="0")
    assert on_battery(tmp_path)
    (tmp_path / "AC" / "online").write_text("1\n")
    assert not on_battery(tmp_path)


def test_on_battery_half_of_the_threads_are_used() -> None:
    assert [threads_to_use(n, is_on_battery=True) for n in (1, 2, 3, 8)] == [1, 1, 1, 4]
    assert threads_to_use(8, is_on_battery=False) == 8
