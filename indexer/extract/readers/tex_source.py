"""Prepares LaTeX for its parser: leaves out what is never printed, and expands the author's own simple macros.

TeX is a programming language, and this is no TeX: macros whose arguments are all mandatory, or the first of which is
optional, are expanded; conditions other than \\iffalse and \\iftrue are left to the parser. Pure functions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*)?")
_LITERAL = re.compile(
    r"\\begin\{(?P<name>verbatim\*?|Verbatim|lstlisting|minted|alltt)\}.*?\\end\{(?P=name)\}"
    r"|\\(?:verb\*?|lstinline)(?P<mark>[^\w\s*{])(?P<words>[^\n]*?)(?P=mark)",
    re.DOTALL,
)
_EXCLUDED = re.compile(r"\\excludecomment\s*\{(\w+)\}")
_CONDITION = re.compile(r"\\(if[A-Za-z@]*|else|or|fi)(?![A-Za-z@])")
_IF_NAMES = """
if ifcat ifx ifnum ifdim ifodd ifvmode ifhmode ifmmode ifinner ifvoid ifhbox ifvbox ifeof iftrue iffalse ifcase
ifdefined ifcsname iffontchar ifthispageodd ifpdf ifxetex ifluatex ifPDFTeX ifXeTeX ifLuaTeX
"""
_PRIMITIVE_IFS = frozenset(_IF_NAMES.split())
"""Conditions that end with \\fi; \\ifthenelse and \\ifstrequal do not."""
_NEW_IF = re.compile(r"\\newif\s*\\(if[A-Za-z@]+)")
_SET_IF = re.compile(r"\\([A-Za-z@]+)(true|false)(?![A-Za-z@])")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\s*\\([A-Za-z@]+|.)\s*\}?\s*(?:\[(\d)\])?\s*"
    r"(\[[^\[\]]*\])?\s*(?=\{)|\\(?:long\s*)?[gex]?def\s*\\([A-Za-z@]+)\s*((?:#\d)*)\s*(?=\{)"
    r"|\\DeclareMathOperator\*?\s*\{?\s*\\([A-Za-z@]+)\s*\}?\s*(?=\{)|\\let\s*\\([A-Za-z@]+)\s*=?\s*(\\[A-Za-z@]+)"
)
_CALL = re.compile(r"\\([A-Za-z@]+|.)")
_ENDS_IN_NAME = re.compile(r"\\[A-Za-z@]+$")
_OPTIONAL = re.compile(r"\s*\[([^\[\]]*)\]")
_SPACES = re.compile(r"\s*")
_PARAMETER = re.compile(r"#(\d)")
_ESCAPES = {ord(mark): f"\\{mark}" for mark in "#$%&_{}"} | {ord("\\"): "\\textbackslash{}"}
_MAX_DEPTH = 20
_MAX_GROWTH = 2_000_000
"""Characters that macros may add: a macro that doubles itself is no text."""
_HELD = "\ue000{}\ue001"
_HELD_PLACE = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class _Macro:
    n_arguments: int
    default: str | None
    """The value of its first argument if a call leaves it out; None if it may not."""
    body: str


def prepared(source: str) -> str:
    """Return `source` without comments and withdrawn parts, with the author's macros expanded."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return _HELD.format(len(held) - 1)

    text = _LITERAL.sub(hold, _without_private(source))
    text = _COMMENT.sub(lambda match: match[1], text)
    excluded = "|".join(("comment", *_EXCLUDED.findall(text)))
    withdrawn = re.compile(rf"\\begin\{{({excluded})\}}.*?(?:\\end\{{\1\}}|\Z)", re.DOTALL)
    text = _without_withdrawn(withdrawn.sub("", _EXCLUDED.sub("", text)))
    macros, text = _macros_in(text)
    text = _expanded(text, macros).replace("\\xspace", "{}")
    return _HELD_PLACE.sub(lambda match: _literal(held[int(match[1])]) if int(match[1]) < len(held) else "", text)


def _without_private(source: str) -> str:
    return source.replace("\ue000", "").replace("\ue001", "")


def _literal(source: str) -> str:
    """Return an environment as it is, and the words of \\verb as text that the parser takes for text."""
    match = _LITERAL.fullmatch(source)
    if match is None or match["name"]:
        return source
    return match["words"].translate(_ESCAPES).replace("--", "-{}-")


