"""Writes the formulas of Word's editor on one line, as Word itself does: (a+b)/c, x^2, √(x), ∑_(i=1)^n i."""

from collections.abc import Mapping

_MARKS = {"sup": "^", "sub": "_", "lim": "_", "deg": "√"}
"""The sign before a part of a formula: x^2."""
_PARTS = frozenset({"num", "den", "sup", "sub", "lim", "deg"})
_DEFAULTS = {
    "nary": {"chr": "∫"},
    "d": {"begChr": "(", "endChr": ")", "sepChr": "|"},
    "rad": {},
    "f": {},
    "m": {},
    "acc": {"chr": "\u0302"},
}
"""Element -> the characters that it has unless the formula names others."""


class Formula:
    """The open elements of a formula. Text goes straight into the words of the paragraph."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._starts: list[int] = []
        self._characters: list[tuple[str, dict[str, str]]] = []
        self._n_arguments: list[int] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if name in _DEFAULTS:
            self._characters.append((name, dict(_DEFAULTS[name])))
            self._n_arguments.append(0)
        elif name in ("chr", "begChr", "endChr", "sepChr") and self._characters:
            self._characters[-1][1][name] = attributes.get("val", "")
        elif name in _PARTS:
            self._starts.append(len(self._words))
        elif name == "e" and self._characters:
            self._begin_argument(*self._characters[-1])
        elif name == "r" and self._characters and not self._n_arguments[-1] and self._characters[-1][0] == "nary":
            self._write_sign()
        if name in ("sub", "sup") and self._characters and self._characters[-1][0] == "nary":
            self._write_sign()
            self._starts[-1] = len(self._words)

    def _write_sign(self) -> None:
        """Write the sign of a sum or an integral, once, before its limits."""
        if sign := self._characters[-1][1].pop("chr", ""):
            self._words.append(sign)

    def _begin_argument(self, kind: str, characters: dict[str, str]) -> None:
        self._n_arguments[-1] += 1
        if kind == "nary":
            self._write_sign()
        elif kind == "d":
            self._words.append(characters["begChr" if self._n_arguments[-1] == 1 else "sepChr"])
        elif kind == "rad":
            self._words.append("√(" if self._n_arguments[-1] == 1 else "")
        elif kind == "m" and self._n_arguments[-1] > 1:
            self._words.append(" ")

    def end(self, name: str) -> None:
        """An element ends."""
        if name in _PARTS and self._starts:
            self._end_part(name, self._starts.pop())
        elif name in _DEFAULTS and self._characters:
            kind, characters = self._characters.pop()
            n_arguments = self._n_arguments.pop()
            if kind == "d" and n_arguments:
                self._words.append(characters["endChr"])
            elif kind == "rad" and n_arguments:
                self._words.append(")")
            elif kind == "acc" and n_arguments:
                self._words.append(characters["chr"])
        elif name == "mr":
            self._words.append(";")

    def _end_part(self, name: str, start: int) -> None:
        part = "".join(self._words[start:])
        del self._words[start:]
        if not part.strip():
            return
        if len(part) > 1 and not part.isalnum():
            part = f"({part})"
        self._words.append(part + "/" if name == "num" else part if name in ("den", "deg") else _MARKS[name] + part)
