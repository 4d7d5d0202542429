"""Extract the text of LaTeX as a person reads it, with pylatexenc: sections with offsets, mathematics in Unicode.

Macros that the source defines are expanded first, and what is never printed is left out (see `tex_source`). Of a macro
that is not known the arguments stay, and within mathematics its name. No file is read: `\\input` and `\\include` leave
nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec

from longsearch.indexer.extract.clean import clean_characters, unwrapped, whole_line
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.tex_source import prepared
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import limited

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
_ONE_NODE = frozenset(f"{name}{star}" for name in _MATHEMATICS.split() for star in ("", "*"))
"""Environments that pylatexenc renders as one node. All others are entered, to find their sections and paragraphs."""
_ALT = re.compile(r"[\[,]\s*alt\s*=\s*\{([^{}]*)\}")
"""The option of `\\includegraphics` for those who do not see the picture."""
_DROPPED_MACROS = """
label maketitle tableofcontents input include bibliography bibliographystyle vspace hspace pagestyle
thispagestyle newpage clearpage noindent centering hline toprule midrule bottomrule thanks title author date ref eqref
pageref autoref cref Cref selectlanguage phantom hphantom vphantom
"""
_MACRO_TEXTS = {"\\": "\n\n", "and": " / ", "par": "\n\n", "url": "%s"}
_MACRO_ARGUMENTS = {
    "thanks": "{",
    "href": "{{",
    "pagestyle": "{",
    "thispagestyle": "{",
    "bibliographystyle": "{",
    "bibliography": "{",
}
_MACRO_ARGUMENTS |= dict.fromkeys(("phantom", "hphantom", "vphantom"), "{")
_MACRO_ARGUMENTS |= {
    "caption": "*[{",
    "captionof": "*{[{",
    "hyperref": "[{",
    "selectlanguage": "{",
    "texorpdfstring": "{{",
}
_MACRO_ARGUMENTS |= dict.fromkeys(("foreignlanguage", "mintinline"), "[{{")
_MACRO_ARGUMENTS |= {"SI": "[{[{", "qty": "[{{", "num": "[{", "si": "[{", "unit": "[{", "ang": "[{", "xspace": ""}
_MACRO_ARGUMENTS |= {"SIrange": "[{{{", "qtyrange": "[{{{", "numrange": "[{{"}
_MACRO_ARGUMENTS |= {
    "raisebox": "{[[{",
    "parbox": "[[[{{",
    "multicolumn": "{{{",
    "multirow": "[{[{[{",
    "makebox": "[[{",
}
_MACRO_ARGUMENTS |= {"framebox": "[[{", "resizebox": "*{{{", "scalebox": "{[{", "rotatebox": "[{{", "textcolor": "[{{"}
_MACRO_ARGUMENTS |= {"colorbox": "[{{", "fcolorbox": "[{[{{", "adjustbox": "{{"}
_MACRO_ARGUMENTS |= dict.fromkeys(("autoref", "cref", "Cref", "vspace", "hspace"), "*{")
"""Macro -> its arguments, which pylatexenc does not know and would leave in the text."""
_UNIT_NAMES = """
metre m  meter m  gram g  kilogram kg  second s  ampere A  kelvin K  mole mol  candela cd  hertz Hz  newton N
pascal Pa  joule J  watt W  coulomb C  volt V  farad F  ohm Ω  tesla T  litre l  liter L  minute min  hour h
day d  degree °  celsius °C  degreeCelsius °C  percent %  tonne t  electronvolt eV  bar bar  bit bit  byte B
hectare ha  lumen lm  lux lx  becquerel Bq  radian rad  nano n  micro µ  milli m  centi c  deci d  hecto h
kilo k  mega M  giga G  tera T  pico p  per /  squared ²  cubed ³  square ²  cubic ³  km km  cm cm  mm mm  kg kg
kHz kHz  MHz MHz  GHz GHz  kW kW  ms ms
"""
_UNITS = dict(zip(_UNIT_NAMES.split()[::2], _UNIT_NAMES.split()[1::2], strict=True))
"""Names of units and of their prefixes in siunitx -> what is printed."""
_UNIT = re.compile(r"\\([A-Za-z]+)")
_QUANTITIES = ("SI", "qty", "num", "si", "unit", "ang")
_RANGES = ("SIrange", "qtyrange", "numrange")
_LAST_IS_TEXT_NAMES = """
caption captionof raisebox parbox multicolumn multirow makebox framebox resizebox scalebox rotatebox textcolor colorbox
fcolorbox adjustbox hyperref foreignlanguage mintinline
"""
_LAST_IS_TEXT = _LAST_IS_TEXT_NAMES.split()
"""Macros that print their last argument; the others say how."""
_THEOREM_NAMES = "theorem lemma proposition corollary definition remark example proof conjecture claim exercise problem"
_THEOREMS = frozenset(_THEOREM_NAMES.split())
"""Environments that show their optional argument, a name."""
_CITATIONS = ("cite", "citep", "citet")
_SOURCE = "LaTeX"
_EMPTY_LINE = re.compile(r"\n\s*\n")


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`, and pylatexenc's own errors if it fails."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """Return the text of LaTeX `source`. Raises pylatexenc's own errors if it fails."""
    context = latexwalker.get_default_latex_context_db()
    macros = [macrospec.MacroSpec(name, arguments) for name, arguments in _MACRO_ARGUMENTS.items()]
    context.add_context_category("longsearch", prepend=True, macros=macros)
    walker = latexwalker.LatexWalker(prepared(clean_characters(source)), latex_context=context, tolerant_parsing=True)
    top, _, _ = walker.get_latex_nodes()
    body = next((node.nodelist for node in top if _environment(node) == "document"), top)
    builder = _Builder()
    title, author, date = (builder.line(_argument_of(name, (*top, *body))) for name in ("title", "author", "date"))
    for line in (title, author):
        builder.text.add(line)
    builder.take(body)
    builder.close_paragraphs()
    # the macro "\\and" between two authors has become " / "
    values = (("title", title), ("author", author.replace(" / ", "; ")), ("date", date))
    return builder.text.file_text(title, limited((field, text, _SOURCE) for field, text in values))


