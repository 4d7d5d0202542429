"""How far the indexing of a folder and of each file has come. Imports nothing heavy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class FileStatus(StrEnum):
    """How far the indexing of a file has come."""

    CURRENT = "current"
    """Read completely; searchable by words and by meaning."""
    PARTIAL = "partial"
    """Read in part; that part is searchable."""
    WAITING = "waiting"
    """Searchable by words; its vectors are not complete yet."""
    FAILED = "failed"
    """Not readable; `FileReport.reason` says why."""


class FileReport(NamedTuple):
    """One file of a root, as `longsearch status` shows it. A tuple: 50,000 frozen dataclasses take 0.15 s longer."""

    path: str
    """Relative to the root."""
    status: FileStatus
    reason: str
    """Why the file failed or is partial, or ""."""
    hint: str
    """Advice for the person, or ""."""
    n_pages: int
    n_tokens: int
    """Tokens extracted."""
    n_tokens_embedded: int
    n_failures: int = 0
    """Failed attempts in a row."""
    retry_at: float | None = None
    """When the next automatic retry is due, in seconds since 1970; None: only after a change or on request."""
    folder: str = ""
    """The name of the indexed folder, if the files of several are listed; else ""."""
    root: str = ""
    """The path of that folder, absolute; "" if only one is listed."""
    n_scanned: int = 0
    """Pages that show something and have no text: OCR could read them."""


@dataclass(frozen=True, slots=True)
class ScannedPages:
    """The pages of a folder that show something and have no text."""

    n_pages: int = 0
    takes_s: float = 0.0
    """About how long OCR takes for all of them."""
    is_measured: bool = False
    """Whether this machine's own speed says so; otherwise it is the usual one."""
    is_wished: bool = False
    """Whether they are read when the machine is idle and on mains."""
    problem: str = ""
    """Why they cannot be read here, or ""."""


def pause_s(least_s: float, took_s: float) -> float:
    """Return how long to wait before the progress is read again: among 100,000 files a reading takes 0.2 s."""
    return max(least_s, 9 * took_s)


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of a root's index, for any process to read."""

    n_files: int
    n_current: int
    n_waiting: int
    n_partial: int
    n_failed: int
    n_tokens: int
    n_tokens_embedded: int
    activity: str
    """The indexer's present work, for example "reading x.pdf"; "" if it is idle or dead."""
    tokens_per_s: float
    """Recent rate of embedding; 0 if unknown."""
    n_narrow: int = 0
    """Documents whose vectors were made at part of the model's width."""
    n_tokens_narrow: int = 0
    """Tokens of these documents that have not been read again at full width yet."""
    n_scanned: int = 0
    """Pages that show something and have no text: OCR could read them."""
    n_without_text: int = 0
    """Those of the failed files that have nothing to be read: empty ones, and scans that wait for OCR."""
    problem: str = ""
    """Why the index is not kept current, and what to do; "" if it is."""
    advice: str = ""
    """What would find more in this index, such as another model; "" for nothing."""

    @property
    def eta_s(self) -> float | None:
        """Seconds until all tokens are embedded, or None if unknown."""
        rest = self.n_tokens - self.n_tokens_embedded
        if rest <= 0:
            return 0.0
        return rest / self.tokens_per_s if self.tokens_per_s > 0 else None