def _without_withdrawn(text: str) -> str:
    """Leave out what stands between \\iffalse and its \\fi or \\else; of \\iftrue, what stands behind \\else.

    A condition of the author's own (`\\newif`) is what he sets it to, if he sets it to one value alone.
    """
    own = set(_NEW_IF.findall(text))
    settings: dict[str, set[bool]] = {name: set() for name in own}
    for name, value in _SET_IF.findall(text):
        settings.get(f"if{name}", set()).add(value == "true")
    decisions = {name: next(iter(values or {False})) for name, values in settings.items() if len(values) < 2}
    decisions |= {"iffalse": False, "iftrue": True}
    text = _NEW_IF.sub("", text)
    known = _PRIMITIVE_IFS | own
    kept: list[str] = []
    begin = 0
    stack: list[bool | None] = []  # whether each open condition shows its branch; None: not decided here
    for match in _CONDITION.finditer(text):
        name = match[1]
        is_shown = False not in stack
        if name.startswith("if") and name not in known:
            continue
        if is_shown:
            kept.append(text[begin : match.start()])
        decided = decisions.get(name)
        if name.startswith("if"):
            stack.append(decided)
        elif name == "else" and stack:
            decided = stack[-1]
            stack[-1] = None if decided is None else not decided
        elif name == "fi" and stack:
            decided = stack.pop()
        if is_shown and decided is None:
            kept.append(match[0])
        begin = match.end()
    if False not in stack:
        kept.append(text[begin:])
    return "".join(kept)


def _macros_in(text: str) -> tuple[dict[str, _Macro], str]:
    """Return the author's macros, and the text without their definitions."""
    macros: dict[str, _Macro] = {}
    kept, begin = [], 0
    for match in _DEFINITION.finditer(text):
        if match.start() < begin:
            continue
        name = match[1] or match[4] or match[6] or match[7]
        if match[8]:
            body, end = match[8], match.end()
        else:
            body, end = _group(text, match.end())
        n_arguments = int(match[2] or 0) if match[1] else (match[5] or "").count("#")
        default = match[3][1:-1] if match[3] else None
        macros[name] = _Macro(n_arguments, default, f"\\mathrm{{{body}}}" if match[6] else body)
        kept.append(text[begin : match.start()])
        begin = end
    return macros, "".join((*kept, text[begin:]))


def _group(text: str, start: int) -> tuple[str, int]:
    """Return what stands in the braces that open at `start`, and where they end."""
    depth, place = 0, start
    while place < len(text):
        character = text[place]
        if character == "\\":
            place += 1
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if not depth:
                return text[start + 1 : place], place + 1
        place += 1
    return text[start + 1 :], len(text)


def _expanded(text: str, macros: Mapping[str, _Macro]) -> str:
    """Expand macros, and those in them, until none is left."""
    for _ in range(_MAX_DEPTH):
        if not macros:
            return text
        expanded = "".join(_once(text, macros))
        if expanded == text or len(expanded) > len(text) + _MAX_GROWTH:
            return text
        text = expanded
    return text


def _once(text: str, macros: Mapping[str, _Macro]) -> Iterator[str]:
    """Yield `text` with each call of a macro replaced by its body."""
    begin = 0
    for match in _CALL.finditer(text):
        macro = macros.get(match[1])
        if match.start() < begin or macro is None or f"\\{match[1]}" in macro.body:
            continue
        yield text[begin : match.start()]
        arguments, begin = _arguments(text, match.end(), macro)
        body = _filled(macro.body, arguments)
        ends_in_name = _ENDS_IN_NAME.search(body) is not None and text[begin : begin + 1].isalpha()
        yield body + ("{}" if ends_in_name else "")
    yield text[begin:]


def _filled(body: str, arguments: list[str]) -> str:
    """Return a body with its arguments."""
    given = dict(enumerate(arguments, start=1))
    return _PARAMETER.sub(lambda match: given.get(int(match[1]), ""), body)


def _arguments(text: str, place: int, macro: _Macro) -> tuple[list[str], int]:
    """Return the arguments of a call, and where it ends.

    TeX drops the space behind a macro without arguments. It is kept here, as authors mean it.
    """
    arguments: list[str] = []
    if macro.default is not None:
        found = _OPTIONAL.match(text, place)
        arguments.append(found[1] if found else macro.default)
        place = found.end() if found else place
    for _ in range(macro.n_arguments - len(arguments)):
        spaces = _SPACES.match(text, place)
        start = spaces.end() if spaces else place
        if text[start : start + 1] == "{":
            argument, place = _group(text, start)
        else:
            argument = match[0] if (match := _CALL.match(text, start)) else text[start : start + 1]
            place = start + len(argument)
        arguments.append(argument)
    if not macro.n_arguments and text.startswith("{}", place):
        place += 2
    return arguments, place
