"""Extract the text of reStructuredText as a person reads it, with docutils' parser; headings with their offsets.

No transform runs, and no file is read or fetched: `include`, `raw` and tables from files are switched off. Directives
and roles that docutils does not know (Sphinx has hundreds) contribute their words. Substitutions and references are not
resolved: their words stay.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Directive, Parser, directives, roles

from longsearch.indexer.extract.clean import clean_characters, unwrapped
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.numerals import numeral
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.table_head import CELL_SEPARATOR
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata, limited

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": utils.Reporter.SEVERE_LEVEL + 1,
    "halt_level": utils.Reporter.SEVERE_LEVEL + 1,
    "warning_stream": False,
    "syntax_highlight": "none",
    "line_length_limit": 1_000_000,
}
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.raw, nodes.pending)
_WORDLESS = frozenset({"toctree", "index", "highlight", "currentmodule", "module", "testsetup", "testcleanup"})
_CODE = frozenset({"code", "code-block", "sourcecode"})
_REFUSED = re.compile(r'Error in "[^"]*" directive')
_ROLE_TARGET = re.compile(r"\s*<[^<>]*>$")
_SOURCE = "field list"
_NUMERALS = {
    "loweralpha": "lowerLetter",
    "upperalpha": "upperLetter",
    "lowerroman": "lowerRoman",
    "upperroman": "upperRoman",
}


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`, and docutils' own errors if it fails."""
    return parse(decode(read_bytes(path)))


def parse(source: str) -> FileText:
    """Return the text of reStructuredText `source`. Raises docutils' own errors if it fails."""
    settings = frontend.get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    document = utils.new_document("", settings)
    found_directive, found_role = directives.directive, roles.role
    directives.directive, roles.role = _directive_finder(found_directive), _role_finder(found_role)
    try:
        Parser().parse(clean_characters(source), document)
    finally:
        directives.directive, roles.role = found_directive, found_role
    text = TextBuilder()
    _take_children(document, text, 0)
    return text.file_text(metadata=_bibliography(document))


def _bibliography(document: nodes.document) -> RawMetadata:
    """Return the fields before the first section, or directly after the title: ":Author: …", ":Date: …"."""
    places = [document, *(child for child in document.children[:3] if isinstance(child, nodes.section))]
    lists = [child for place in places for child in place.children[:4] if isinstance(child, nodes.field_list)]
    fields = (field.children for found in lists[:1] for field in found.children if len(field.children) == 2)
    return limited((name.astext(), body.astext(), _SOURCE) for name, body in fields)


def _directive_finder(find: Callable[..., Any]) -> Callable[..., Any]:
    """Return a look-up that knows every directive. (Sphinx replaces docutils' look-up in the same way.)"""

    def look_up(name: str, *rest: Any) -> tuple[Any, list[Any]]:
        if name.lower() in _CODE:
            return _CodeDirective, []
        found, _ = find(name, *rest)
        return found or _AnyDirective, []

    return look_up


def _role_finder(find: Callable[..., Any]) -> Callable[..., Any]:
    """Return a look-up that knows every role."""

    def look_up(*arguments: Any) -> tuple[Any, list[Any]]:
        found, _ = find(*arguments)
        return found or _any_role, []

    return look_up


class _AnyOptions(dict[str, Callable[[str], str]]):
    """An option specification that accepts every option."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[[str], str]:
        return str


class _AnyDirective(Directive):  # type: ignore[misc] # docutils has no types
    """An unknown directive: its arguments and content are text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOptions()

    def run(self) -> list[nodes.Node]:
        """Return the nodes of its text."""
        if self.name in _WORDLESS:
            return []
        holder = nodes.container()
        holder += [nodes.paragraph("", argument) for argument in self.arguments]
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=False)
        return [holder]


class _CodeDirective(_AnyDirective):
    """Code with any options: docutils refuses the whole directive for some of Sphinx's."""

    def run(self) -> list[nodes.Node]:
        """Return a literal block."""
        return [nodes.literal_block("", "\n".join(self.content))]


def _any_role(
    name: str, source: str, text: str, line: int, inliner: Any, options: Mapping[str, Any] = {}, content: Any = ()
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Reduce an unknown role, such as ":func:`~os.walk`" or ":ref:`the words <target>`", to its words."""
    words = _ROLE_TARGET.sub("", utils.unescape(text)).lstrip("~!")
    return [nodes.inline(source, words or utils.unescape(text))], []


def _take_children(node: nodes.Node, text: TextBuilder, depth: int, tight: bool = False) -> None:
    for child in node.children:
        _take(child, text, depth, tight)


def _take(node: nodes.Node, text: TextBuilder, depth: int, tight: bool) -> None:
    """Add the text of `node`; `depth` counts sections, `tight` marks lines of a list."""
    if isinstance(node, _SKIPPED):
        return
    if isinstance(node, nodes.system_message):
        _take_refused(node, text)
    elif isinstance(node, nodes.section):
        _take_children(node, text, depth + 1)
    elif isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        text.add_heading(depth, node.astext())
    elif isinstance(node, nodes.list_item):
        _take_item(node, text, depth)
    elif isinstance(node, nodes.row):
        text.add(CELL_SEPARATOR.join(_line(entry) for entry in node.children), tight=True)
    elif isinstance(node, (nodes.field, nodes.image, nodes.FixedTextElement)):
        _take_as_a_whole(node, text)
    elif isinstance(node, nodes.TextElement):
        _substitute(node)
        text.add(_line(node), tight)
    else:
        _take_children(node, text, depth, tight)


def _take_as_a_whole(node: nodes.Node, text: TextBuilder) -> None:
    if isinstance(node, nodes.field):
        text.add(": ".join(part.astext() for part in node.children), tight=True)
    elif isinstance(node, nodes.image):
        text.add(Descriptions().line(node.get("alt")))
    else:
        text.add(node.astext())


def _substitute(node: nodes.TextElement) -> None:
    """Put the words of a substitution in the place of its name."""
    for reference in list(node.findall(nodes.substitution_reference)):
        definition = node.document.substitution_defs.get(reference["refname"]) if node.document else None
        if definition is not None and not any(definition.findall(nodes.substitution_reference)):
            reference.replace_self([nodes.Text(definition.astext())])


def _line(node: nodes.Node) -> str:
    return " ".join(unwrapped(node.astext()).split())


def _take_refused(node: nodes.system_message, text: TextBuilder) -> None:
    """Add the source of a directive that docutils refused for an unknown option; ignore every other complaint."""
    blocks = [child for child in node.children if isinstance(child, nodes.literal_block)]
    if blocks and _REFUSED.search(node.astext()):
        text.add(blocks[0].astext())


def _label(item: nodes.list_item) -> str:
    """Return the number of an item, as its list writes it; "-" if it has none."""
    items = item.parent
    if not isinstance(items, nodes.enumerated_list):
        return "-"
    number = numeral(
        int(items.get("start", 1)) + items.index(item), _NUMERALS.get(items.get("enumtype", ""), "decimal")
    )
    return f"{items.get('prefix', '')}{number}{items.get('suffix', '.')}"


def _take_item(node: nodes.list_item, text: TextBuilder, depth: int) -> None:
    """Add the first paragraph with a mark before it, then the rest."""
    first, *rest = node.children or [nodes.paragraph()]
    if isinstance(first, nodes.paragraph):
        text.add(f"{_label(node)} {_line(first)}", tight=True)
    else:
        _take(first, text, depth, tight=True)
    for child in rest:
        _take(child, text, depth, tight=True)
