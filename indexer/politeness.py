"""Let what a person does in the foreground go first, and their battery last."""

import ctypes
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

NICENESS = 10
POWER_SUPPLIES = Path("/sys/class/power_supply")

# ioprio_set(2) has no wrapper in C libraries; numbers from the kernel's syscall tables
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30, "riscv64": 30}
_WHO_PROCESS, _CLASS_IDLE = 1, 3 << 13


def be_polite() -> None:
    """Lower this process's priority: of the processor, and of the disk to what others leave.

    Linux weighs sessions against each other first (autogroup): niceness alone means nothing to a process that leads a
    session of its own, as a daemon does, so its session's is lowered as well. To be called before threads are made:
    those that run keep their priority of the disk.
    """
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    with suppress(OSError):  # not Linux, or no autogroups
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    number = _IOPRIO_SET.get(platform.machine()) if sys.platform.startswith("linux") else None
    if number is not None and sys.maxsize > 2**32:
        ctypes.CDLL(None).syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE)


def on_battery(supplies: Path = POWER_SUPPLIES) -> bool:
    """Whether the machine runs on its battery; False where that is not known. Batteries of mice do not count."""
    found = [folder for folder in _entries(supplies) if _read(folder / "scope") != "Device"]
    if any(_read(folder / "online") == "1" for folder in found if _read(folder / "type") != "Battery"):
        return False
    return any(_read(folder / "status") == "Discharging" for folder in found if _read(folder / "type") == "Battery")


def polite_threads(n_threads: int, is_on_battery: bool) -> int:
    """Of `n_threads`, how many to use: half of them on battery, one at least."""
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
