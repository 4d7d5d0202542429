"""Keeps quoted replies from swamping what a message says itself. Pure functions.

A short quotation stays where its answer is. A long one follows the message, cut if it is very long. What an earlier
message of the same mailbox says is not repeated.
"""

import re
from collections.abc import Iterator

_SHORT_LINES = 4
MAX_QUOTED_CHARACTERS = 5_000
"""Quoted text kept of one message, besides short quotations."""
_MAX_SAID = 400_000
_LEAST_CHARACTERS = 20
"""Shorter lines are said by many messages."""
_MARK = re.compile(r"^[ \t]?(?:>[ \t]?)+")
_ORIGINAL = re.compile(
    r"[ \t>]*(?:-{4,} ?(?:Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original) ?-{4,}|_{20,})"
    r"[ \t]*",
    re.IGNORECASE,
)


class Said:
    """The lines that the messages of one mailbox have said so far, as hashes: 8 bytes a line, and a limit."""

    def __init__(self) -> None:
        self._lines: set[int] = set()

    def add(self, text: str) -> None:
        """Remember the lines of `text`."""
        if len(self._lines) < _MAX_SAID:
            self._lines.update(hash(key) for line in text.split("\n") if len(key := _key(line)) >= _LEAST_CHARACTERS)

    def new_lines(self, lines: list[str]) -> list[str]:
        """Return the lines that nobody has said yet."""
        return [line for line in lines if hash(_key(line)) not in self._lines]


def _key(line: str) -> str:
    return " ".join(_MARK.sub("", line).split())


def without_long_quotations(body: str, said: Said) -> tuple[str, str]:
    """Return (what the message says itself, with short quotations in their places; the long quotations)."""
    own: list[str] = []
    quoted: list[str] = []
    for is_quoted, lines in _runs(body.split("\n")):
        filled = [line for line in lines if _key(line)]
        if is_quoted and len(filled) > _SHORT_LINES:
            quoted += [_MARK.sub("", line) for line in said.new_lines(filled)]
        else:
            own += lines
    text = "\n".join(own).strip()
    said.add(text)
    return text, _cut("\n".join(quoted).strip())


def _runs(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Split into runs of quoted and of other lines. After the line "Original Message" everything is quoted."""
    run: list[str] = []
    was_quoted = is_rest = False
    for line in lines:
        is_rest = is_rest or (_ORIGINAL.fullmatch(line) is not None and bool(run or was_quoted))
        is_quoted = is_rest or line.startswith((">", " >")) or (was_quoted and not line.strip())
        if is_quoted != was_quoted and run:
            yield was_quoted, run
            run = []
        was_quoted = is_quoted
        run.append(line)
    if run:
        yield was_quoted, run


def _cut(text: str) -> str:
    if len(text) <= MAX_QUOTED_CHARACTERS:
        return text
    return text[:MAX_QUOTED_CHARACTERS].rpartition("\n")[0] + "\n…"
