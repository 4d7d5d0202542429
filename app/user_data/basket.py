"""The basket: passages that a person keeps as evidence, in an order of theirs. Knows no index.

Each change is remembered as what it takes to undo it: the order before it, and the passages that it changed or removed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.errors import LongsearchError

MAX_UNDONE = 20
"""Changes that can be undone."""


@dataclass(frozen=True, slots=True)
class BasketContent:
    """The content of the basket."""

    passages: tuple[Evidence, ...]
    undoes: str
    """The change that `undo` would take back, in words; "" if there is none."""


class Basket:
    """Reads and changes the file of the basket. All methods raise LongsearchError if the file cannot be used."""

    def __init__(self) -> None:
        self.file = UserFile("basket.json", _check)

    def content(self) -> BasketContent:
        """Return what is in the basket."""
        known = self.file.read()
        undone = known.get("undo", [])
        return BasketContent(tuple(_passages(known)), str(undone[-1].get("what", "")) if undone else "")

    def add(self, one: Evidence) -> bool:
        """Put a passage at the end. Returns False if it is in the basket already."""
        with self.file.changing() as known:
            passages = _passages(known)
            if any(_is_same(one, other) for other in passages):
                return False
            _change(known, [*passages, one], "adding a passage")
            return True

    def remove(self, ids: Sequence[str]) -> int:
        """Remove passages. Returns how many were there."""
        with self.file.changing() as known:
            passages = _passages(known)
            left = [one for one in passages if one.id not in ids]
            if len(left) < len(passages):
                _change(known, left, "removing a passage" if len(ids) == 1 else f"removing {len(ids)} passages")
            return len(passages) - len(left)

    def clear(self) -> int:
        """Remove everything. Returns how many passages there were."""
        with self.file.changing() as known:
            n_passages = len(_passages(known))
            if n_passages:
                _change(known, [], "clearing the basket")
            return n_passages

    def move(self, id_: str, step: int) -> None:
        """Move a passage down (1) or up (-1), as far as there is room."""
        with self.file.changing() as known:
            passages = _passages(known)
            at = next((at for at, one in enumerate(passages) if one.id == id_), None)
            if at is None or not 0 <= at + step < len(passages):
                return
            one = passages.pop(at)
            passages.insert(at + step, one)
            _change(known, passages, "moving a passage")

    def annotate(self, id_: str, note: str) -> None:
        """Write a note to a passage; "" removes it. Raises LongsearchError for a passage that is not there."""
        with self.file.changing() as known:
            passages = _passages(known)
            if all(one.id != id_ for one in passages):
                raise LongsearchError(f"there is no passage {id_} in the basket", "see them: longsearch basket")
            noted = [replace(one, note=note) if one.id == id_ else one for one in passages]
            if noted != passages:
                _change(known, noted, "a note")

    def undo(self) -> str:
        """Take the last change back. Returns it in words; "" if there was none."""
        with self.file.changing() as known:
            changes = known.get("undo", [])
            if not changes:
                return ""
            change = changes.pop()
            by_id = {one.id: one for one in _passages(known)}
            by_id |= {raw["id"]: Evidence.from_json(raw) for raw in change["passages"]}
            known["passages"] = [by_id[id_].to_json() for id_ in change["order"] if id_ in by_id]
            return str(change["what"])


def chosen(passages: Sequence[Evidence], name: str) -> Evidence:
    """Return the passage that a person names by its number, from 1, or by its id. Raises LongsearchError."""
    if re.fullmatch(r"\d{1,7}", name) and 1 <= int(name) <= len(passages):
        return passages[int(name) - 1]
    found = [one for one in passages if one.id == name]
    if not found:
        raise LongsearchError(f"there is no passage {name} in the basket", "see them: longsearch basket")
    return found[0]


def _is_same(one: Evidence, other: Evidence) -> bool:
    return (one.path, one.quote) == (other.path, other.quote)


def _passages(known: dict[str, Any]) -> list[Evidence]:
    """Return the passages in the file. Raises LongsearchError if the file holds anything else."""
    try:
        return [Evidence.from_json(raw) for raw in known.get("passages", [])]
    except (ValueError, AttributeError, TypeError) as error:
        raise LongsearchError("basket.json holds something that is no passage", "mend it, or move it away") from error


def _check(known: dict[str, Any]) -> None:
    """Raise an error if this is no basket."""
    _passages(known)
    for change in known.get("undo", []):
        if not isinstance(change["what"], str) or not isinstance(change["order"], list):
            raise ValueError("a change that cannot be undone")
        for raw in change["passages"]:
            Evidence.from_json(raw)


def _change(known: dict[str, Any], new: Sequence[Evidence], what: str) -> None:
    """Put `new` into the file, and note how to come back."""
    old, kept = _passages(known), {one.id: one for one in new}
    lost = [one.to_json() for one in old if kept.get(one.id) != one]
    change = {"what": what, "order": [one.id for one in old], "passages": lost}
    known["undo"] = [*known.get("undo", []), change][-MAX_UNDONE:]
    known["passages"] = [one.to_json() for one in new]
