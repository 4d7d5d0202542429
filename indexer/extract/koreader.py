"""Reads the marks that KOReader keeps beside an e-book: `book.sdr/metadata.epub.lua`, a table of Lua.

The tables are read by rules of their own, and nothing in them is run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longsearch.indexer.extract.wire.limits import MAX_MARK_CHARACTERS, MAX_MARKS
from longsearch.indexer.extract.wire.values import RawMark

_BOOKS = frozenset({".epub", ".fb2", ".mobi", ".azw", ".azw3"})
_MAX_BYTES = 5_000_000
_DEEPEST = 20
_KINDS = {"underscore": "underline", "strikeout": "strikeout"}
_COLORS = {
    "red": "#ff3300", "orange": "#ff8800", "yellow": "#ffff33", "green": "#00aa66", "olive": "#88ff77",
    "cyan": "#00ffee", "blue": "#0066ff", "purple": "#ee00ff", "gray": "#808080",
}  # fmt: skip
"""As KOReader paints them."""
_FRAGMENT = re.compile(r"DocFragment\[(\d{1,6})\]")
_OWN_NOTE = re.compile(r"Page .{0,200} @ \d{4}-\d\d-\d\d", re.DOTALL)
"""What an older KOReader writes where a person wrote nothing."""
_TOKEN = re.compile(r'\s+|--[^\n]*|("(?:[^"\\]|\\.)*"|[{}\[\]=,]|[\w.+-]+)', re.DOTALL)
_ESCAPE = re.compile(r"\\(\d{1,3}|.)", re.DOTALL)
_WRITTEN = {"n": "\n", "r": "\r", "t": "\t"}


def kept_beside(path: Path) -> Path:
    """Return the file in which KOReader keeps the marks of a book, if there are any."""
    return path.with_suffix(".sdr") / f"metadata{path.suffix.lower()}.lua"


def changed_ns(path: Path) -> int:
    """Return when these marks were changed, in nanoseconds since 1970; 0 if there are none."""
    try:
        return kept_beside(path).stat().st_mtime_ns if path.suffix.lower() in _BOOKS else 0
    except (OSError, ValueError):
        return 0


def marks_apart(path: Path) -> tuple[tuple[int, RawMark], ...]:
    """Return (chapter from 0, or -1; mark) of each mark of a book; () if there are none, or none that can be read."""
    try:
        if not changed_ns(path) or kept_beside(path).stat().st_size > _MAX_BYTES:
            return ()
        table = _value(_tokens(kept_beside(path).read_bytes().decode("utf-8", "replace")), 0)
    except (OSError, ValueError, StopIteration):
        return ()
    listed = [table.get(key) for key in ("annotations", "bookmarks")] if isinstance(table, dict) else []
    rows = next((one for one in listed if isinstance(one, dict) and one), {})
    return tuple(mark for row in rows.values() if isinstance(row, dict) for mark in _mark(row))[:MAX_MARKS]


def _mark(row: dict[Any, Any]) -> Iterator[tuple[int, RawMark]]:
    """Yield the mark of a row, unless it only keeps a place."""
    said = {key: value[:MAX_MARK_CHARACTERS] for key, value in row.items() if isinstance(value, str)}
    words, note = said.get("text", ""), said.get("note", "")
    if "notes" in said:  # an older KOReader
        words, note = said["notes"], "" if _OWN_NOTE.match(words) else words
    if not (said.get("drawer") or row.get("highlighted") or note):
        return
    fragment = _FRAGMENT.search(said.get("pos0") or said.get("page", ""))
    kind = _KINDS.get(said.get("drawer", ""), "highlight")
    yield int(fragment[1]) - 1 if fragment else -1, (kind, _COLORS.get(said.get("color", ""), ""), words, "", note, "")


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError("no table of Lua")
        at = found.end()
        if found[1] and found[1] != "return":
            yield found[1]


def _value(tokens: Iterator[str], depth: int) -> Any:
    """Return the next value: a string, a dict, or of a number or a name its text, but True or None for true and nil."""
    part = next(tokens)
    if part.startswith('"'):
        return _ESCAPE.sub(lambda sign: _unescaped(sign[1]), part[1:-1])
    if part != "{":
        return {"true": True, "false": False, "nil": None}.get(part, part)
    table: dict[Any, Any] = {}
    while (part := next(tokens)) != "}":
        if part == ",":
            continue
        if part != "[" or depth == _DEEPEST:
            raise ValueError("no table as KOReader writes it")
        key = str(_value(tokens, depth + 1))
        if (next(tokens), next(tokens)) != ("]", "="):
            raise ValueError("no table as KOReader writes it")
        table[key] = _value(tokens, depth + 1)
    return table


def _unescaped(sign: str) -> str:
    return chr(int(sign) % 256) if sign.isdecimal() else _WRITTEN.get(sign, sign)
