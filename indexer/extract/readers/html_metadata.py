"""Reads what a web page says of itself: `citation_*`, Dublin Core, Open Graph and the plain names of `<meta>`.

A table says which names give which field, the most trustworthy first. Knows no cleaning: see `extract.metadata`.
"""

from selectolax.lexbor import LexborHTMLParser

from longsearch.indexer.extract.wire.limits import MAX_RAW_VALUES
from longsearch.indexer.extract.wire.values import RawMetadata, limited

_NAMES = {
    "title": ("citation_title", "dc.title", "dcterms.title", "og:title"),
    "author": ("citation_author", "citation_authors", "dc.creator", "dcterms.creator", "article:author", "author"),
    "date": (
        "citation_publication_date", "citation_date", "citation_online_date", "dc.date.issued", "dcterms.issued",
        "dc.date", "dcterms.date", "article:published_time", "datepublished", "date", "pubdate", "dcterms.created",
    ),
    "language": ("citation_language", "dc.language", "dcterms.language", "content-language", "og:locale"),
    "tag": ("citation_keywords", "dc.subject", "dcterms.subject", "article:tag", "keywords", "news_keywords"),
    "doi": ("citation_doi", "dc.identifier"),
    "arxiv": ("citation_arxiv_id",),
    "journal": ("citation_journal_title",),
    "publisher": ("citation_publisher", "dc.publisher", "dcterms.publisher", "og:site_name"),
    "isbn": ("citation_isbn",),
}  # fmt: skip
_FIELD_OF = {name: (place, field) for field, names in _NAMES.items() for place, name in enumerate(names)}


def metadata_of(tree: LexborHTMLParser) -> RawMetadata:
    """Return the values that the page's head holds, by field, each field's most trustworthy first."""
    found: list[tuple[int, str, str, str]] = []
    for meta in tree.css("meta[content]")[: 4 * MAX_RAW_VALUES]:
        attributes = meta.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        name = (name or attributes.get("http-equiv") or "").strip().casefold()
        place, field = _FIELD_OF.get(name.replace("dc:", "dc.").replace("dcterms:", "dcterms."), (0, ""))
        if field:
            found.append((place, field, attributes["content"] or "", name))
    found.sort(key=lambda value: value[0])
    values = [(field, text, name) for _, field, text, name in found]
    if (title := tree.css_first("head title")) is not None:
        values.append(("title", title.text() or "", "HTML title"))
    if (root := tree.css_first("html[lang]")) is not None:
        values.append(("language", root.attributes["lang"] or "", "HTML lang"))
    return limited(values)
