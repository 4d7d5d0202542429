r"""Puts plain quotation marks, and Markdown's blocks, in place of LaTeX's own and of those of csquotes. Pure.

\enquote{…}  \textquote[cite]{…}  \textcquote{key}{…}  \blockquote{…}  \foreignquote{lang}{…}  \say{…}
``…''  `…'  \glqq…\grqq  \og…\fg  \flqq…\frqq  \guillemotleft…  \textquotedblleft…
\begin{quote}…\end{quote}, and so quotation, quoting, displayquote and displaycquote
"""

import re

from longsearch.engine.citing.bib_reader import without_latex

_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BLOCK = re.compile(
    r"\\begin\{(quote|quotation|quoting|display(?:c?)quote)\}((?:\[[^\]\n]{0,200}\]){0,2})(.*?)\\end\{\1\}", re.DOTALL
)
_KEY = re.compile(r"\s*\{([^{}\n]{1,200})\}")
_COMMAND = re.compile(r"\\(?:(?P<foreign>foreign|hyphen)?(?:text|block)?(?P<key>c)?quote|enquote|say)\*?(?=[\[{])")
_OPTION = re.compile(r"\s*\[([^\]\n]{0,300})\]")
_LINK = re.compile(r"\\href\s*\{([^{}\n]{1,500})\}\{([^{}\n]{0,300})\}|\\url\{([^{}\n]{1,500})\}")
_NOTE = re.compile(
    r"\s?\\(?:footnote|[a-zA-Z]*cite[a-zA-Z]*)\*?(?:\[[^\]]{0,300}\]){0,2}\{(?:[^{}]|\{[^{}]{0,200}\}){0,1000}\}"
)
_NAMED = re.compile(
    r"\{?\\(?:(?P<o>glqq|textquotedblleft)|(?P<c>grqq|textquotedblright)|(?P<l>flqq|og|guillemotleft|guillemetleft)"
    r"|(?P<r>frqq|fg|guillemotright|guillemetright))(?![A-Za-z])(?:\{\}|\}|[ ](?=[^\W\d_]))?"
)
_MARKS = {"o": "“", "c": "”", "l": "«", "r": "»"}
_SINGLE = re.compile(r"(?<!\\)[`']")
"""As it is printed; behind a backslash it is an accent."""
_LONGEST, _DEEPEST = 4_000, 10
_INNER = (
    (re.compile(r"\\textelp\{([^{}]*)\}"), "[…]"),
    (re.compile(r"\\textins\*?\{([^{}]*)\}"), r"[\1]"),
    (re.compile(r"\\l?dots(?:\{\}|(?![A-Za-z]))"), "…"),
    (re.compile(r"\\[,;! ]"), " "),
)


def is_tex(suffix: str) -> bool:
    """Whether a file with this ending holds LaTeX."""
    return suffix in (".tex", ".ltx")


def with_plain_marks(tex: str) -> str:
    """Return LaTeX with plain marks; its lines stay what they are."""
    text = _COMMENT.sub(lambda found: " " * len(found[0]), tex)
    for pattern, plain in _INNER:
        text = pattern.sub(plain, text)
    text = _LINK.sub(_as_link, text)
    text = _NAMED.sub(lambda found: _MARKS[found.lastgroup or "o"], text)
    text = _commands(_BLOCK.sub(_as_block, text))
    return _SINGLE.sub(lambda mark: "‘" if mark[0] == "`" else "’", text.replace("``", "“").replace("''", "”"))


def _as_link(found: re.Match[str]) -> str:
    """Return a link as one of Markdown. The comments are gone: what is left of a percent sign has a backslash."""
    address = re.sub(r"\\([#%&_~])", r"\1", found[1] or found[3])
    return f"[{found[2] or ''}](<{address}>)"


def _as_block(found: re.Match[str]) -> str:
    """Return an environment as a block of Markdown, and its source behind it."""
    inner, source = found[3], found[2]
    if found[1] == "displaycquote" and (key := _KEY.match(inner)):
        inner, source = inner[key.end() :], rf"\cite{{{key[1]}}}"
    return "\n".join(f"> {line}" for line in inner.split("\n")) + source


def printed(tex: str) -> str:
    """Return a quotation as it is printed, without its notes and citations."""
    return without_latex(_NOTE.sub(" ", tex))


def _commands(text: str, depth: int = 0) -> str:
    """Replace the commands, the outer ones first, so that the inner ones are nested in their marks."""
    parts, at = [], 0
    while depth < _DEEPEST and (found := _COMMAND.search(text, at)):
        parts.append(text[at : found.start()])
        at, replaced = _replaced(text, found, depth)
        parts.append(replaced)
    return "".join([*parts, text[at:]])


def _replaced(text: str, found: re.Match[str], depth: int) -> tuple[int, str]:
    """Return where a command ends, and what stands for it."""
    wanted = 1 + bool(found["foreign"]) + bool(found["key"])
    at, options, values = found.end(), [], list[str]()
    while len(values) < wanted:
        if option := _OPTION.match(text, at):
            options.append(option[1])
            at = option.end()
            continue
        stop = _closing(text, at)
        if stop is None:
            return found.end(), " "
        values.append(text[at + 1 : stop])
        at = stop + 1
    source = rf" \cite{{{values[-2]}}}" if found["key"] else "".join(f" {option}" for option in options)
    inner = values[-1].replace("\n\n", "\n \n")  # one paragraph
    return at, f"“{_commands(inner, depth + 1)}”{source}"


def _closing(text: str, at: int) -> int | None:
    """Return where the brace at `at` closes; None if there is none, or none closes it."""
    depth = 0
    for place in range(at, min(len(text), at + _LONGEST)):
        if text[place] in "{}" and text[place - 1] != "\\":
            depth += 1 if text[place] == "{" else -1
        if not depth:
            return place if place > at else None
    return None
