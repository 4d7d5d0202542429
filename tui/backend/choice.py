"""Which document the person has chosen among the results. Pure.

A query gets several answers: by words at once, in the chosen mode later, and again when the index changes. Until the
person chooses a document, the best one is in view. A chosen document stays in view, whichever answer comes next.
"""

from collections.abc import Sequence

from longsearch.engine.types.results import DocumentHit


class Choice:
    """The choice among the documents of the current query."""

    def __init__(self) -> None:
        self._is_made = False
        self._expected: int | None = None
        """The document that was chosen before the answer that holds it has arrived."""

    @property
    def is_made(self) -> bool:
        """Whether the person has chosen a document."""
        return self._is_made

    def forget(self) -> None:
        """Start again: there is a new query."""
        self._is_made, self._expected = False, None

    def make(self) -> None:
        """Choose the document in view."""
        self._is_made = True

    def expect(self, document_id: int) -> None:
        """Choose a document of the answer that has not arrived yet."""
        self._is_made, self._expected = True, document_id

    def index_in(self, hits: Sequence[DocumentHit], in_view: DocumentHit | None) -> int | None:
        """Return the index of the hit to select in a new answer; None if the chosen document is not in it."""
        if not self._is_made or in_view is None:
            return 0
        chosen = in_view.document_id if self._expected is None else self._expected
        return next((index for index, hit in enumerate(hits) if hit.document_id == chosen), None)

    def move_to(self, hit: DocumentHit, best: DocumentHit, in_view: DocumentHit | None) -> bool:
        """Note that the cursor is on `hit`; any hit but the best counts as chosen.

        Return whether to leave the text scrolled where the reader is.
        """
        self._expected = None
        self._is_made = self._is_made or hit.document_id != best.document_id
        is_same = in_view is not None and in_view.document_id == hit.document_id
        return is_same and (self._is_made or in_view == hit)
