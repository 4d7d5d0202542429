"""Every key of the app, in tables: for the help screen, and in Markdown for docs/app.md. Pure; made from the bindings.

`python -m longsearch.tui.keys_page` prints the Markdown; a test compares it with the page.
"""

from collections.abc import Mapping, Sequence

from textual.binding import Binding, BindingType

from longsearch.tui.bindings import (
    BASKET,
    FILES,
    LIST_MOVES,
    MAIN,
    PAGE_MOVES,
    QUERY,
    SIDES,
    TABLE,
    TABLE_MOVES,
    TEXT_MOVES,
)
from longsearch.tui.preferences import key_name, split_keys

_OTHERS = (
    ("Tab", "In the query: complete the field or the value"),
    ("Tab", "Otherwise: to the query, the results, the text in turn"),
    ("Ctrl+U", "Clear the query up to the cursor"),
    ("Ctrl+P", "Every command; change the colours"),
    ("Ctrl+Z", "Suspend: back to the shell, whose fg brings the app back (not on Windows)"),
    ("Ctrl+Q", "Quit; indexing goes on"),
)
_PLACES = (
    ("In the results", LIST_MOVES),
    ("In the text", TEXT_MOVES),
    ("On the page as printed", PAGE_MOVES),
    ("Side by side", SIDES),
    ("In the basket", BASKET),
    ("In a table", [*TABLE, *TABLE_MOVES]),
    ("In the list of files", [*FILES, *TABLE_MOVES]),
)

Rows = list[tuple[str, str]]
"""(keys, what they do)."""


def tables(keymap: Mapping[str, str] | None = None) -> list[tuple[str, Rows]]:
    """Return (place, keys) for each place in the app. `keymap`: other keys, by the id of the binding."""
    changed = keymap or {}
    everywhere = [*_rows(QUERY, changed), *_OTHERS, *_rows(MAIN, changed)]
    return [("Everywhere", everywhere), *((place, _rows(bindings, changed)) for place, bindings in _PLACES)]


def _rows(bindings: Sequence[BindingType], keymap: Mapping[str, str]) -> Rows:
    return [
        (
            ", ".join(key_name(key) for key in split_keys(keymap.get(binding.id or "", binding.key))),
            binding.tooltip or binding.description,
        )
        for binding in bindings
        if isinstance(binding, Binding)
    ]


def page() -> str:
    """Return the tables in Markdown."""
    parts = []
    for place, rows in tables():
        lines = [f"| {keys} | {meaning} |" for keys, meaning in rows]
        parts.append("\n".join([f"**{place}**\n", "| key | what it does |", "| --- | --- |", *lines]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(page())
