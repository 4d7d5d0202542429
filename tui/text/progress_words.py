"""The sentences of the app about the progress of an index, and about errors. Pure: values in, text out.

The first frame has some of them, so this imports as little as it can. Every name has passed through `shown`.
"""

from typing import TYPE_CHECKING

from longsearch.engine.amounts import counted, duration
from longsearch.engine.errors import LongsearchError
from longsearch.engine.unread import MEANING_YET, unread
from longsearch.tui.text.display import shown

if TYPE_CHECKING:
    from longsearch.engine.types.progress import IndexProgress


def n_ready(progress: "IndexProgress") -> int:
    """Return the number of documents that can be searched, at least by words."""
    return progress.n_current + progress.n_waiting + progress.n_partial


def n_left(progress: "IndexProgress") -> int:
    """Return the number of files that nobody has tried to read yet."""
    return max(progress.n_files - n_ready(progress) - progress.n_failed, 0)


def n_unreadable(progress: "IndexProgress") -> int:
    """Return the number of files that could not be read; those that are empty or wait for OCR are none."""
    return progress.n_failed - progress.n_without_text


def has_changed(old: "IndexProgress | None", new: "IndexProgress | None") -> bool:
    """Return whether the same search may now find something else."""
    if old is None or new is None:
        return False
    return (n_ready(new), new.n_tokens_embedded) != (n_ready(old), old.n_tokens_embedded)


def is_complete(progress: "IndexProgress") -> bool:
    """Return whether every readable file can be searched by meaning too."""
    return not n_left(progress) and progress.n_tokens_embedded >= progress.n_tokens


def share_embedded(progress: "IndexProgress") -> float | None:
    """Return the share of tokens embedded, 0 to 1; None if all are, or if nothing is known yet."""
    if is_complete(progress) or not progress.n_tokens:
        return None
    return progress.n_tokens_embedded / progress.n_tokens


def progress_line(progress: "IndexProgress | None") -> str:
    """Describe the progress of the index, the most important first, because the end may be cut off."""
    if progress is None:
        return "opening the index…"
    failed = f"{n} failed (F3)" if (n := n_unreadable(progress)) else ""
    if is_complete(progress):
        without_any = "" if progress.activity else "no documents"
        done = f"{counted(n_ready(progress), 'document')} ready" if progress.n_files else without_any
        return " · ".join(filter(None, (done, failed, shown(progress.activity))))
    share = share_embedded(progress)
    if share is not None and (share or not n_left(progress)):
        done = f"reading {share:.0%}"
    else:
        done = f"reading {n_ready(progress):,} of {progress.n_files:,} files"
    left = f"about {duration(progress.eta_s)} left" if progress.eta_s else ""
    return " · ".join(filter(None, (done, left, failed, shown(progress.activity))))


def is_empty(progress: "IndexProgress | None") -> bool:
    """Return whether the folder holds no document, as far as the index knows."""
    return progress is not None and not progress.n_files and not progress.activity


def is_all_ready(progress: "IndexProgress | None") -> bool:
    """Return whether there are documents and each can be searched in every mode."""
    return progress is not None and n_ready(progress) > 0 and not n_unreadable(progress) and is_complete(progress)


def readiness(progress: "IndexProgress | None") -> str:
    """Say in one sentence how many documents can be searched."""
    if progress is None:
        return "Opening the index…"
    ready = n_ready(progress)
    if not progress.n_files:
        return shown(f"{progress.activity}…") if progress.activity else "There are no documents in this folder."
    if not ready:
        return f"The index is being built: none of {counted(progress.n_files, 'file')} can be searched yet."
    by_words = f"; {unread(f'{n:,}', n)}" if (n := progress.n_waiting) else ""
    return f"{counted(ready, 'document')} ready{by_words}."


def not_ready(progress: "IndexProgress | None") -> str:
    """Say how many files cannot be searched yet, and why; "" if there are none."""
    if progress is None or not n_ready(progress):
        return ""
    left, failed = n_left(progress), n_unreadable(progress)
    to_read = f"{counted(left, 'file')} still to be read." if left else ""
    unreadable = f"{counted(failed, 'file')} could not be read: F3 says why." if failed else ""
    return " ".join(filter(None, (to_read, unreadable)))


def note_now(note: str, progress: "IndexProgress | None") -> str:
    """Return the note of an answer without what is no longer so: that documents wait to be read for their meaning."""
    if progress is None or not is_complete(progress):
        return note
    return "; ".join(part for part in note.split("; ") if not part.endswith(MEANING_YET))


def trouble(error: BaseException) -> str:
    """Describe an error in one line: what is wrong, then what to do about it."""
    if isinstance(error, LongsearchError):
        return shown(f"{error.message} — {error.hint}" if error.hint else error.message)
    return shown(f"Something went wrong inside longsearch: {type(error).__name__}: {error}")
