"""Completes the value of `lang:` while it is typed, for the query line. Pure apart from Textual's interface."""

import re

from textual.suggester import Suggester

from longsearch.engine.languages.names import CODES, NAMES

_UNFINISHED = re.compile(r"(?:^|\s)-?lang:([a-z]+)$", re.IGNORECASE)


class LanguageSuggester(Suggester):
    """Suggests the name of a language after `lang:` and its first letters; the right arrow key accepts it."""

    def __init__(self) -> None:
        super().__init__(case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return `value` with the name completed, or None. A code is complete as it is."""
        typed = _UNFINISHED.search(value)
        if typed is None or typed[1].casefold() in CODES:
            return None
        name = next((name for name in NAMES if name.startswith(typed[1].casefold())), None)
        return value + name[len(typed[1]) :] if name else None
