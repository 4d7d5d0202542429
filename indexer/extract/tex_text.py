"""LaTeX source -> text as a person reads it, through pylatexenc: sections with offsets, mathematics in Unicode.

Macros that the source defines itself are not expanded: of them their arguments stay, and within
mathematics their names. No file is followed: `\\input` and `\\include` leave nothing.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec

from indexer.extract.clean import clean_characters, one_line
from indexer.extract.decoding import decode, read_bytes
from indexer.extract.limits import MAX_TITLE_CHARACTERS
from indexer.extract.messages import FileText
from indexer.extract.text_builder import TextBuilder

LatexNode = Any  # pylatexenc has no types
_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_VERBATIM = frozenset({"verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt"})
_MATHEMATICS = """
equation align gather multline eqnarray displaymath math alignat flalign split array tabular tabularx longtable matrix
"""
_AS_ONE = frozenset(f"{name}{star}" for name in _MATHEMATICS.split() for star in ("", "*"))
"""Environments that pylatexenc is given whole; into others we go for their sections and paragraphs."""
_SILENT = """
label maketitle tableofcontents includegraphics input include bibliography bibliographystyle vspace hspace pagestyle
thispagestyle newpage clearpage noindent centering hline toprule midrule bottomrule thanks title author date ref eqref
pageref autoref cref Cref
"""
_SHOWN = {"item": "\n\n- ", "\\": "\n\n", "and": " / ", "par": "\n\n", "url": "%s"}
_TAKE = {
    "thanks": "{",
    "href": "{{",
    "pagestyle": "{",
    "thispagestyle": "{",
    "bibliographystyle": "{",
    "bibliography": "{",
}
_TAKE |= dict.fromkeys(("autoref", "cref", "Cref", "vspace", "hspace"), "*{")
"""Macros that pylatexenc does not know the arguments of: they would be left behind as text."""
_CITATIONS = ("cite", "citep", "citet")
_EMPTY_LINE = re.compile(r"\n\s*\n")


def read(path: Path) -> FileText:
    """The text of `path`. Raises `ExtractionError`, and errors of pylatexenc's where it fails."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """The text of LaTeX `source`. Raises errors of pylatexenc's where it fails."""
    context = latexwalker.get_default_latex_context_db()
    macros = [macrospec.MacroSpec(name, arguments) for name, arguments in _TAKE.items()]
    context.add_context_category("longsearch", prepend=True, macros=macros)
    walker = latexwalker.LatexWalker(clean_characters(source), latex_context=context, tolerant_parsing=True)
    top, _, _ = walker.get_latex_nodes()
    body = next((node.nodelist for node in top if _environment(node) == "document"), top)
    builder = _Builder()
    title, author = (builder.one_line(_argument_of(name, (*top, *body))) for name in ("title", "author"))
    for line in (title, author):
        builder.text.add(line)
    builder.take(body)
    builder.close_paragraphs()
    return builder.text.file_text(title)


class _Builder:
    """Collects nodes until something ends them: a section, an environment's begin or end."""

    def __init__(self) -> None:
        self.text = TextBuilder()
        self._reader = _reader()
        self._open: list[LatexNode] = []

    def take(self, nodes: Sequence[LatexNode]) -> None:
        """Add what `nodes` say."""
        for node in nodes:
            environment = _environment(node)
            level = _LEVELS.get(node.macroname) if isinstance(node, latexwalker.LatexMacroNode) else None
            if level is not None:
                self.close_paragraphs()
                self.text.add_heading(level, self.one_line(_last_argument(node)))
            elif environment in _VERBATIM:
                self.close_paragraphs()
                self.text.add(_inside(node))
            elif environment and environment not in _AS_ONE:
                self.close_paragraphs()
                self.take(node.nodelist)
                self.close_paragraphs()
            else:
                self._open.append(node)

    def close_paragraphs(self) -> None:
        """Add the text of the open nodes."""
        nodes, self._open = self._open, []
        for paragraph in _EMPTY_LINE.split(self._text(nodes)):
            line = " ".join(paragraph.split())
            self.text.add(line, tight=line.startswith("- "))

    def one_line(self, node: LatexNode | None) -> str:
        """The text of a group, as a title."""
        return one_line(self._text([node]) if node is not None else "", MAX_TITLE_CHARACTERS)

    def _text(self, nodes: Sequence[LatexNode]) -> str:
        try:
            return str(self._reader.nodelist_to_text(list(nodes)))
        except (RecursionError, MemoryError):
            raise
        except Exception:  # a macro with fewer arguments than pylatexenc takes for granted: as it is written
            return "".join(node.latex_verbatim() for node in nodes)


def _reader() -> latex2text.LatexNodes2Text:
    context = latex2text.get_default_latex_context_db()
    macros = [latex2text.MacroTextSpec(name, discard=True) for name in _SILENT.split()]
    macros += [latex2text.MacroTextSpec(name, replacement) for name, replacement in _SHOWN.items()]
    macros.append(latex2text.MacroTextSpec("href", _link_text))
    macros += [latex2text.MacroTextSpec(name, _citation) for name in _CITATIONS]
    context.add_context_category("longsearch", prepend=True, macros=macros)
    context.set_unknown_macro_spec(latex2text.MacroTextSpec("", _unknown))
    return latex2text.LatexNodes2Text(latex_context=context, math_mode="text", keep_comments=False)


def _unknown(node: LatexNode) -> str:
    """A macro of the source's own: in mathematics it stands for a name (\\Hom), elsewhere mostly for looks."""
    return f" {node.macroname} " if node.parsing_state.in_math_mode else ""


def _citation(node: LatexNode, l2tobj: Any) -> str:
    """The keys: authors name them after people and years."""
    return f"[{_link_text(node, l2tobj)}]"


def _link_text(node: LatexNode, l2tobj: Any) -> str:
    """The last argument alone."""
    argument = _last_argument(node)
    return "" if argument is None else str(l2tobj.nodelist_to_text([argument]))


def _environment(node: LatexNode) -> str:
    return str(node.environmentname) if isinstance(node, latexwalker.LatexEnvironmentNode) else ""


def _inside(node: LatexNode) -> str:
    """An environment's source between its begin and its end."""
    source = str(node.latex_verbatim())
    return source.split("}", 1)[-1].rsplit("\\end", 1)[0]


def _last_argument(node: LatexNode) -> LatexNode | None:
    arguments = node.nodeargd.argnlist if node.nodeargd is not None else None
    return arguments[-1] if arguments else None


def _argument_of(name: str, nodes: Sequence[LatexNode]) -> LatexNode | None:
    """The argument of the first macro called `name`."""
    macros = (node for node in nodes if isinstance(node, latexwalker.LatexMacroNode) and node.macroname == name)
    return next((_last_argument(node) for node in macros), None)
