"""Regular expressions that are compiled at their first use.

A search uses a third of the patterns of the modules that it imports. Compiling them all took a tenth of its time in a
new process.
"""

import re
from typing import Any, cast


class _Late:
    """A pattern that is compiled when a method of it is asked for; from then on the method is its own."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, value)
        return value


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what has the methods and attributes of `re.compile(text, flags)`, but compiles at the first of them.

    Raises `re.error` then.
    """
    return cast("re.Pattern[str]", _Late(text, flags))
