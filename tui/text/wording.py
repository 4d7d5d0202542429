"""The sentences of the app about results and files. Pure: values in, text out.

Every name in a sentence has passed through `shown`.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from longsearch.engine.amounts import counted, duration
from longsearch.engine.languages.names import name_of
from longsearch.engine.query_language.prefixes import is_draft, quote_in
from longsearch.engine.types.progress import FileReport, FileStatus, IndexProgress, ScannedPages
from longsearch.engine.types.results import ChanceLevel, DocumentHit, SearchMode, SearchResults
from longsearch.tui.text.display import shown
from longsearch.tui.text.progress_words import is_complete, n_ready, readiness

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


def first_unlikely(hits: Sequence[DocumentHit]) -> int | None:
    """Return the index of the hit from which all are unlikely, or stand below an unlikely one and were not read.

    None if there is no such hit.
    """
    low = list(takewhile(lambda hit: hit.level in (ChanceLevel.CHANCE, None), reversed(hits)))
    at = (len(hits) - 1 - place for place, hit in enumerate(low) if hit.level is ChanceLevel.CHANCE)
    return min(at, default=None)


def above_unlikely(hits: Sequence[DocumentHit], line: int) -> str:
    """Return the line above the unlikely hits: the first of them is that of index `line`."""
    if line:
        return BELOW_BY_CHANCE
    is_read = any(passage.probability is not None for hit in hits for passage in hit.passages)
    return NOTHING_ANSWERS if is_read else ALL_BY_CHANCE


def tally(hits: Sequence[DocumentHit]) -> str:
    """Count the hits by how likely they are; "" if nobody has judged any."""
    levels = Counter(hit.level for hit in hits)
    judged = [f"{levels[level]:,} {word}" for level, word in _LIKELIHOODS if levels[level]]
    return " · ".join([*judged, f"{levels[None]:,} more"] if judged and levels[None] else judged)


def summary(results: SearchResults) -> str:
    """Describe a list of results: how many are likely, where that is known; else how many, and whether by words."""
    if results.similar_to:
        return f"{counted(len(results.hits), 'document')} similar to {shown(results.similar_to)}"
    if known := tally(results.hits):
        return known
    if not results.hits:
        return ""
    if is_draft(results.query):
        return counted(len(results.hits), "quotation")
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


def scanned(pages: ScannedPages) -> str:
    """Say how many scanned pages wait, about how long OCR takes, and whether it will be done; "" if there are none."""
    if not pages.n_pages:
        return ""
    hours = pages.takes_s / 3600
    takes = f"about {hours:,.1f} h" if hours >= 1 else f"about {duration(pages.takes_s)}"
    takes += "" if pages.is_measured else " at the usual speed"
    then = pages.problem or ("read when the computer is idle and plugged in" if pages.is_wished else "")
    return f"{counted(pages.n_pages, 'scanned page')}, {takes}" + (f"; {then}" if then else "")
