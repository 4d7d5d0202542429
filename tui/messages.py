"""What the backend's answers are called on their way to the main screen. Data only."""

from textual.message import Message

from engine.types import DocumentText, IndexProgress, SearchResults


class Found(Message):
    """An answer to the newest search that has one."""

    def __init__(self, results: SearchResults) -> None:
        super().__init__()
        self.results = results


class Awaited(Message):
    """Whether a further answer to what is in the query line is on its way."""

    def __init__(self, is_awaited: bool) -> None:
        super().__init__()
        self.is_awaited = is_awaited


class DocumentRead(Message):
    """A document's text has come."""

    def __init__(self, document_id: int, document: DocumentText) -> None:
        super().__init__()
        self.document_id = document_id
        self.document = document


class DocumentUnread(Message):
    """A document's text cannot be had; `reason` is one line."""

    def __init__(self, document_id: int, reason: str) -> None:
        super().__init__()
        self.document_id = document_id
        self.reason = reason


class ProgressRead(Message):
    """The index has come to another state."""

    def __init__(self, progress: IndexProgress) -> None:
        super().__init__()
        self.progress = progress


class Started(Message):
    """The backend was asked to start indexing; `note` says why it does not, or ""."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.note = note


class Opened(Message):
    """A file was opened; `what` says how."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class Failed(Message):
    """A call failed; `reason` is one line with its hint."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason
