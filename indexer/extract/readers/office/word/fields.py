"""Follows Word's fields: an instruction, and the result that Word shows. Knows no paragraph."""

import re
import shlex
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.office.word.symbols import symbol

_BELOW_HEADINGS = 10
_MAX_DEPTH = 10
_PART_OF_EQUATION = re.compile(r"\\([a-zA-Z])\w*(?:\s*\\\w+)*\s*\(([^()\\]*)\)")
_LINK = re.compile(r'\s*HYPERLINK\s+"([^"]*)"', re.IGNORECASE)
_NUMBERS = {
    "AUTONUM": (("{}. ", "decimal"),),
    "AUTONUMLGL": (("{}. ", "decimal"),),
    "AUTONUMOUT": (
        ("{}. ", "upperRoman"), ("{}. ", "upperLetter"), ("{}. ", "decimal"), ("{}) ", "lowerLetter"),
        ("({}) ", "decimal"), ("({}) ", "lowerLetter"), ("({}) ", "lowerRoman"),
    ),
    "LISTNUM": (("{}) ", "decimal"),),
}  # fmt: skip
"""Fields that number paragraphs -> how they write the number at each level of headings."""


@dataclass(slots=True)
class _Field:
    instruction: list[str] = field(default_factory=list)
    has_result: bool = False
    is_checked: bool | None = None
    choices: list[str] = field(default_factory=list)
    chosen: int = 0


class Fields:
    """The fields that are open, the innermost last. They may span paragraphs."""

    def __init__(self) -> None:
        self._open: list[_Field] = []
        self._counts: dict[str, dict[int, int]] = {}

    @property
    def hides(self) -> bool:
        """Whether what is read now is a result that serves as part of another field's instruction."""
        return any(not one.has_result for one in self._open[:-1])

    def mark(self, kind: str, level: int = 0) -> str:
        """Follow a mark: "begin", "separate" or "end". Return the text of a field that stores none, or a draft's mark.

        `level` of the paragraph as a heading, from 1; 0 if it is none.
        """
        if kind == "begin":
            self._open.append(_Field())
        elif kind == "separate" and self._open:
            self._open[-1].has_result = True
            return draft.link_begin(link_target("".join(self._open[-1].instruction)))
        elif kind == "end" and self._open:
            ended = self._open.pop()
            if not any(not one.has_result for one in self._open):
                if not ended.has_result:
                    return self._counted(ended, level) or _made(ended)
                return _box(ended) or draft.link_end(link_target("".join(ended.instruction)))
        return ""

    def _counted(self, ended: _Field, level: int) -> str:
        """Return the number that a field gives its paragraph, which no file stores; "" if it gives none."""
        name = "".join(ended.instruction).strip().partition(" ")[0].upper()
        if name not in _NUMBERS:
            return ""
        place = level or _BELOW_HEADINGS
        counts = {above: number for above, number in self._counts.get(name, {}).items() if above <= place}
        counts[place] = counts.get(place, 0) + 1
        self._counts[name] = counts
        if name == "AUTONUMLGL":
            return ".".join(str(counts[above]) for above in sorted(counts)) + ". "
        pattern, kind = _NUMBERS[name][min(level or 1, len(_NUMBERS[name])) - 1]
        return pattern.format(numeral(counts[place], kind))

    def instruct(self, text: str) -> None:
        """Take a piece of the innermost field's instruction."""
        if self._open and not self._open[-1].has_result:
            self._open[-1].instruction.append(text)

    def check(self, is_checked: bool) -> None:
        """The innermost field is a box to be ticked."""
        if self._open:
            self._open[-1].is_checked = is_checked

    def tick(self, is_ticked: bool) -> None:
        """If the innermost field is a box, say whether it is ticked."""
        if self._open and self._open[-1].is_checked is not None:
            self._open[-1].is_checked = is_ticked

    def offer(self, choice: str) -> None:
        """The innermost field is a list; this is one of its choices."""
        if self._open:
            self._open[-1].choices.append(choice)

    def choose(self, number: int) -> None:
        """Choose an entry of the list, from 0."""
        if self._open:
            self._open[-1].chosen = number


def link_target(instruction: str) -> str:
    """Return where a field that is a link leads; "" for other fields, and for places in the document itself."""
    found = _LINK.match(instruction)
    return found[1].replace("\\\\", "\\") if found else ""


def _box(ended: _Field) -> str:
    """Return the look of a box to be ticked, or the chosen entry of a list."""
    if ended.is_checked is not None:
        return "☒" if ended.is_checked else "☐"
    return ended.choices[ended.chosen] if ended.chosen < len(ended.choices) else ""


def _made(ended: _Field) -> str:
    """Return what Word makes of a field without a stored result."""
    if shown := _box(ended):
        return shown
    words = "".join(ended.instruction).split(maxsplit=2)
    match words[0].upper() if words else "":
        case "MACROBUTTON" if len(words) > 2:
            return words[2].strip()
        case "SYMBOL" if len(words) > 1:
            return _symbol(words[1:])
        case "EQ" if len(words) > 1:
            return _equation(" ".join(words[1:]))
        case "QUOTE":
            return " ".join(_quoted("".join(ended.instruction)))
    return ""


def _equation(instruction: str) -> str:
    """Return a formula of the old field on a line: \\f(a,b) is a/b, \\r(3,x) a root, other parts stand as they are."""
    for _ in range(_MAX_DEPTH):
        simpler = _PART_OF_EQUATION.sub(_part_of_equation, instruction)
        if simpler == instruction:
            break
        instruction = simpler
    return instruction.translate({ord("{"): "(", ord("}"): ")"}).strip()


def _part_of_equation(match: re.Match[str]) -> str:
    arguments = [argument.strip() for argument in re.split("[,;]", match[2])]
    if match[1].lower() == "f" and len(arguments) == 2:
        return "/".join(part if part.isalnum() else f"{{{part}}}" for part in arguments)
    if match[1].lower() == "r":
        return (arguments[0] if len(arguments) > 1 else "") + f"√{{{arguments[-1]}}}"
    return " ".join(arguments)


def _symbol(words: list[str]) -> str:
    try:
        code = int(words[0], 0)
    except ValueError:
        return ""
    font = next(iter(_quoted(words[1] if len(words) > 1 else "")[1:]), "")
    return symbol(font, code)


def _quoted(instruction: str) -> list[str]:
    try:
        return (
            shlex.split(instruction)[1:]
            if instruction.lstrip().upper().startswith("QUOTE")
            else shlex.split(instruction)
        )
    except ValueError:
        return []
