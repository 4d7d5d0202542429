"""Writes kept passages as Markdown: a heading for each document, a block quotation for each passage. Pure."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from longsearch.engine.citing.documents import (
    CitedDocument,
    authors_line,
    cited_documents,
    page_words,
    paragraphs,
    plain,
)
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.printable import printable

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$])")
_AT_START = re.compile(r"^(\s*)([#+=-]|\d+(?=[.)]))")


def to_markdown(evidence: Sequence[Evidence]) -> str:
    """Return the quotations by document, each with page, note and links."""
    return "\n".join(_document(document) for document in cited_documents(evidence))


def escaped(text: str) -> str:
    """Return one line of text in which no character acts as Markdown or as HTML."""
    escaped_inside = _SPECIAL.sub(r"\\\1", plain(text)).replace("&", "&amp;")
    return _AT_START.sub(lambda start: start[1] + _harmless(start[2]), escaped_inside)


def _harmless(start: str) -> str:
    """Return the beginning of a list or a heading as text. A digit cannot be escaped, so it becomes an entity."""
    return f"&#{ord(start[0])};{start[1:]}" if start[0].isdigit() else f"\\{start}"


def quoted(evidence: Evidence, source: str = "") -> str:
    """Return a passage as a block quotation, with a last line for its source if there is one."""
    parts = [*(escaped(paragraph) for paragraph in paragraphs(evidence.quote)), *([f"— {source}"] if source else [])]
    return "\n>\n".join(f"> {part}" for part in parts) + "\n"


def source_line(evidence: Evidence) -> str:
    """Return the author, the year, the title and the place: "Ann Lee (2004), *Cooling towers*, p. 12"."""
    year = f"({escaped(evidence.year)})" if evidence.year else ""
    who = " ".join(filter(None, (escaped(authors_line(evidence.authors)), year)))
    return ", ".join(filter(None, (who, f"*{escaped(evidence.title)}*", _page(evidence))))


def _page(evidence: Evidence) -> str:
    return page_words(evidence) + (" (OCR)" if evidence.is_ocr and evidence.page is not None else "")


def link_of(evidence: Evidence) -> str:
    """Return a link to the page: in the reference manager if it knows the document, else to the file."""
    if evidence.link:
        return evidence.link
    page = f"#page={evidence.page}" if evidence.page is not None else ""
    path = PurePath(evidence.path)
    return path.as_uri() + page if path.is_absolute() else ""


def _document(document: CitedDocument) -> str:
    evidence = document.first
    about = [escaped(authors_line(evidence.authors, most=10)), escaped(evidence.date)]
    about += [
        escaped(f"doi:{evidence.doi}") if evidence.doi else "",
        escaped(f"arXiv:{evidence.arxiv}") if evidence.arxiv else "",
    ]
    about += [f"[@{evidence.citekey}]" if evidence.citekey else "", ", ".join(map(escaped, evidence.collections))]
    lines = [f"## {escaped(evidence.title)}", " · ".join(filter(None, about)), _path(evidence.path)]
    passages = [_passage(passage) for passage in document.passages]
    return "\n\n".join([*filter(None, lines), *passages])


def _path(path: str) -> str:
    """Return a path as code; it holds no line end, and a backtick in it cannot end the code."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", path)), default=0))
    space = " " if "`" in path else ""
    return f"{fence}{space}{printable(path)}{space}{fence}"


def _passage(evidence: Evidence) -> str:
    place = _page(evidence) or escaped(evidence.heading) or "open"
    link = link_of(evidence)
    source = f"[{place}]({link})" if link else place
    return quoted(evidence, source) + (f"\n{escaped(evidence.note)}\n" if evidence.note else "")
