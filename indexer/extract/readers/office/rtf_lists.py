r"""Reads the lists that an RTF file defines (`\listtable`), as Word's definitions: new programs write no numbers.

A paragraph names a list (`\ls1`) and a level (`\ilvl0`). Before such a table, or for old programs, its number stands
in the text (`\listtext`, `\pntext`), which `rtf_content` takes as it is.
"""

import re
from collections.abc import Iterator

from longsearch.indexer.extract.readers.office.word.numbering import Numbering

_TOKEN = re.compile(r"\\(?:(?P<word>[a-zA-Z]+)(?P<number>-?\d{1,10})? ?|(?P<sign>[^a-zA-Z]))|(?P<brace>[{}])|[^\\{}]+")
_FORMATS = {
    0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 5: "ordinal",
    6: "cardinalText", 7: "ordinalText", 22: "decimalZero", 23: "bullet", 255: "none",
}  # fmt: skip
"""Numbers of `\\levelnfc` -> Word's names of the formats."""
_MAX_CHARACTERS = 5_000_000
"""The most that is read of a table of lists. Word also keeps the lists of documents from which a person copied."""
_N_LEVELS = 9


def lists_in(source: str) -> Numbering | None:
    """Return the lists of a file whose characters are spelled out, by the numbers of `\\ls`; None if it has none."""
    numbering = Numbering()
    for table in _tables(source, "listtable"):
        _define(numbering, table)
    tables = list(_tables(source, "listoverridetable"))
    for table in tables:
        _name(numbering, table)
    return numbering if tables else None


def _tables(source: str, name: str) -> Iterator[list[re.Match[str]]]:
    """Yield the tokens of each group of this name, without its own braces."""
    place = 0
    while (place := source.find(f"\\{name}", place)) >= 0:
        depth, tokens = 1, []
        for token in _TOKEN.finditer(source, place, place + _MAX_CHARACTERS):
            depth += {"{": 1, "}": -1}.get(token["brace"] or "", 0)
            if not depth:
                break
            tokens.append(token)
        place = tokens[-1].end() if tokens else place + 1
        yield tokens


def _define(numbering: Numbering, tokens: list[re.Match[str]]) -> None:
    """Take the definitions: levels, and then the list's number, which comes last."""
    levels: list[dict[str, str]] = []
    label: list[str] | None = None  # the parts of the one that is open
    for token in tokens:
        word, number = token["word"] or "", token["number"] or ""
        if word == "list":
            levels = []
        elif word == "listlevel":
            levels.append({})
        elif word == "listid":
            _add(numbering, number, levels[:_N_LEVELS])
        elif word == "leveltext":
            label = []
        elif label is not None and levels and token["brace"] == "}":
            levels[-1]["lvlText"], label = _label(label), None
        elif label is not None and not (word or token["brace"]):
            label.append(token["sign"] or token[0])
        elif levels:
            levels[-1].update(_property(word, number))


def _property(word: str, number: str) -> dict[str, str]:
    """Return what a control word says of a level, as Word's name and value."""
    match word:
        case "levelnfc" | "levelnfcn":
            return {"numFmt": _FORMATS.get(int(number or 0), "decimal")}
        case "levelstartat":
            return {"start": number}
        case "levellegal":
            return {"isLgl": number or "1"}
        case "levelnorestart" if number != "0":
            return {"lvlRestart": "0"}
    return {}


def _add(numbering: Numbering, identity: str, levels: list[dict[str, str]]) -> None:
    numbering.start("abstractNum", {"abstractNumId": identity})
    for place, level in enumerate(levels):
        numbering.start("lvl", {"ilvl": str(place)})
        for name, value in level.items():
            numbering.start(name, {"val": value})
        numbering.end("lvl")


def _label(words: list[str]) -> str:
    """Return a label in Word's way, "%1.%2": it begins with its length, and has the number of a level for its place."""
    text = "".join(words)
    own = text[1 : 1 + ord(text[0])] if text else ""
    return "".join(f"%{ord(character) + 1}" if ord(character) < _N_LEVELS else character for character in own)


def _name(numbering: Numbering, tokens: list[re.Match[str]]) -> None:
    """Take the numbers that paragraphs name, each with its list and the levels that begin anew."""
    identity, starts, place = "", dict[int, str](), -1
    for token in tokens:
        word, number = token["word"] or "", token["number"] or ""
        if word == "listoverride":
            identity, starts, place = "", {}, -1
        elif word == "listid":
            identity = number
        elif word == "lfolevel":
            place += 1
        elif word == "levelstartat" and place >= 0:
            starts[place] = number
        elif word == "ls":
            numbering.start("num", {"numId": number})
            numbering.start("abstractNumId", {"val": identity})
            for level, start in starts.items():
                numbering.start("lvlOverride", {"ilvl": str(level)})
                numbering.start("startOverride", {"val": start})
            numbering.end("num")
