"""Whether a folder can be reached: its drive may be unmounted, it may be deleted, or nobody may enter it.

A drive on a network may not answer at all, and then whoever asks waits. So each folder is asked in a thread of its own,
and one that does not answer in time counts as away.
"""

import os
import threading
import time
from collections.abc import Collection
from pathlib import Path

TIMEOUT_S = 1.0


def reasons_away(
    roots: Collection[Path], drives: Collection[Path] = (), timeout_s: float = TIMEOUT_S
) -> dict[Path, str]:
    """Return for each folder why it cannot be reached, or "".

    `drives`: the folders on which a drive was mounted when they were last indexed.
    """
    found: dict[Path, str] = {}

    def ask(root: Path) -> None:
        found[root] = reason_away(root, root in drives)

    threads = [threading.Thread(target=ask, args=(root,), daemon=True) for root in roots]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return {root: found.get(root, f"it does not answer within {timeout_s:g} s") for root in roots}


def reason_away(root: Path, was_drive: bool = False) -> str:
    """Return why the folder cannot be reached, or "". May block. `was_drive`: a drive was mounted there before."""
    try:
        with os.scandir(root) as entries:
            is_empty = next(entries, None) is None
    except (FileNotFoundError, NotADirectoryError):
        return "it does not exist; is its drive mounted?"
    except PermissionError:
        return "you may not read it"
    except OSError as error:
        return error.strerror or "it cannot be read"
    return "its drive is not mounted" if was_drive and is_empty and not os.path.ismount(root) else ""
