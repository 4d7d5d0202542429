"""Turns hits, quotations and folders into the objects that the tools return.

Every text of a document and every file name passes through `printable`: an agent's client may show it in a terminal,
and characters that nobody can see are a way to hide sentences from the person and show them to the model.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longsearch.app.agents.addresses import address
from longsearch.app.agents.readable_folders import ReadableFolders
from longsearch.app.daemon import daemon_control
from longsearch.app.evidence.marks import Marked
from longsearch.app.evidence.verifying import Verdict
from longsearch.app.folders.listing import fingerprint_and_time
from longsearch.app.paths import index_path, shown_path
from longsearch.app.user_data.saved import NewPassage, SavedSearch
from longsearch.app.viewing.viewer import line_of
from longsearch.engine.errors import StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.places import place_of
from longsearch.engine.printable import printable
from longsearch.engine.reason_lines import reason_lines
from longsearch.engine.types.results import Answer, DocumentHit, Folder, PassageHit, Quotation

Json = dict[str, Any]


def readable(text: str) -> str:
    """Return the text of a document as an agent gets it: its lines stay, and what cannot be seen does not."""
    return "\n".join(map(printable, text.split("\n")))  # line by line: most lines need no look at each character


def from_hit(hit: DocumentHit, readable_folders: ReadableFolders, folder: Folder, n_passages: int) -> Json:
    """Return a hit with its best passages."""
    path = _relative(hit.path, folder)
    return {
        "rank": hit.rank,
        "document": address(folder.name, path),
        "path": printable(shown_path(hit.path)),
        **_same_elsewhere(hit),
        "folder": printable(folder.name),
        "title": printable(hit.title),
        "score": round(hit.score, 4),
        "level": hit.level.value if hit.level else None,
        "language": hit.language or None,
        "freshness": readable_folders.freshness(folder, path),
        "metadata": [[value.field, printable(value.value)] for value in hit.metadata if value.field != "title"],
        "passages": [_from_passage(passage, hit.path) for passage in hit.passages[:n_passages]],
        **({"why": reason_lines(hit)} if hit.reason else {}),
    }


def _same_elsewhere(hit: DocumentHit) -> Json:
    """Return the paths of equal files, and of documents that say nearly the same, if there are any."""
    found = {"also_at": hit.also_at, "nearly_the_same": [version.path for version in hit.versions]}
    return {name: [printable(shown_path(path)) for path in paths] for name, paths in found.items() if paths}


def _from_passage(passage: PassageHit, path: str) -> Json:
    found: Json = {
        "page": passage.page,
        "page_label": printable(passage.page_label) or None,
        "place": printable(place_of(path, passage, is_ocr=passage.is_ocr)),
        "heading": printable(passage.heading),
        "start": passage.start,
        "stop": passage.stop,
        "score": round(passage.score, 4),
        "text": readable(passage.text),
    }
    if passage.furniture:
        found["list"] = passage.furniture
    if passage.excerpt is not None:
        start, stop = (place - passage.start for place in passage.excerpt)
        found["best_sentences"] = readable(passage.text[start:stop])
    return found


def from_answer(answer: Answer, folder: Folder) -> Json:
    """Return a sentence that answers, with its document, its place and how likely it is that it does."""
    passage = answer.passage
    return {
        "sentence": readable(passage.sentence),
        "document": address(folder.name, _relative(answer.hit.path, folder)),
        "page": passage.page,
        "heading": printable(passage.heading),
        "place": printable(place_of(answer.hit.path, passage, is_ocr=passage.is_ocr) or passage.heading),
        "line": line_of(Path(answer.hit.path), passage.sentence),
        "probability": None if passage.probability is None else round(passage.probability, 2),
    }


def from_quotation(one: Quotation, readable_folders: ReadableFolders, folder: Folder) -> Json:
    """Return a place that says a quotation."""
    path = _relative(one.path, folder)
    return {
        "document": address(folder.name, path),
        "path": printable(shown_path(one.path)),
        "folder": printable(folder.name),
        "title": printable(one.title),
        "page": one.page,
        "page_label": printable(one.page_label) or None,
        "place": printable(place_of(one.path, one)),
        "heading": printable(one.heading),
        "start": one.start,
        "stop": one.stop,
        "text": readable(one.text),
        "similarity": round(one.similarity, 4),
        "verbatim": one.is_verbatim,
        "freshness": readable_folders.freshness(folder, path),
    }


def from_verdict(verdict: Verdict, by_root: Mapping[str, Folder]) -> Json:
    """Return how a quotation of a draft stands in the documents."""
    quoted, place = verdict.quoted, verdict.place
    return {
        "quotation": readable(quoted.text),
        "line": quoted.line,
        "status": verdict.status.value,
        "cited": printable("; ".join(one.text for one in quoted.cited)) or None,
        "document": address(by_root[place.root].name, _relative(place.path, by_root[place.root])) if place else None,
        "place": printable(place_of(place.path, place)) if place else None,
        "text": readable(place.text) if place else None,
        "differences": [[readable(one.draft), readable(one.document)] for one in verdict.differences],
        **({"note": printable(verdict.note)} if verdict.note else {}),
    }


def from_mark(one: Marked) -> Json:
    """Return what somebody marked, and what they noted."""
    mark, passage = one.mark, one.evidence
    return {
        "kind": printable(mark.kind),
        "color": mark.color or None,
        "place": printable(place_of(passage.path, passage)),
        "text": readable(passage.quote),
        "note": readable(mark.note) or None,
        "author": printable(mark.author) or None,
        "start": mark.start,
    }


def from_news(search: SavedSearch, new: NewPassage, readable_folders: ReadableFolders, folder: Folder) -> Json:
    """Return a new passage that answers a saved search."""
    path = _relative(new.path, folder)
    return {
        "saved_search": printable(search.name),
        "document": address(folder.name, path),
        "path": printable(shown_path(new.path)),
        "folder": printable(folder.name),
        "title": printable(new.title),
        "page": new.page,
        "level": new.level or None,
        "found_at": _iso(new.found_at),
        "text": readable(new.text),
        "freshness": readable_folders.freshness(folder, path),
    }


def from_folder(folder: Folder, daemon: Json | None) -> Json:
    """Return how far a folder has been read, when, and whether it is kept current."""
    found: Json = {
        "name": printable(folder.name),
        "path": printable(folder.root),
        "documents": folder.n_documents,
        **({"about": printable(folder.about)} if folder.about else {}),
        "away": printable(folder.away),
        "problem": printable(folder.problem),
        "watched": daemon_control.root_in(daemon, Path(folder.root)) is not None,
    }
    try:
        with open_index(index_path(Path(folder.root))) as index:
            progress = index.progress()
        updated_at = fingerprint_and_time(folder)[1]
    except StoreError:
        return found
    return found | {
        "updated_at": None if updated_at is None else _iso(updated_at),
        "files": progress.n_files,
        "current": progress.n_current,
        "waiting_for_meaning": progress.n_waiting,
        "read_in_part": progress.n_partial,
        "failed": progress.n_failed,
        "activity": printable(progress.activity),
    }


def _iso(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="seconds")


def _relative(path: str, folder: Folder) -> str:
    return Path(path).relative_to(folder.root).as_posix()