class _Builder:
    """Collects nodes until a section begins, or an environment begins or ends."""

    def __init__(self) -> None:
        self.text = TextBuilder()
        self._reader = _reader()
        self._open: list[LatexNode] = []

    def take(self, nodes: Sequence[LatexNode]) -> None:
        """Add the text of `nodes`."""
        for node in nodes:
            environment = _environment(node)
            level = _LEVELS.get(node.macroname) if isinstance(node, latexwalker.LatexMacroNode) else None
            if level is not None:
                self.close_paragraphs()
                self.text.add_heading(level, self.line(_last_argument(node)))
            elif environment in _VERBATIM:
                self.close_paragraphs()
                self.text.add(_inside(node))
            elif environment and environment not in _ONE_NODE:
                self.close_paragraphs()
                if environment.rstrip("*") in _THEOREMS:
                    self.text.add(self.line(_last_argument(node)).strip("[] "))
                self.take(node.nodelist)
                self.close_paragraphs()
            else:
                self._open.append(node)

    def close_paragraphs(self) -> None:
        """Add the text of the open nodes."""
        nodes, self._open = self._open, []
        for paragraph in _EMPTY_LINE.split(self._text(nodes)):
            line = " ".join(unwrapped(paragraph).split())
            self.text.add(line, tight=line.startswith("- "))

    def line(self, node: LatexNode | None) -> str:
        """Return the text of a group on one line."""
        return whole_line(self._text([node]) if node is not None else "")

    def _text(self, nodes: Sequence[LatexNode]) -> str:
        try:
            return str(self._reader.nodelist_to_text(list(nodes)))
        except (RecursionError, MemoryError):
            raise
        except Exception:  # a macro has fewer arguments than pylatexenc assumes: keep the source
            return "".join(node.latex_verbatim() for node in nodes)


def _reader() -> latex2text.LatexNodes2Text:
    context = latex2text.get_default_latex_context_db()
    macros = [latex2text.MacroTextSpec(name, discard=True) for name in _DROPPED_MACROS.split()]
    macros += [latex2text.MacroTextSpec(name, replacement) for name, replacement in _MACRO_TEXTS.items()]
    macros.append(latex2text.MacroTextSpec("href", _link_text))
    macros.append(latex2text.MacroTextSpec("item", _item))
    macros.append(latex2text.MacroTextSpec("includegraphics", _picture))
    macros.append(latex2text.MacroTextSpec("texorpdfstring", _first_text))
    macros += [latex2text.MacroTextSpec(name, _citation) for name in _CITATIONS]
    macros += [latex2text.MacroTextSpec(name, _quantity) for name in _QUANTITIES]
    macros += [latex2text.MacroTextSpec(name, _range) for name in _RANGES]
    macros += [latex2text.MacroTextSpec(name, _link_text) for name in _LAST_IS_TEXT]
    context.add_context_category("longsearch", prepend=True, macros=macros)
    context.set_unknown_macro_spec(latex2text.MacroTextSpec("", _unknown))
    return latex2text.LatexNodes2Text(latex_context=context, math_mode="text", keep_comments=False)


