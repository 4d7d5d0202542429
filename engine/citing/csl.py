"""Writes kept passages as CSL-JSON: an item for each document, its quotations in `note` and in `custom`. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from longsearch.engine.citing.documents import CitedDocument, cited_documents, name_of, page_words, paragraphs, plain
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.printable import printable


def to_csl(evidence: Sequence[Evidence]) -> str:
    """Return a JSON array as citation managers and pandoc read it."""
    return json.dumps([_item(document) for document in cited_documents(evidence)], indent=2, ensure_ascii=False) + "\n"


def _item(document: CitedDocument) -> dict[str, Any]:
    """Return an item. Its type is `document`, because a file does not say in what it was published."""
    evidence = document.first
    item: dict[str, Any] = {"id": document.key, "type": "document", "title": plain(evidence.title)}
    if evidence.authors:
        item["author"] = [_name(author) for author in evidence.authors]
    if parts := [int(part) for part in evidence.date.split("-")[:3] if part.isdigit()]:
        item["issued"] = {"date-parts": [parts]}
    if evidence.doi:
        item["DOI"] = plain(evidence.doi)
    if evidence.arxiv:
        item |= {"archive": "arXiv", "archive_location": plain(evidence.arxiv)}
    if evidence.language:
        item["language"] = plain(evidence.language)
    item["note"] = "\n\n".join(map(_note, document.passages))
    item["custom"] = {
        "path": printable(evidence.path),
        "quotations": [_quotation(passage) for passage in document.passages],
    }
    return item


def _name(author: str) -> dict[str, str]:
    name = name_of(author)
    return {"family": name.family, "given": name.given} if name.given else {"literal": name.family}


def _note(evidence: Evidence) -> str:
    place = f" ({page_words(evidence)})" if evidence.page is not None else ""
    quote = "\n".join(paragraphs(evidence.quote))
    return f"“{quote}”{place}" + (f" {plain(evidence.note)}" if evidence.note else "")


def _quotation(evidence: Evidence) -> dict[str, Any]:
    quote = "\n\n".join(paragraphs(evidence.quote))
    return {"quote": quote, "page": evidence.page, "heading": plain(evidence.heading), "note": plain(evidence.note)}
