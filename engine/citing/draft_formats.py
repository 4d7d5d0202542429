"""Puts Markdown's marks for quotations in place of those of other formats of drafts. Pure."""

import re
from collections.abc import Iterable

from longsearch.engine.citing.tex_quotes import is_tex, with_plain_marks

_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|(?<!`)`(?!`)[^`\n]+`(?!`)", re.MULTILINE | re.DOTALL)
_ORG_BLOCK = re.compile(r"^[ \t]*#\+begin_quote[^\n]*\n(.*?)^[ \t]*#\+end_quote[^\n]*$", re.I | re.M | re.DOTALL)
_PLAIN = (".txt", ".text", ".rst")
_INDENTED = re.compile(r"(?<=[^:]:\n\n)(?:(?:\t| {2,})[ \t]*\S[^\n]*(?:\n|\Z))+")
"""A block of plain text that the line before announces; after two colons reStructuredText has code."""
_DOUBLED = re.compile(r"(?<!\w)(?:``|,,)(?=\w)((?:[^\n`]|\n(?!\s*\n)){1,2000}?)(?:''|``|“)")
"""Quotation marks that are typed as two single ones, as in TeX."""
_ORG_CODE = re.compile(r"^[ \t]*#\+begin_(src|example)\b.*?^[ \t]*#\+end_\1[^\n]*$", re.I | re.M | re.DOTALL)
_ANCHOR = re.compile(
    r"<a\s[^<>\n]{0,300}?href\s*=\s*([\"'])(?P<target>[^\n]{1,500}?)\1[^<>\n]{0,300}>(?P<words>[^<>]{0,1000})</a\s*>",
    re.I,
)
_RST_LINK = re.compile(r"`(?P<words>[^`<>]{0,500}?)\s*<(?P<target>[^`<>\n]{1,500})>`__?")
_TYPST_LINK = re.compile(r"#link\(\"(?P<target>[^\"\n]{1,500})\"\)\[(?P<words>[^\[\]]*)\]")
_LINKS = {".rst": _RST_LINK, ".typ": _TYPST_LINK}
"""Links of other formats than Markdown and HTML."""
_DEFINED = re.compile(
    r"^[ ]{0,3}\[(?!\^)([^\[\]\n]{1,200})\]:[ \t]*<?([^\s<>]{1,500})>?(?:[ \t]+[\"'(][^\n]{0,500})?[ \t]*$",
    re.MULTILINE,
)
_REFERENCE = re.compile(r"(?<!\\)\[([^\[\]]{1,500})\](?:\[([^\[\]\n]{0,200})\])?(?![\[(:])")
_TYPST = re.compile(r"#quote\((?:[^()\[\]]|\[[^\[\]]{0,100}\]){0,200}\)\[([^\[\]]*)\]|#quote\[([^\[\]]*)\]")


def with_markdown_marks(draft: str, suffix: str) -> str:
    """Return a draft with Markdown's marks for quotations, and without code. Its lines stay what they are."""
    if is_tex(suffix):
        return with_plain_marks(draft)
    draft = _with_links(draft, suffix)
    if suffix == ".org":
        return _ORG_BLOCK.sub(lambda found: f"\n{as_block(found[1])}", _ORG_CODE.sub(blanked, draft))
    if suffix in _PLAIN:
        draft = _INDENTED.sub(_indented, draft)
        draft = draft if suffix == ".rst" else _DOUBLED.sub(r"“\1”", draft)
    if suffix == ".typ":
        return _TYPST.sub(lambda found: f"“{found[1] or found[2]}”", draft)
    return _CODE.sub(blanked, draft)


def _with_links(draft: str, suffix: str) -> str:
    """Return a draft whose links are all Markdown's inline ones; the definitions of its reference links are blank."""
    for pattern in filter(None, (_ANCHOR, _LINKS.get(suffix))):
        draft = pattern.sub(lambda found: f"[{found['words']}](<{found['target']}>)", draft)
    defined = {_label(found[1]): found[2] for found in _DEFINED.finditer(draft)}
    if not defined:
        return draft

    def inline(found: re.Match[str]) -> str:
        target = defined.get(_label(found[2] or found[1]))
        words = "" if found[2] is None and found[1].isdigit() else found[1]  # a number is no word of the sentence
        return f"[{words}](<{target}>)" if target else found[0]

    return _REFERENCE.sub(inline, _DEFINED.sub(blanked, draft))


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def with_blocks(text: str, quoted: Iterable[tuple[int, int]]) -> str:
    """Return the text of a document with Markdown's mark before the lines of each block quotation.

    A line of its own that names the source of a block becomes the last line of that block.
    """
    parts, at = [], 0
    for start, stop in quoted:
        is_source = bool(at) and not text[at:start].strip() and text.startswith(("—", "–", "--"), start)
        parts += ["\n>\n" if is_source else text[at:start], as_block(text[start:stop])]
        at = stop
    return "".join([*parts, text[at:]])


def as_block(text: str) -> str:
    """Return a text as a block quotation of Markdown."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _indented(found: re.Match[str]) -> str:
    """Return an indented block as one of Markdown, on as many lines; what follows is no part of it."""
    lines = found[0].rstrip("\n")
    return as_block(lines) + found[0][len(lines) :]


def blanked(found: re.Match[str]) -> str:
    """Return what was found as blanks, on as many lines."""
    return re.sub(r"[^\n]", " ", found[0])