def _unknown(node: LatexNode) -> str:
    """Return the name of an unknown macro (\\Hom) in mathematics. Elsewhere return "": most change only the looks."""
    return f" {node.macroname} " if node.parsing_state.in_math_mode else ""


def _quantity(node: LatexNode, l2tobj: Any) -> str:
    """Return a number and its unit, of siunitx: "120 m"."""
    groups = [argument for argument in node.nodeargd.argnlist if argument is not None] if node.nodeargd else []
    sources = [argument.latex_verbatim() for argument in groups]
    mandatory = [source[1:-1] for source in sources if source.startswith("{")]
    number = mandatory[0] if mandatory and node.macroname in ("SI", "qty", "num", "ang") else ""
    unit = "".join(mandatory[-1:]) if node.macroname in ("SI", "qty", "si", "unit") else ""
    return f"{number}°" if node.macroname == "ang" else _with_unit(number, unit)


def _with_unit(number: str, unit: str) -> str:
    shown = _UNIT.sub(lambda match: _UNITS.get(match[1], match[1]), unit).replace(" ", "").replace(".", "·")
    return number + ("" if shown in ("", "°", "%") or not number else " ") + shown


def _range(node: LatexNode, l2tobj: Any) -> str:
    """Return two numbers and their unit, of siunitx: "2 to 4 kg"."""
    sources = [argument.latex_verbatim() for argument in node.nodeargd.argnlist if argument is not None]
    first, last, *unit = [source[1:-1] for source in sources if source.startswith("{")] or ["", ""]
    return _with_unit(f"{first} to {last}", "".join(unit))


def _item(node: LatexNode, l2tobj: Any) -> str:
    """Return how an item begins: with the term that it explains, if it has one."""
    term = _link_text(node, l2tobj).strip("[] ")
    return f"\n\n- {term} " if term else "\n\n- "


def _picture(node: LatexNode, l2tobj: Any) -> str:
    """Return what is written of a picture, as a paragraph of its own."""
    found = _ALT.search(str(node.latex_verbatim()))
    line = Descriptions().line(found[1]) if found else ""
    return f"\n\n{line}\n\n" if line else ""


def _citation(node: LatexNode, l2tobj: Any) -> str:
    """Return the keys of a citation: authors name them after people and years."""
    return f"[{_link_text(node, l2tobj)}]"


def _link_text(node: LatexNode, l2tobj: Any) -> str:
    """Return the text of the last argument."""
    argument = _last_argument(node)
    return "" if argument is None else str(l2tobj.nodelist_to_text([argument]))


def _first_text(node: LatexNode, l2tobj: Any) -> str:
    """Return the text of the first argument: the second is what bookmarks of a PDF show."""
    arguments = node.nodeargd.argnlist if node.nodeargd is not None else None
    return str(l2tobj.nodelist_to_text(arguments[:1])) if arguments else ""


def _environment(node: LatexNode) -> str:
    return str(node.environmentname) if isinstance(node, latexwalker.LatexEnvironmentNode) else ""


def _inside(node: LatexNode) -> str:
    """Return an environment's source between its begin and its end."""
    source = str(node.latex_verbatim())
    return source.split("}", 1)[-1].rsplit("\\end", 1)[0]


def _last_argument(node: LatexNode) -> LatexNode | None:
    arguments = node.nodeargd.argnlist if node.nodeargd is not None else None
    return arguments[-1] if arguments else None


def _argument_of(name: str, nodes: Sequence[LatexNode]) -> LatexNode | None:
    """Return the argument of the first macro called `name`."""
    macros = (node for node in nodes if isinstance(node, latexwalker.LatexMacroNode) and node.macroname == name)
    return next((_last_argument(node) for node in macros), None)
