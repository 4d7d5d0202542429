"""Writes text for LaTeX and BibTeX, so that no character of a document acts as a command. Pure."""

import re

from longsearch.engine.citing.documents import plain
from longsearch.engine.printable import printable

# As commands in braces of their own: BibTeX counts every brace, also one behind a backslash.
_SPECIAL = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",
    "}": r"{\textbraceright}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "<": r"{\textless}",
    ">": r"{\textgreater}",
    "|": r"{\textbar}",
    '"': r"{\char34}",  # the german of babel makes it a command
    **{character: "\\" + character for character in "&%$#_"},
}
_TABLE = str.maketrans(_SPECIAL)


def latex(text: str) -> str:
    """Return a text as LaTeX prints it letter by letter: one line, special characters escaped. UTF-8 stays as it is."""
    return plain(text).translate(_TABLE)


def verbatim(text: str) -> str:
    """Return a value of a field that BibLaTeX reads verbatim, such as `doi` or `file`: braces and the like as %7B."""
    return re.sub(r"[{}\\\n]", lambda found: f"%{ord(found[0]):02X}", printable(text))
