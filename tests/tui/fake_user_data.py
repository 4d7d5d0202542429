"""A person's own things in memory, for the tests of the terminal app. It raises the errors of a script."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from longsearch.engine.citing.evidence import Evidence, PlacedEvidence, PlaceState, evidence_of
from longsearch.engine.citing.forms import FORMS
from longsearch.engine.types.results import DocumentHit, Folder, PassageHit
from longsearch.tui.backend.interface import BasketView, InView, Question, Saved


def refuse_the_screens_thread() -> None:
    """Raise AssertionError in a thread that handles keys: what is asked there holds the screen up."""
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise AssertionError("the backend is asked in the thread of the screen")


class FakeUserData:
    """Implements `tui.backend.user_data.UserData`."""

    def __init__(self) -> None:
        self.kept: list[PlacedEvidence] = []
        self.undone: list[tuple[str, list[PlacedEvidence]]] = []
        self.exported: list[str] = []
        self.errors: dict[str, Exception] = {}

        self.asked: list[Question] = []
        self.asked_elsewhere: list[Question] = []
        """Those of them that were asked of another folder."""
        """The history, newest first."""
        self.last_in_view: InView | None = None
        self.searches: list[Saved] = []
        self.left: list[InView] = []
        self.other_folders: list[Folder] = []
        self.themes: list[str] = []
        self.why_no_theme = ""

    def _call(self, kind: str) -> None:
        refuse_the_screens_thread()
        if kind in self.errors:
            raise self.errors[kind]

    def _change(self, what: str, new: list[PlacedEvidence]) -> None:
        self._call("change")
        self.undone.append((what, self.kept))
        self.kept = new

    def quotation(self, hit: DocumentHit, passage: PassageHit) -> str:
        self._call("quotation")
        return FORMS["plain"](evidence_of(hit, passage))

    def keep(self, hit: DocumentHit, passage: PassageHit, query: str) -> str:
        self._call("keep")
        one = replace(evidence_of(hit, passage, query), id=f"{len(self.kept) + 1:08x}")
        self._change("adding a passage", [*self.kept, PlacedEvidence(one, PlaceState.SAME)])
        return f"kept: {len(self.kept)} passages in the basket"

    def basket(self) -> BasketView:
        self._call("basket")
        return BasketView(tuple(self.kept), self.undone[-1][0] if self.undone else "")

    def remove(self, ids: Sequence[str]) -> None:
        self._change("removing", [one for one in self.kept if one.evidence.id not in ids])

    def move(self, id_: str, step: int) -> None:
        at = next(at for at, one in enumerate(self.kept) if one.evidence.id == id_)
        new = [*self.kept]
        if 0 <= at + step < len(new):
            new[at], new[at + step] = new[at + step], new[at]
            self._change("moving", new)

    def annotate(self, id_: str, note: str) -> None:
        new = [
            replace(one, evidence=replace(one.evidence, note=note)) if one.evidence.id == id_ else one
            for one in self.kept
        ]
        self._change("a note", new)

    def undo(self) -> str:
        self._call("undo")
        what, self.kept = self.undone.pop()
        return what

    def copied(self, id_: str) -> str:
        self._call("copied")
        return FORMS["plain"](next(one.evidence for one in self.kept if one.evidence.id == id_))

    def export(self, file_name: str) -> str:
        self._call("export")
        self.exported.append(file_name)
        return f"{len(self.kept)} passages written to {file_name}"

    def history(self) -> tuple[list[Question], list[Question]]:
        self._call("history")
        return list(self.asked), [one for one in self.asked if one not in self.asked_elsewhere]

    def remember(self, question: Question) -> None:
        self._call("remember")
        self.asked = [question, *(one for one in self.asked if one.query != question.query)]

    def forget_question(self, question: Question) -> None:
        self._call("forget_question")
        self.asked.remove(question)

    def last(self) -> InView | None:
        self._call("last")
        return self.last_in_view

    def leave(self, in_view: InView) -> None:
        self._call("leave")
        self.left.append(in_view)

    def folders(self) -> list[Folder]:
        self._call("folders")
        return self.other_folders

    def keep_theme(self, name: str) -> str:
        self._call("keep_theme")
        self.themes.append(name)
        return self.why_no_theme

    def saved(self) -> list[Saved]:
        self._call("saved")
        return [*self.searches]

    def save(self, name: str, question: Question) -> str:
        self._call("save")
        self.searches.append(Saved(name, question))
        return f"saved: {name}"

    def remove_saved(self, name: str) -> None:
        self._call("remove_saved")
        self.searches = [one for one in self.searches if one.name != name]

    def look(self, name: str) -> None:
        self._call("look")
        self.searches = [one._replace(news=()) if one.name == name else one for one in self.searches]

    def n_new(self) -> int:
        self._call("n_new")
        return sum(len(one.news) for one in self.searches)


def some_evidence() -> list[PlacedEvidence]:
    """Return passages of every kind: with a page, a note, hostile text, changed and gone."""
    report = "/home/ada/papers/reports/2011/unit-2-report.pdf"
    first = Evidence(
        "The reactor lost its coolant when the second pump failed and the valve behind it stayed open.",
        report, "Report on the accident at unit 2", "00000001", 12, root="/home/ada/papers", folder="papers",
        authors=("John G. Kemeny", "Bruce Babbitt"), date="1979-10", note="compare with the manual",
    )  # fmt: skip
    hostile = replace(
        first, id="00000002", path="/home/ada/papers/\x1b[31m[bold]x[/bold]\u202e.pdf",
        title="[red]\x1b]0;owned\x07 valves",
        quote="\x1b[2J[link=x]Text\u202e that acts\r\nas markup[/link] " * 3, page=None, note="\x1b[5m[blink]note",
        authors=(), date="",
    )  # fmt: skip
    moved = replace(first, id="00000003", page=14, note="", quote="Operators read the level, and concluded wrongly.")
    gone = replace(
        moved, id="00000004", title="Minutes of the afternoon session", quote="Nobody said this again. " * 30
    )
    states = (PlaceState.SAME, PlaceState.SAME, PlaceState.MOVED, PlaceState.GONE)
    return [PlacedEvidence(*pair) for pair in zip((first, hostile, moved, gone), states, strict=True)]
