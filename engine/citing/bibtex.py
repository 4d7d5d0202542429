"""Writes kept passages as BibTeX: an entry for each document, with its quotations as annotations. Pure."""

import re
from collections.abc import Sequence

from longsearch.engine.citing.documents import CitedDocument, cited_documents, page_words, paragraphs, plain
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.printable import printable

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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


def to_bibtex(evidence: Sequence[Evidence]) -> str:
    """Return one entry for each document, in the order of the passages; "" without any."""
    return "\n".join(_entry(document) for document in cited_documents(evidence))


def _entry(document: CitedDocument) -> str:
    """Return an entry. Its type is `misc`, because a file does not say in what it was published."""
    evidence = document.first
    fields = [("title", "{" + latex(evidence.title) + "}")]  # the inner braces keep capitals
    if evidence.authors:
        fields.append(("author", " and ".join(map(_author, evidence.authors))))
    if evidence.year:
        fields.append(("year", latex(evidence.year)))
    month = evidence.date[5:7]
    if month.isdigit() and 1 <= int(month) <= 12:
        fields.append(("month", _MONTHS[int(month) - 1]))
    if evidence.doi:
        fields.append(("doi", verbatim(evidence.doi)))
    if evidence.arxiv:
        fields += [("eprint", verbatim(evidence.arxiv)), ("archiveprefix", "arXiv")]
    if evidence.language:
        fields.append(("langid", latex(evidence.language)))
    fields += [("file", verbatim(evidence.path)), ("annote", r" \par ".join(map(_annotation, document.passages)))]
    lines = [f"  {name} = {value if name == 'month' else '{' + value + '}'}," for name, value in fields]
    return "\n".join([f"@misc{{{document.key},", *lines, "}\n"])


def _author(name: str) -> str:
    """Return a name; in braces if BibTeX would take it for several people, or for a name in parts."""
    written = latex(name)
    return "{" + written + "}" if " and " in f" {written.lower()} " or written.count(",") > 1 else written


def _annotation(evidence: Evidence) -> str:
    place = f"{page_words(evidence).replace(' ', '~')}: " if evidence.page is not None else ""
    quote = r" \par ".join(map(latex, paragraphs(evidence.quote)))
    return f"{place}``{quote}''" + (f" --- {latex(evidence.note)}" if evidence.note else "")


def latex(text: str) -> str:
    """Escape a text for LaTeX, on one line, so that it prints each letter. UTF-8 stays as it is."""
    return plain(text).translate(_TABLE)


def verbatim(text: str) -> str:
    """Escape a value that BibLaTeX reads verbatim, such as a `doi` or a `file`: a brace becomes %7B."""
    return re.sub(r"[{}\\\n]", lambda character: f"%{ord(character[0]):02X}", printable(text))
