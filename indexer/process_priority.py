"""Lets other programs go first, and saves the battery."""

import os
import sys
from contextlib import suppress
from pathlib import Path

NICENESS = 10
_IOPRIO_SET = {"x86_64": 251, "s390x": 282, "ppc64le": 273}
"""The number of Linux's call `ioprio_set` on old architectures; on all later ones it is 30."""
_WHO_IS_PROCESS, _IDLE = 1, 3 << 13
POWER_SUPPLIES = Path("/sys/class/power_supply")


def lower_priority() -> None:
    """Lower the priority of this process: add 10 to its niceness, and use the disk only when nobody else does.

    Linux weighs sessions against each other first (autogroup). Niceness alone means nothing to a process that leads a
    session of its own, as a daemon does, so the niceness of its session is raised as well. Call this before threads
    are started: running threads keep their disk priority.
    """
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        return
    with suppress(OSError):
        os.nice(NICENESS)
    with suppress(OSError):  # not Linux, or no autogroups
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    if sys.platform == "linux" and sys.maxsize > 1 << 32:
        import ctypes  # psutil does the same, and takes each process that reads files 30 ms to import

        ctypes.CDLL(None).syscall(_IOPRIO_SET.get(os.uname().machine, 30), _WHO_IS_PROCESS, 0, _IDLE)


def on_battery(supplies: Path = POWER_SUPPLIES) -> bool:
    """Return whether the machine runs on its battery; False if that is not known.

    Batteries of mice and keyboards (scope "Device") do not count. `psutil.sensors_battery` counts them: it takes a
    desktop with a wireless mouse for a laptop on battery.
    """
    if sys.platform == "win32":
        import psutil

        battery = psutil.sensors_battery()
        return battery is not None and not battery.power_plugged
    found = [folder for folder in _entries(supplies) if _read(folder / "scope") != "Device"]
    if any(_read(folder / "online") == "1" for folder in found if _read(folder / "type") != "Battery"):
        return False
    return any(_read(folder / "status") == "Discharging" for folder in found if _read(folder / "type") == "Battery")


def threads_to_use(n_threads: int, is_on_battery: bool) -> int:
    """Return how many of `n_threads` to use: half of them on battery, at least one."""
    return max(1, n_threads // 2) if is_on_battery else n_threads


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
