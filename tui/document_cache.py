"""The last few documents looked at, so that going back and forth in the list reads nothing twice. Pure."""

from collections import OrderedDict

from engine.types import DocumentText

MAX_DOCUMENTS = 8
MAX_CHARACTERS = 40_000_000
"""All together; 40 to 160 MB of memory. The newest is kept whatever its length."""


class DocumentCache:
    """Least recently used documents go first."""

    def __init__(self) -> None:
        self._documents: OrderedDict[int, DocumentText] = OrderedDict()

    def get(self, document_id: int) -> DocumentText | None:
        """The document, or None; it counts as used."""
        if document_id in self._documents:
            self._documents.move_to_end(document_id)
        return self._documents.get(document_id)

    def put(self, document_id: int, document: DocumentText) -> None:
        """Keep a document, and let go of others where it is too much."""
        self._documents[document_id] = document
        self._documents.move_to_end(document_id)
        while len(self._documents) > 1 and self._is_too_much():
            self._documents.popitem(last=False)

    def _is_too_much(self) -> bool:
        n_characters = sum(len(document.text) for document in self._documents.values())
        return len(self._documents) > MAX_DOCUMENTS or n_characters > MAX_CHARACTERS
