"""The tools of an agent, as plain functions that return JSON objects. Knows no MCP; `app.agents.server` offers them.

Each answer stays within a number of tokens. What does not fit comes with `next_cursor`.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from longsearch.app.agents import answers, budget, reading
from longsearch.app.agents.addresses import address
from longsearch.app.agents.answers import Json
from longsearch.app.agents.readable_folders import ReadableFolders
from longsearch.app.daemon import daemon_control
from longsearch.app.evidence.marks import marks_of
from longsearch.app.evidence.verifying import verify
from longsearch.app.search.python_door import query_vector
from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.quoting import quotations
from longsearch.app.search.scope import Scope
from longsearch.app.search.searching import Question, search
from longsearch.app.search.similar import similar_to_document
from longsearch.app.user_data.saved import SavedSearches
from longsearch.engine import __version__
from longsearch.engine.citing.drafts import quotations_in
from longsearch.engine.printable import printable
from longsearch.engine.types.results import Folder, SearchMode, SearchResults

MAX_RESULTS = 50
"""Documents that one question can reach, over all its pages."""
MAX_TOKENS = 20_000
"""The tokens of one answer, at most; clients cut longer ones, some at 25,000."""
DEFAULT_TOKENS = 4_000
_TEX = re.compile(r"\\(?:begin|\w*cite\w*|\w*quote)[\[{*]|``[^`\n]+''")
_N_ANSWERS = 3
"""The sentences that answer best, before the hits."""


class Tools:
    """The questions that an agent may ask. Every method may raise `LongsearchError`."""

    def __init__(self, readable: ReadableFolders, source: VectorSource = query_vector) -> None:
        """`source` makes the vectors of queries: the daemon's model, or one opened here without a daemon."""
        self.readable, self._source = readable, source

    def search(
        self,
        query: str,
        folder: str = "",
        mode: str = "hybrid",
        k: int = 10,
        passages: int = 2,
        min_level: str = "chance",
        max_tokens: int = DEFAULT_TOKENS,
        cursor: str = "",
        explain: bool = False,
    ) -> Json:
        """Search for passages that mean or say the query; `explain`: say why each hit has its score."""
        folders = self.readable.folders(folder)
        asked = Question(query, SearchMode(mode), k=MAX_RESULTS, explain=explain, read=True)
        results = search(Scope(folders), asked, self._source).at_least(min_level)
        question = repr(("search", query, folder, mode, min_level))
        return self._paged(results, folders, question, k, passages, max_tokens, cursor)

    def similar(
        self, document: str, k: int = 10, passages: int = 1, max_tokens: int = DEFAULT_TOKENS, cursor: str = ""
    ) -> Json:
        """Find the documents most similar to one, each compared as a whole."""
        place = self.readable.find(document)
        folders = self.readable.folders()
        root = Path(place.folder.root)
        results = similar_to_document(Scope(folders), root, place.document_id, k=MAX_RESULTS)
        return self._paged(results, folders, repr(("similar", document)), k, passages, max_tokens, cursor)

    def read(
        self,
        document: str,
        pages: str = "",
        around: int | None = None,
        max_tokens: int = DEFAULT_TOKENS,
        cursor: str = "",
    ) -> Json:
        """Read the text of a document: pages, what stands around an offset, or from its beginning."""
        place = self.readable.find(document)
        with self.readable.reading(place.folder) as index:
            part = reading.part(index, place.document_id, pages, around, max_tokens, cursor)
        return self._about(place.folder, place.path) | part

    def outline(self, document: str, max_tokens: int = DEFAULT_TOKENS, cursor: str = "") -> Json:
        """List the headings of a document, and what people marked in it, with their pages and offsets."""
        place = self.readable.find(document)
        with self.readable.reading(place.folder) as index:
            found, rows = reading.outline(index, place.document_id)
            rows += map(answers.from_mark, marks_of(index, place.document_id, place.folder, place.path))
        first = budget.place_of(cursor, document, 1)[0] if cursor else 0
        shown, rest = _fitting(rows[first:], max_tokens, lambda row: row)
        found |= self._about(place.folder, place.path) | {"headings": [row for row in shown if "kind" not in row]}
        if marks := [row for row in shown if "kind" in row]:
            found["marks"] = marks
        return found | {"next_cursor": budget.cursor(document, first + len(shown)) if rest else None}

    def where(self, quote: str, folder: str = "", k: int = 10, max_tokens: int = DEFAULT_TOKENS) -> Json:
        """Find the document and page that say a quotation, verbatim or nearly so."""
        folders = self.readable.folders(folder)
        found, notes = quotations(Scope(folders), quote, k)
        by_root = {one.root: one for one in folders}
        make = partial(answers.from_quotation, readable_folders=self.readable)
        shown, rest = _fitting(found, max_tokens, lambda one: make(one, folder=by_root[one.root]))
        notes += [f"{len(found) - len(shown)} more places do not fit max_tokens"] if rest else []
        return {"quote": answers.readable(quote), "note": printable("; ".join(notes)), "places": shown}

    def verify(self, draft: str, folder: str = "", max_tokens: int = DEFAULT_TOKENS, cursor: str = "") -> Json:
        """Judge the quotations of a draft, Markdown or LaTeX. It comes from the caller: no file is opened."""
        folders = self.readable.folders(folder)
        by_root = {one.root: one for one in folders}
        quoted = quotations_in(draft, ".tex" if _TEX.search(draft) else "")
        judged = [one for one in quoted if one.pieces]
        question = repr(("verify", draft, folder))
        first = budget.place_of(cursor, question, 1)[0] if cursor else 0
        verdicts = verify(Scope(folders), judged[first : first + MAX_RESULTS], self._source)
        shown, rest = _fitting(verdicts, max_tokens, lambda one: answers.from_verdict(one, by_root))
        goes_on = rest or first + len(shown) < len(judged)
        return {
            "n_quotations": len(judged),
            "too_short": len(quoted) - len(judged),
            "quotations": shown,
            "next_cursor": budget.cursor(question, first + len(shown)) if goes_on else None,
        }

    def news(self, name: str = "", max_tokens: int = DEFAULT_TOKENS) -> Json:
        """List the new passages that answer the person's saved searches; the person alone marks them as seen."""
        searches = SavedSearches()
        by_root = {folder.root: folder for folder in self.readable.folders()}
        wanted = [searches.named(name)] if name else searches.all()
        new = [(one, passage) for one in wanted for passage in one.news if passage.root in by_root]
        shown, rest = _fitting(
            new, max_tokens, lambda row: answers.from_news(row[0], row[1], self.readable, by_root[row[1].root])
        )
        note = f"{len(new) - len(shown)} more do not fit max_tokens" if rest else ""
        return {"note": note, "saved_searches": [printable(one.name) for one in wanted], "news": shown}

    def status(self) -> Json:
        """Say what is indexed, how far and how fresh, and whether a daemon keeps it current."""
        daemon = daemon_control.daemon_status()
        folders = [answers.from_folder(folder, daemon) for folder in self.readable.folders()]
        return {"longsearch": __version__, "daemon_runs": daemon is not None, "folders": folders}

    def _about(self, folder: Folder, path: str) -> Json:
        return {
            "document": address(folder.name, path),
            "path": printable(str(Path(folder.root) / path)),
            "freshness": self.readable.freshness(folder, path),
        }

    def _paged(
        self,
        results: SearchResults,
        folders: list[Folder],
        question: str,
        k: int,
        n_passages: int,
        max_tokens: int,
        cursor: str,
    ) -> Json:
        """Return the `k` hits from the cursor on, as many as fit, and the state of the folders they are from."""
        first = budget.place_of(cursor, question, 1)[0] if cursor else 0
        by_root = {folder.root: folder for folder in folders}
        hits = results.hits[first : first + k]
        shown, rest = _fitting(
            hits, max_tokens, lambda hit: answers.from_hit(hit, self.readable, by_root[hit.root], n_passages)
        )
        goes_on = bool(rest) or first + k < len(results.hits)
        daemon = daemon_control.daemon_status()
        read = {}
        if results.is_read and not cursor:
            best = [answers.from_answer(answer, by_root[answer.hit.root]) for answer in results.answers(_N_ANSWERS)]
            read = {"verdict": results.verdict, "answers": best}
        return {
            "mode": results.mode.value,
            "note": printable(results.note),
            **read,
            "results": shown,
            "next_cursor": budget.cursor(question, first + len(shown)) if goes_on else None,
            "folders": [answers.from_folder(folder, daemon) for folder in folders if _in(folder, shown)],
        }


def _in(folder: Folder, shown: list[Json]) -> bool:
    return any(hit["folder"] == printable(folder.name) for hit in shown)


def _fitting(rows: Any, max_tokens: int, make: Callable[[Any], Json]) -> tuple[list[Json], bool]:
    """Return the first rows that fit, at least one, and whether others are left. The first is cut if it is too long."""
    shown: list[Json] = []
    left = max_tokens
    for row in rows:
        made = make(row)
        needed = budget.n_tokens(made)
        if shown and needed > left:
            return shown, True
        if needed > left:
            made = _cut(made, max(left - budget.n_tokens(_cut(made, 0)), 20))
        shown.append(made)
        left -= needed
    return shown, False


def _cut(made: Json, max_tokens: int) -> Json:
    """Return the object with only its best passage, and that cut to `max_tokens`."""
    if "passages" in made:
        best = {name: value for name, value in made["passages"][0].items() if name != "best_sentences"}
        return made | {"passages": [_cut(best, max_tokens)]} if made["passages"] else made
    return made | {"text": budget.fitting(made["text"], max_tokens), "cut": True} if "text" in made else made
