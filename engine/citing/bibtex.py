"""Writes kept passages as BibTeX: an entry for each document, with its quotations as annotations. Pure."""

from collections.abc import Sequence

from longsearch.engine.citing.documents import CitedDocument, cited_documents, page_words, paragraphs
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.latex import latex, verbatim

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def to_bibtex(evidence: Sequence[Evidence]) -> str:
    """Return one entry for each document, in the order of the passages; "" without any."""
    return "\n".join(_entry(document) for document in cited_documents(evidence))


def _entry(document: CitedDocument) -> str:
    """Return an entry. Its type is `misc`, because a file does not say in what it was published."""
    one = document.first
    fields = [("title", "{" + latex(one.title) + "}")]  # the inner braces keep capitals
    if one.authors:
        fields.append(("author", " and ".join(map(_author, one.authors))))
    if one.year:
        fields.append(("year", latex(one.year)))
    month = one.date[5:7]
    if month.isdigit() and 1 <= int(month) <= 12:
        fields.append(("month", _MONTHS[int(month) - 1]))
    if one.doi:
        fields.append(("doi", verbatim(one.doi)))
    if one.arxiv:
        fields += [("eprint", verbatim(one.arxiv)), ("archiveprefix", "arXiv")]
    if one.language:
        fields.append(("langid", latex(one.language)))
    fields += [("file", verbatim(one.path)), ("annote", r" \par ".join(map(_annotation, document.passages)))]
    lines = [f"  {name} = {value if name == 'month' else '{' + value + '}'}," for name, value in fields]
    return "\n".join([f"@misc{{{document.key},", *lines, "}\n"])


def _author(name: str) -> str:
    """Return a name; in braces if BibTeX would take it for several people, or for a name in parts."""
    written = latex(name)
    return "{" + written + "}" if " and " in f" {written.lower()} " or written.count(",") > 1 else written


def _annotation(one: Evidence) -> str:
    place = f"{page_words(one).replace(' ', '~')}: " if one.page is not None else ""
    quote = r" \par ".join(map(latex, paragraphs(one.quote)))
    return f"{place}``{quote}''" + (f" --- {latex(one.note)}" if one.note else "")
