"""A JSON file of the person's own. Unlike a measurement it cannot be made again, so a damaged one is never replaced."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import replace_object

LOCK_TIMEOUT_S = 10.0


class UserFile:
    """One file, which holds a JSON object. Safe from any thread and process: a change is made under a lock."""

    def __init__(self, name: str) -> None:
        self.path = data_folder() / name

    def read(self) -> dict[str, Any]:
        """Return the object; {} if there is no file. Raises LongsearchError for a file that cannot be read."""
        try:
            known = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise LongsearchError(f"{self.path} cannot be read: {error.strerror}", "check its permissions") from error
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(known, dict):
            raise self._damaged()
        return known

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """Yield the object and write it back, if it was changed. Raises LongsearchError."""
        from filelock import (  # takes longer than the rest, and the app only reads before its first frame
            FileLock,
            Timeout,
        )

        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S, mode=0o600):
                known = self.read()
                before = json.dumps(known)
                yield known
                if json.dumps(known) != before:
                    replace_object(self.path, known)
        except Timeout as error:
            raise LongsearchError(f"{self.path} is in use", "another longsearch writes it; try again") from error
        except OSError as error:
            raise LongsearchError(f"{self.path} cannot be written: {error.strerror}", "is the disk full?") from error

    def _damaged(self) -> LongsearchError:
        aside = f"{self.path}.damaged-{int(time.time())}"
        return LongsearchError(f"{self.path} is damaged", f"mend it, or move it away: mv '{self.path}' '{aside}'")
