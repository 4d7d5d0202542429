"""A cache of the documents last shown, so that going back and forth in the list reads no document twice. Pure."""

from collections import OrderedDict

from longsearch.engine.types.documents import DocumentText

MAX_DOCUMENTS = 8
MAX_CHARACTERS = 40_000_000
"""Limit for all documents together: 40 to 160 MB of memory. The newest document stays, however long it is."""


class DocumentCache:
    """Keeps documents; drops the least recently used ones first."""

    def __init__(self) -> None:
        self._documents: OrderedDict[int, DocumentText] = OrderedDict()

    def get(self, document_id: int) -> DocumentText | None:
        """Return the document, or None, and count it as used."""
        if document_id in self._documents:
            self._documents.move_to_end(document_id)
        return self._documents.get(document_id)

    def put(self, document_id: int, document: DocumentText) -> None:
        """Keep a document; drop others if the cache is too large."""
        self._documents[document_id] = document
        self._documents.move_to_end(document_id)
        while len(self._documents) > 1 and self._is_too_large():
            self._documents.popitem(last=False)

    def _is_too_large(self) -> bool:
        n_characters = sum(len(document.text) for document in self._documents.values())
        return len(self._documents) > MAX_DOCUMENTS or n_characters > MAX_CHARACTERS
