"""Says once that an NVIDIA card is here which a plain install cannot use."""

import shutil
import sys
from pathlib import Path

from longsearch.app.paths import data_folder
from longsearch.engine.errors import install_hint

_DRIVER = Path("/proc/driver/nvidia/version")


def advice() -> str:
    """Return what would use this machine's NVIDIA card; "" if there is none, or if torch is installed."""
    if not (shutil.which("nvidia-smi") or _DRIVER.exists()):
        return ""
    from longsearch.engine.inference.opening import has_torch

    told = f"this machine has an NVIDIA card, which longsearch can read with: {install_hint('torch')}"
    return "" if has_torch() else told


def tell_once() -> None:
    """Print `advice`, if there is any, on stderr: at the first start, and never again."""
    told = data_folder() / "told-of-card"
    if not told.exists() and (said := advice()):
        told.touch(0o600)
        print(f"longsearch: {said}", file=sys.stderr)
