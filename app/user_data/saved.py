"""Saved searches: questions with a name, the passages that answer them, and which of these nobody has looked at yet."""

import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import condensed, printable
from longsearch.engine.types.results import SearchMode

MAX_NEWS = 100
"""New passages that are kept for each search; the oldest go."""
MAX_SEEN = 5_000
"""Answers that are remembered for each search and folder."""
MAX_NAME = 64
_DIGEST_BYTES = 8


class Stamp(NamedTuple):
    """A mark of an index that differs once it has new passages, or vectors of another model."""

    last_id: int
    """The highest id that a passage of the index ever had; ids are never used again."""
    model: str
    """The fingerprint of the model; "" if there are no vectors."""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage that answers a saved search, and was not there when somebody last looked."""

    path: str
    title: str
    page: int | None
    text: str
    """Its first 400 characters."""
    root: str
    level: str = ""
    """How much better than chance it is, as `ChanceLevel`; "" if the index is not calibrated."""
    found_at: float = 0.0
    """Seconds since 1970."""


class Answer(NamedTuple):
    """A passage that answers a saved search now, whether it is new or not."""

    digest: bytes
    """The hash of the passage's words, eight bytes."""
    passage_id: int
    passage: NewPassage


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A question with a name."""

    name: str
    query: str
    mode: SearchMode = SearchMode.HYBRID
    instruction: str = ""
    roots: tuple[str, ...] = ()
    """The folders to search; () for all, also those to come."""
    saved_at: float = 0.0
    news: tuple[NewPassage, ...] = ()
    """The new passages, newest first."""
    seen: Mapping[str, str] | None = None
    """The digests of the answers that each folder held before, in base64; "" if nobody has searched it yet."""
    stamps: Mapping[str, Sequence[Any]] | None = None
    """The `Stamp` of each folder's index when the search was last run, as a list."""

    def covers(self, root: str) -> bool:
        """Whether the search is about this folder."""
        return not self.roots or root in self.roots

    def stamp_of(self, root: str) -> Stamp | None:
        """Return the stamp that the index of a folder had when this search last ran there; None if it never ran."""
        found = (self.stamps or {}).get(root)
        return Stamp(int(found[0]), str(found[1])) if found else None


class SavedSearches:
    """Reads and changes the file of the saved searches. All methods raise LongsearchError if it cannot be used."""

    def __init__(self) -> None:
        self.file = UserFile("saved.json", _check)

    def all(self) -> list[SavedSearch]:
        """Return the searches, by name."""
        return sorted(_searches(self.file.read()), key=lambda one: one.name.casefold())

    def named(self, name: str) -> SavedSearch:
        """Return the search with this name, in any case. Raises LongsearchError if there is none."""
        found = [one for one in self.all() if one.name.casefold() == name.strip().casefold()]
        if not found:
            raise LongsearchError(f"no saved search is called {name}", "see them: longsearch saved")
        return found[0]

    def save(self, search: SavedSearch, roots_there: Sequence[str]) -> None:
        """Save a search; one with the same name is replaced. What now answers it in `roots_there` is no news.

        Raises LongsearchError for a name that cannot be used.
        """
        name = printable(condensed(search.name))
        if not name or len(name) > MAX_NAME:
            raise LongsearchError("a saved search needs a name", f"take 1 to {MAX_NAME} characters")
        seen = dict.fromkeys((root for root in roots_there if search.covers(root)), "")
        new = replace(search, name=name, saved_at=time.time(), seen=seen)
        with self._changing() as searches:
            searches[:] = [*(one for one in searches if one.name.casefold() != name.casefold()), new]

    def remove(self, name: str) -> None:
        """Delete a search. Raises LongsearchError if there is none."""
        found = self.named(name)
        with self._changing() as searches:
            searches[:] = [one for one in searches if one.name != found.name]

    def look(self, name: str) -> tuple[NewPassage, ...]:
        """Note that somebody looks at the news of a search; return them."""
        news = self.named(name).news
        with self._changing() as searches:
            searches[:] = [replace(one, news=()) if one.name == name else one for one in searches]
        return news

    def note(self, name: str, root: str, stamp: Stamp, answers: Sequence[Answer]) -> int:
        """Note what answers a search in a folder, best first. Returns how many passages are new."""
        with self._changing() as searches:
            for at, one in enumerate(searches):
                if one.name == name:
                    searches[at], n_new = _noted(one, root, stamp, answers)
                    return n_new
        return 0

    @contextmanager
    def _changing(self) -> Iterator[list[SavedSearch]]:
        with self.file.changing() as known:
            searches = _searches(known)
            yield searches
            known["searches"] = [_row(one) for one in searches]


def _noted(one: SavedSearch, root: str, stamp: Stamp, answers: Sequence[Answer]) -> tuple[SavedSearch, int]:
    """Return a search after its answers in a folder were noted, and how many of them are new.

    Nothing is new in a folder that was there when the search was saved and was not searched until now, nor after the
    model has changed: another model finds other old passages.
    """
    known, before = dict(one.seen or {}), one.stamp_of(root)
    is_first = known.get(root) == "" or (before is not None and before.model != stamp.model)
    # in an index that was made anew, ids begin anew
    after = before.last_id if before is not None and before.last_id <= stamp.last_id else 0
    seen = dict.fromkeys(_digests(known.get(root, "")))
    new = {
        answer.digest: answer.passage
        for answer in answers
        if not is_first and answer.passage_id > after and answer.digest not in seen
    }
    digests = dict.fromkeys(answer.digest for answer in answers)
    kept = [*(digest for digest in seen if digest not in digests), *digests][-MAX_SEEN:]
    known[root] = b64encode(b"".join(kept)).decode() or "-"
    stamps = {**(one.stamps or {}), root: [stamp.last_id, stamp.model]}
    return replace(one, seen=known, stamps=stamps, news=(*new.values(), *one.news)[:MAX_NEWS]), len(new)


def _digests(text: str) -> list[bytes]:
    """Return the digests in a text that `_noted` wrote; "-" stands for none."""
    packed = b"" if text == "-" else b64decode(text)
    return [packed[at : at + _DIGEST_BYTES] for at in range(0, len(packed), _DIGEST_BYTES)]


def _row(one: SavedSearch) -> dict[str, Any]:
    return {**asdict(one), "mode": one.mode.value}


def _check(known: Mapping[str, Any]) -> None:
    """Raise an error if these are no saved searches."""
    for one in _searches(known):
        for root, digests in dict(one.seen or {}).items():
            _digests(digests)
            one.stamp_of(root)
        if not isinstance(one.name, str) or not isinstance(one.query, str) or not all(one.roots):
            raise ValueError("no saved search")


def _searches(known: Mapping[str, Any]) -> list[SavedSearch]:
    """Return the searches in the file. Raises LongsearchError if the file holds anything else."""
    names = {field.name for field in fields(SavedSearch)}
    of_news = {field.name for field in fields(NewPassage)}
    try:
        return [
            SavedSearch(
                **{
                    **{name: value for name, value in row.items() if name in names},
                    "mode": SearchMode(row["mode"]),
                    "roots": tuple(row["roots"]),
                    "news": tuple(
                        NewPassage(**{name: value for name, value in new.items() if name in of_news})
                        for new in row["news"]
                    ),
                }
            )
            for row in known.get("searches", [])
        ]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise LongsearchError("saved.json holds something that is no search", "mend it, or move it away") from error
