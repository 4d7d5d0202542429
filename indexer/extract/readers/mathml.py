"""Writes a formula of MathML on one line: (a+b)/c, x^2, √(x). Web pages, books and OpenDocument files have them."""

from collections.abc import Mapping, Sequence

_NOT_SHOWN = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
"""Signs that say "times" or "of" and are not drawn."""
_PATTERNS = {
    "mfrac": ("{grouped[0]}/{grouped[1]}", 2),
    **dict.fromkeys(("msup", "mover"), ("{0}^{grouped[1]}", 2)),
    **dict.fromkeys(("msub", "munder"), ("{0}_{grouped[1]}", 2)),
    **dict.fromkeys(("msubsup", "munderover"), ("{0}_{grouped[1]}^{grouped[2]}", 3)),
    "mroot": ("{1}√({0})", 2),
}
"""Element -> how it is written, if it has so many parts."""
_BETWEEN = {"mtr": " ", "mlabeledtr": " ", "mtable": "; "}
_ACCENTS = frozenset("^~¯‾˙¨→⃗ˆ˜_̲")


class MathLine:
    """Takes the events of one formula."""

    def __init__(self) -> None:
        self.text = ""
        self._open: list[tuple[str, Mapping[str, str | None], list[str]]] = []

    def start(self, name: str, attributes: Mapping[str, str | None]) -> None:
        """An element begins."""
        self._open.append((name, attributes, []))

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._open and not text.isspace():
            self._open[-1][2].append(" ".join(text.translate(_INVISIBLE).split()))

    def end(self) -> bool:
        """An element ends. Return whether it was the formula: then `text` has it."""
        if self._open:
            name, attributes, parts = self._open.pop()
            written = "" if name in _NOT_SHOWN else _written(name, attributes, parts)
            if self._open:
                self._open[-1][2].append(written)
            else:
                self.text = written
        return not self._open


def _written(name: str, attributes: Mapping[str, str | None], parts: Sequence[str]) -> str:
    """Return an element of which the parts are written."""
    pattern, n_parts = _PATTERNS.get(name, ("", 0))
    if len(parts) == 2 and pattern and (not parts[1] or parts[1] in _ACCENTS) and name != "mfrac":
        return "".join(parts)
    if n_parts and len(parts) == n_parts:
        return pattern.format(*parts, grouped=[_grouped(part) for part in parts])
    if name == "mfenced":
        inner = (attributes.get("separators") or ",").strip()[:1].join(parts)
        return f"{attributes.get('open') or '('}{inner}{attributes.get('close') or ')'}"
    if name == "msqrt":
        return f"√({''.join(parts)})"
    if name == "semantics":  # the formula, and then what it means in other languages
        return parts[0] if parts else ""
    return f" {' '.join(parts)} " if name == "mtext" and parts else _BETWEEN.get(name, "").join(parts)


def _grouped(part: str) -> str:
    return part if len(part) < 2 or part.isalnum() else f"({part})"
