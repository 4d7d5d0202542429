"""A person's own things, as the terminal app asks for them. See `tui.backend.user_data`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from longsearch.app.evidence.places import placed, with_content
from longsearch.app.evidence.references import citations, cited, copied, exported
from longsearch.app.evidence.saving import save
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.models.query_vectors import from_daemon
from longsearch.app.paths import expanded
from longsearch.app.user_data.app_state import LastState, keep_state, keep_theme, last_state, left_at
from longsearch.app.user_data.basket import Basket, chosen
from longsearch.app.user_data.history import History
from longsearch.app.user_data.saved import SavedSearch, SavedSearches
from longsearch.engine.amounts import counted
from longsearch.engine.citing.evidence import evidence_of
from longsearch.engine.citing.forms import FORMATS, format_of
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import DocumentHit, Folder, PassageHit
from longsearch.tui.backend.interface import BasketView, InView, Question, Saved


class StoredUserData:
    """Reads and writes the person's files; safe from any thread."""

    def __init__(self, root: Path | None) -> None:
        """`root` is the folder that is searched; None for all folders."""
        self._root = root

    def quotation(self, hit: DocumentHit, passage: PassageHit) -> str:
        """Return the lit sentence of a passage, or the passage, for the clipboard, in the form of the settings."""
        start, stop = passage.excerpt or (passage.start, passage.stop)
        return copied(replace(evidence_of(hit, passage), quote=passage.sentence, start=start, stop=stop))

    # ---- the basket

    def keep(self, hit: DocumentHit, passage: PassageHit, query: str) -> str:
        """Put a passage into the basket."""
        basket = Basket()
        is_new = basket.add(with_content(evidence_of(hit, passage, query, time.time())))
        n_kept = counted(len(basket.content().passages), "passage")
        return f"kept: {n_kept} in the basket" if is_new else f"in the basket already, with {n_kept}"

    def basket(self) -> BasketView:
        """Return the basket, each passage with its place as it is now."""
        content = Basket().content()
        found, note = placed(content.passages), ""
        try:
            known = cited([one.evidence for one in found], citations())
            found = [replace(one, evidence=evidence) for one, evidence in zip(found, known, strict=True)]
        except LongsearchError as error:  # the basket can be read without them
            note = error.message
        return BasketView(tuple(found), content.undoes, note)

    def remove(self, ids: Sequence[str]) -> None:
        """Take passages out of the basket."""
        Basket().remove(ids)

    def move(self, id_: str, step: int) -> None:
        """Move a passage of the basket."""
        Basket().move(id_, step)

    def annotate(self, id_: str, note: str) -> None:
        """Write a note to a passage of the basket."""
        Basket().annotate(id_, note)

    def undo(self) -> str:
        """Take the last change of the basket back."""
        return Basket().undo()

    def copied(self, id_: str) -> str:
        """Return a passage of the basket for the clipboard."""
        (found,) = placed([chosen(Basket().content().passages, id_)])
        return copied(found.evidence)

    def export(self, file_name: str) -> str:
        """Write the basket to a new file. Raises LongsearchError if there is one already, or for another ending."""
        path, format_ = expanded(file_name.strip()), format_of(file_name.strip())
        if not format_:
            endings = ", ".join(ending for ending, _ in FORMATS.values())
            raise LongsearchError("the ending of the file's name says no format", f"take one of {endings}")
        passages = Basket().content().passages
        text, notes = exported(passages, format_)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError as error:
            raise LongsearchError(f"{path} exists already", "choose another name") from error
        except OSError as error:
            raise LongsearchError(f"{path} cannot be written: {error.strerror}", "choose another folder") from error
        changed = f"; {counted(len(notes), 'passage')} changed since" if notes else ""
        return f"{counted(len(passages), 'passage')} written to {path.absolute()}{changed}"

    # ---- earlier queries

    def history(self) -> tuple[list[Question], list[Question]]:
        """Return the earlier questions, newest first: all of them, and those of the folder that the app is over."""
        asked = [(Question(one.query, one.mode, one.instruction), one.root) for one in History().queries()]
        here = str(self._root or "")
        return [one for one, _ in asked], [one for one, root in asked if here in ("", root)]

    def remember(self, question: Question) -> None:
        """Put a question into the history."""
        History().add(question.query, question.mode, question.instruction, str(self._root or ""))

    def forget_question(self, question: Question) -> None:
        """Take a question out of the history."""
        History().remove(question.query)

    def last(self) -> InView | None:
        """Return what was in view when the app over this folder was left."""
        found = last_state(str(self._root or ""))
        return InView(Question(found.query, found.mode, found.instruction), found.path) if found else None

    def leave(self, in_view: InView) -> None:
        """Keep what is in view for the next start."""
        asked = in_view.question
        keep_state(str(self._root or ""), LastState(asked.query, asked.mode, asked.instruction, in_view.path))

    # ---- the app itself

    def folders(self) -> list[Folder]:
        """Return the other indexed folders that are there, the last one used first."""
        when = left_at()
        found = [one for one in indexed_folders() if not one.away and not one.problem and one.root != str(self._root)]
        return sorted(found, key=lambda one: -when.get(one.root, 0.0))

    def keep_theme(self, name: str) -> str:
        """Keep the colours for the next start."""
        return keep_theme(name)

    # ---- saved searches

    def saved(self) -> list[Saved]:
        """Return the saved searches, by name."""
        folders = {folder.root: folder.name for folder in indexed_folders()}
        return [_as_shown(one, folders, self._root) for one in SavedSearches().all()]

    def save(self, name: str, question: Question) -> str:
        """Save a question about the folder of the app, or about all. The daemon encodes it, if one runs."""
        roots = (str(self._root),) if self._root is not None else ()
        search = SavedSearch(name, question.query, question.mode, question.instruction, roots)
        save(search, indexed_folders(), from_daemon)
        return f"saved: {name}; F6 shows what is new"

    def remove_saved(self, name: str) -> None:
        """Delete a saved search."""
        SavedSearches().remove(name)

    def look(self, name: str) -> None:
        """Note that somebody looks at the news of a saved search."""
        SavedSearches().look(name)

    def n_new(self) -> int:
        """Return how many new passages answer the saved searches that this app can ask."""
        searches = SavedSearches().all()
        return sum(len(one.news) for one in searches if self._root is None or one.covers(str(self._root)))


def _as_shown(one: SavedSearch, folders: Mapping[str, str], root: Path | None) -> Saved:
    """Return a saved search as the app over a folder shows it; `root` is None for all folders."""
    names = [folders.get(place, place) for place in one.roots]
    question, problem = Question(one.query, one.mode, one.instruction), ""
    if root is not None and not one.covers(str(root)):
        problem = f"{one.name} is about {', '.join(names)}: longsearch {one.roots[0]}"
    elif root is None and one.roots and "folder:" not in one.query:
        question = replace(question, query=" ".join((one.query, *(f'folder:"{name}"' for name in names))))
    news = tuple(f"{new.title}, p. {new.page}" if new.page is not None else new.title for new in one.news)
    return Saved(one.name, question, ", ".join(names), news, problem)
