"""The sentences of the app about progress, empty results, errors. Pure: values in, text out.

Every name in a sentence has passed through `shown`.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from longsearch.engine.amounts import counted, duration
from longsearch.engine.errors import LongsearchError
from longsearch.engine.languages.names import name_of
from longsearch.engine.query_language.prefixes import is_draft, quote_in
from longsearch.engine.types.progress import FileReport, FileStatus, IndexProgress, ScannedPages
from longsearch.engine.types.results import ChanceLevel, DocumentHit, SearchMode, SearchResults
from longsearch.engine.unread import MEANING_YET, unread
from longsearch.tui.text.display import shown

BELOW_BY_CHANCE = "── below: unlikely ──"
ALL_BY_CHANCE = "── nothing likely; the nearest: ──"
NOTHING_ANSWERS = "── nothing here answers that; the nearest: ──"
_N_NAMED = 3
_LIKELIHOODS = ((ChanceLevel.GOOD, "likely"), (ChanceLevel.WEAK, "unsure"), (ChanceLevel.CHANCE, "unlikely"))
_QUOTE_AGAIN = (
    "A quotation is looked for word by word; a few words or letters may differ.",
    "Give less of it, or leave out `where:` to search by meaning.",
)


def with_language(title: str, code: str) -> str:
    """Return a title with the language of its document, unless that is English or unclear."""
    return f"{title} · {name_of(code)}" if code not in ("", "en") else title


def same_elsewhere(hit: DocumentHit) -> list[str]:
    """Return lines that name the copies of a document and the versions that have no row of their own."""
    lines = [f"also at {_some(hit.also_at, hit.root)}"] if hit.also_at else []
    if hit.versions:
        paths = [version.path for version in hit.versions]
        lines.append(f"{len(paths)} nearly the same: {_some(paths, hit.root)}")
    return lines


def _some(paths: Sequence[str], root: str) -> str:
    """Name the first paths, relative to the folder, and count the others."""
    named = ", ".join(shown(path.removeprefix(root.rstrip("/") + "/")) for path in paths[:_N_NAMED])
    left = len(paths) - _N_NAMED
    return f"{named} and {left} more" if left > 0 else named


def n_ready(progress: IndexProgress) -> int:
    """Return the number of documents that can be searched, at least by words."""
    return progress.n_current + progress.n_waiting + progress.n_partial


def n_left(progress: IndexProgress) -> int:
    """Return the number of files that nobody has tried to read yet."""
    return max(progress.n_files - n_ready(progress) - progress.n_failed, 0)


def has_changed(old: IndexProgress | None, new: IndexProgress | None) -> bool:
    """Return whether the same search may now find something else."""
    if old is None or new is None:
        return False
    return (n_ready(new), new.n_tokens_embedded) != (n_ready(old), old.n_tokens_embedded)


def is_complete(progress: IndexProgress) -> bool:
    """Return whether every readable file can be searched by meaning too."""
    return not n_left(progress) and progress.n_tokens_embedded >= progress.n_tokens


def share_embedded(progress: IndexProgress) -> float | None:
    """Return the share of tokens embedded, 0 to 1; None if all are, or if nothing is known yet."""
    if is_complete(progress) or not progress.n_tokens:
        return None
    return progress.n_tokens_embedded / progress.n_tokens


def progress_line(progress: IndexProgress | None) -> str:
    """Describe the progress of the index, the most important first, because the end may be cut off."""
    if progress is None:
        return "opening the index…"
    failed = f"{progress.n_failed} failed (F3)" if progress.n_failed else ""
    if is_complete(progress):
        done = f"{counted(n_ready(progress), 'document')} ready" if progress.n_files else "no documents"
        return " · ".join(filter(None, (done, failed, shown(progress.activity))))
    if share := share_embedded(progress):
        done = f"reading {share:.0%}"
    else:
        done = f"reading {progress.n_current + progress.n_partial:,} of {progress.n_files:,} files"
    left = f"about {duration(progress.eta_s)} left" if progress.eta_s else ""
    return " · ".join(filter(None, (done, left, failed, shown(progress.activity))))


def is_empty(progress: IndexProgress | None) -> bool:
    """Return whether the folder holds no document, as far as the index knows."""
    return progress is not None and not progress.n_files and not progress.activity


def is_all_ready(progress: IndexProgress | None) -> bool:
    """Return whether there are documents and each can be searched in every mode."""
    return progress is not None and n_ready(progress) > 0 and not progress.n_failed and is_complete(progress)


def readiness(progress: IndexProgress | None) -> str:
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


def not_ready(progress: IndexProgress | None) -> str:
    """Say how many files cannot be searched yet, and why; "" if there are none."""
    if progress is None or not n_ready(progress):
        return ""
    left, failed = n_left(progress), progress.n_failed
    to_read = f"{counted(left, 'file')} still to be read." if left else ""
    unreadable = f"{counted(failed, 'file')} could not be read: F3 says why." if failed else ""
    return " ".join(filter(None, (to_read, unreadable)))


def note_now(note: str, progress: IndexProgress | None) -> str:
    """Return the note of an answer without what is no longer so: that documents wait to be read for their meaning."""
    if progress is None or not is_complete(progress):
        return note
    return "; ".join(part for part in note.split("; ") if not part.endswith(MEANING_YET))


def nothing_found(results: SearchResults, progress: IndexProgress | None, is_awaited: bool = False) -> list[str]:
    """Say why there may be no hits, and what to try: one line each. `is_awaited`: a better answer may follow."""
    if results.similar_to:
        return [f"No other document is similar to “{shown(results.similar_to)}”.", "Esc goes back to the results."]
    lines = [f"Nothing found for “{shown(results.query)}”."]
    if quote_in(results.query) is not None and not is_draft(results.query):
        return [*lines, *_QUOTE_AGAIN]
    if is_awaited and results.mode is SearchMode.WORDS:
        return [f"No document has the words of “{shown(results.query)}”.", "The search by meaning goes on."]
    if progress is not None and not n_ready(progress):
        return [*lines, readiness(progress), "This search is repeated as documents are added."]
    if results.mode is SearchMode.WORDS:
        lines.append("Words must occur as they are typed. Ctrl+T searches by meaning.")
    else:
        lines.append("Try other words, or fewer.")
    if progress is not None and not is_complete(progress):
        lines.append("Not everything has been read yet; this search is repeated as documents are added.")
    return lines


def first_by_chance(hits: Sequence[DocumentHit]) -> int | None:
    """Return the index of the hit from which all are no better than chance, where a line is drawn; None without one."""
    n_by_chance = sum(1 for _ in takewhile(lambda hit: hit.level is ChanceLevel.CHANCE, reversed(hits)))
    return len(hits) - n_by_chance if n_by_chance else None


def first_folded(hits: Sequence[DocumentHit]) -> int | None:
    """Return the index of the hit from which all are unlikely, or stand below an unlikely one and were not read."""
    low = list(takewhile(lambda hit: hit.level in (ChanceLevel.CHANCE, None), reversed(hits)))
    at = (len(hits) - 1 - place for place, hit in enumerate(low) if hit.level is ChanceLevel.CHANCE)
    return min(at, default=None)


def above_unlikely(hits: Sequence[DocumentHit], line: int) -> str:
    """Return the line above the unlikely hits: the first of them is that of index `line`."""
    if line:
        return BELOW_BY_CHANCE
    is_read = any(passage.probability is not None for hit in hits for passage in hit.passages)
    return NOTHING_ANSWERS if is_read else ALL_BY_CHANCE


def unlikely_row(hits: Sequence[DocumentHit]) -> str:
    """Say how many hits are folded away."""
    return f"{len(hits):,} {'unlikely' if all(hit.level for hit in hits) else 'more'}"


def summary(results: SearchResults) -> str:
    """Describe a list of results: how many are likely, where that is known; else how many, and whether by words."""
    if results.similar_to:
        return f"{counted(len(results.hits), 'document')} similar to {shown(results.similar_to)}"
    levels = Counter(hit.level for hit in results.hits)
    if likelihoods := [f"{levels[level]:,} {word}" for level, word in _LIKELIHOODS if levels[level]]:
        return " · ".join([*likelihoods, f"{levels[None]:,} more"] if levels[None] else likelihoods)
    if not results.hits:
        return ""
    how = " listed" if not results.lit else " by words" if results.mode is SearchMode.WORDS else ""
    return f"{counted(len(results.hits), 'document')}{how}"


def next_try(file: FileReport, now_s: float) -> str:
    """Say when a failed or partial file is read again; "" for other files. `now_s` is in seconds since 1970."""
    if file.status not in (FileStatus.FAILED, FileStatus.PARTIAL):
        return ""
    tried = f"tried {file.n_failures} times; " if file.n_failures > 1 else ""
    if file.retry_at is None:
        return f"{tried}read again once it has changed, or on request"
    wait_s = file.retry_at - now_s
    return f"{tried}read again in {duration(wait_s)}" if wait_s >= 1 else f"{tried}read again at the next sweep"


def trouble(error: BaseException) -> str:
    """Describe an error in one line: what is wrong, then what to do about it."""
    if isinstance(error, LongsearchError):
        return shown(f"{error.message} — {error.hint}" if error.hint else error.message)
    return shown(f"Something went wrong inside longsearch: {type(error).__name__}: {error}")


def scanned(pages: ScannedPages) -> str:
    """Say how many scanned pages wait, about how long OCR takes, and whether it will be done; "" if there are none."""
    if not pages.n_pages:
        return ""
    hours = pages.takes_s / 3600
    takes = f"about {hours:,.1f} h" if hours >= 1 else f"about {duration(pages.takes_s)}"
    takes += "" if pages.is_measured else " at the usual speed"
    then = pages.problem or ("read when the computer is idle and plugged in" if pages.is_wished else "")
    return f"{counted(pages.n_pages, 'scanned page')}, {takes}" + (f"; {then}" if then else "")
