"""A folder that the daemon keeps: how its status changes as indexing succeeds, fails or is postponed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longsearch.app.daemon.watched_folder import POSTPONE_S, WatchedFolder
from tests.app.app_helpers import Clock


@pytest.fixture
def kept(tmp_path: Path, clock: Clock) -> Iterator[WatchedFolder]:
    """A folder that is current."""
    kept = WatchedFolder(tmp_path, lambda: None, clock=clock)
    kept.begin_sweep()
    kept.finish("", is_complete=True, sweep_in_s=None)
    yield kept
    kept.stop()


def flags(kept: WatchedFolder) -> dict[str, Any]:
    return {name: value for name, value in kept.status().items() if name in ("busy", "failing")}


def test_a_new_folder_is_due_and_busy(tmp_path: Path) -> None:
    kept = WatchedFolder(tmp_path, lambda: None)
    assert kept.is_due()
    assert kept.status() == {"root": str(tmp_path), "problem": "", "busy": True, "failing": False}


def test_a_current_folder_is_neither_busy_nor_due(kept: WatchedFolder) -> None:
    assert flags(kept) == {"busy": False, "failing": False}
    assert not kept.is_due()
    assert not kept.is_incomplete


def test_a_folder_is_busy_while_it_is_worked_on_and_while_something_is_left(kept: WatchedFolder) -> None:
    with kept.working():
        assert flags(kept)["busy"]
    assert not flags(kept)["busy"]
    kept.finish("", is_complete=False, sweep_in_s=None)
    assert flags(kept)["busy"]


def test_a_postponed_folder_waits_although_it_is_due(kept: WatchedFolder, clock: Clock) -> None:
    kept.ask()
    kept.postpone("the disk is full")
    assert kept.status()["problem"] == "the disk is full"
    assert flags(kept) == {"busy": True, "failing": True}
    clock.now = POSTPONE_S - 1
    assert kept.is_postponed()
    assert not kept.is_due()
    clock.now = POSTPONE_S
    assert not kept.is_postponed()
    assert kept.is_due()
    assert flags(kept)["failing"]


def test_success_after_a_failure_clears_it(kept: WatchedFolder, clock: Clock) -> None:
    kept.postpone("the disk is full")
    clock.now = POSTPONE_S
    kept.begin_sweep()
    kept.finish("", is_complete=True, sweep_in_s=None)
    assert kept.status()["problem"] == ""
    assert flags(kept) == {"busy": False, "failing": False}


def test_a_request_ends_the_postponement(kept: WatchedFolder) -> None:
    kept.postpone("locked")
    kept.ask()
    assert kept.is_due()
    assert not flags(kept)["failing"]


def test_a_request_to_read_failed_files_again_holds_until_one_sweep_has_begun(kept: WatchedFolder) -> None:
    kept.ask(read_again=True)
    kept.ask()
    assert kept.begin_sweep()
    assert not kept.begin_sweep()


def test_a_folder_that_goes_offline_has_nothing_left_to_do(kept: WatchedFolder) -> None:
    kept.postpone("locked")
    kept.go_offline()
    assert "folder is away" in kept.status()["problem"]
    assert flags(kept) == {"busy": False, "failing": False}


def test_a_folder_is_due_again_at_the_time_that_was_set(kept: WatchedFolder, clock: Clock) -> None:
    kept.finish("", is_complete=True, sweep_in_s=60.0)
    clock.now = 59.0
    assert not kept.is_due()
    clock.now = 60.0
    assert kept.is_due()


def test_the_watchs_problem_is_reported_unless_indexing_has_one(kept: WatchedFolder, tmp_path: Path) -> None:
    tmp_path.rmdir()
    kept.start()
    assert "cannot be watched" in kept.status()["problem"]
    kept.finish("no space left", is_complete=True, sweep_in_s=None)
    assert kept.status()["problem"] == "no space left"
