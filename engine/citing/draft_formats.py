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
_TYPST = re.compile(r"#quote\((?:[^()\[\]]|\[[^\[\]]{0,100}\]){0,200}\)\[([^\[\]]*)\]|#quote\[([^\[\]]*)\]")


def with_markdown_marks(draft: str, suffix: str) -> str:
    """Return a draft with Markdown's marks for quotations, and without code. Its lines stay what they are."""
    if is_tex(suffix):
        return with_plain_marks(draft)
    if suffix == ".org":
        return _ORG_BLOCK.sub(lambda found: f"\n{as_block(found[1])}", _ORG_CODE.sub(blanked, draft))
    if suffix in _PLAIN:
        draft = _INDENTED.sub(_indented, draft)
        draft = draft if suffix == ".rst" else _DOUBLED.sub(r"“\1”", draft)
    if suffix == ".typ":
        return _TYPST.sub(lambda found: f"“{found[1] or found[2]}”", draft)
    return _CODE.sub(blanked, draft)


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
