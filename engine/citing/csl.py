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
    one = document.first
    item: dict[str, Any] = {"id": document.key, "type": "document", "title": plain(one.title)}
    if one.authors:
        item["author"] = [_name(author) for author in one.authors]
    if parts := [int(part) for part in one.date.split("-")[:3] if part.isdigit()]:
        item["issued"] = {"date-parts": [parts]}
    if one.doi:
        item["DOI"] = plain(one.doi)
    if one.arxiv:
        item |= {"archive": "arXiv", "archive_location": plain(one.arxiv)}
    if one.language:
        item["language"] = plain(one.language)
    item["note"] = "\n\n".join(map(_note, document.passages))
    item["custom"] = {"path": printable(one.path), "quotations": [_quotation(passage) for passage in document.passages]}
    return item


def _name(author: str) -> dict[str, str]:
    name = name_of(author)
    return {"family": name.family, "given": name.given} if name.given else {"literal": name.family}


def _note(one: Evidence) -> str:
    place = f" ({page_words(one)})" if one.page is not None else ""
    quote = "\n".join(paragraphs(one.quote))
    return f"“{quote}”{place}" + (f" {plain(one.note)}" if one.note else "")


def _quotation(one: Evidence) -> dict[str, Any]:
    quote = "\n\n".join(paragraphs(one.quote))
    return {"quote": quote, "page": one.page, "heading": plain(one.heading), "note": plain(one.note)}
