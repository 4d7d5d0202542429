"""A scripted backend: it answers from lists, waits while a test holds a call, and raises the errors of a script."""

import threading
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from longsearch.engine.completions import Completion, CompletionChoice
from longsearch.engine.opened import Opened
from longsearch.engine.page_image import HighlightBoxes, PageImage, PageQuestion
from longsearch.engine.query_language.query import parse
from longsearch.engine.types.documents import DocumentText, MetadataValue
from longsearch.engine.types.progress import FileReport, FileStatus, IndexProgress, ScannedPages
from longsearch.engine.types.results import (
    DocumentHit,
    Folder,
    PassageHit,
    PassageSimilarity,
    SearchMode,
    SearchResults,
)
from tests.tui.fake_user_data import FakeUserData, refuse_the_screens_thread

ROOT = Path("/home/ada/papers")
HELD_S = 60.0
"""Seconds; a held call goes on after this time, so that a wrong test fails and does not hang."""

DONE = IndexProgress(
    n_files=482,
    n_current=479,
    n_waiting=0,
    n_partial=1,
    n_failed=2,
    n_tokens=12_400_000,
    n_tokens_embedded=12_400_000,
    activity="",
    tokens_per_s=0.0,
)
INDEXING = IndexProgress(
    n_files=482,
    n_current=130,
    n_waiting=206,
    n_partial=1,
    n_failed=2,
    n_tokens=8_000_000,
    n_tokens_embedded=3_300_000,
    activity="reading reports/2011/reactor-4.pdf",
    tokens_per_s=2_100.0,
)
EMPTY = IndexProgress(
    n_files=0, n_current=0, n_waiting=0, n_partial=0, n_failed=0, n_tokens=0, n_tokens_embedded=0, activity="",
    tokens_per_s=0.0,
)  # fmt: skip

SENTENCES = (
    "The reactor lost its coolant when the second pump failed and the valve behind it stayed open.",
    "Operators read the level in the pressurizer and concluded, wrongly, that the vessel was full.",
    "Decay heat went on at six percent of full power, which is enough to boil a swimming pool in an hour.",
    "No instrument in the control room showed the position of the valve itself, only that of its solenoid.",
    "The committee found that the same valve had failed nine times before at plants of this design.",
    "Training had prepared the crew for a large break, and what they had in front of them was a small one.",
    "Hydrogen collected under the dome; a spike of pressure was recorded early in the afternoon.",
)


@cache
def long_document(n_pages: int = 40, title: str = "Report on the accident at unit 2") -> DocumentText:
    """Return a report of `n_pages` pages, about 2,000 characters each, made of the same few sentences."""
    text, page_starts = "", []
    for page in range(1, n_pages + 1):
        page_starts.append(len(text))
        text += f"{page}. What happened on day {page}\n\n"
        for paragraph in range(4):
            order = [SENTENCES[(page + paragraph + i) % len(SENTENCES)] for i in range(5)]
            text += " ".join(order) + "\n\n"
    return DocumentText(text=text, page_starts=tuple(page_starts), title=title)


def passage(document: DocumentText, page: int, score: float, n_characters: int = 300) -> PassageHit:
    """Return a passage a little below the top of `page`; its second sentence is the excerpt."""
    start = document.text.index("\n\n", document.page_starts[page - 1]) + 2
    stop = document.text.index(". ", start + n_characters) + 1
    first = document.text.index(". ", start) + 2
    excerpt = (first, document.text.index(". ", first) + 1)
    return PassageHit(page, document.place_at(start).heading, start, stop, document.text[start:stop], score, excerpt)


def hit(
    rank: int,
    document: DocumentText,
    pages: tuple[int, ...],
    path: str = "reports/unit-2.pdf",
    title: str | None = None,
) -> DocumentHit:
    """Return a hit on `document` with a passage on each of `pages`, best first."""
    passages = tuple(passage(document, page, round(0.9 - 0.06 * (rank + index), 2)) for index, page in enumerate(pages))
    score = passages[0].score if passages else 0.1
    name = document.title if title is None else title
    return DocumentHit(rank, rank, str(ROOT / path), name, score, passages)


def many_reports(first: int = 1) -> tuple[list[DocumentHit], dict[int, DocumentText]]:
    """Return the hits of the ranks up to 20, with long titles, and their documents: more than a screen shows."""
    title = "Report on the accident at unit {} of the power station near the river, its causes and what followed"
    documents = {rank: long_document(20 + rank, title.format(rank)) for rank in range(first, 21)}
    return [hit(rank, one, (rank, 3), f"reports/unit-{rank}.pdf") for rank, one in documents.items()], documents


def draw_lines(question: PageQuestion, n_pages: int = 40) -> PageImage:
    """Return a page of grey lines, 1.4 times as high as wide. Each lit text stands on three lines of its own."""
    width = question.width if question.height is None else min(question.width, question.height * 10 // 14)
    height = max(width * 14 // 10, 1)
    pitch = max(height // 40, 2)
    paper, ink, edge = b"\xff" * 3, b"\x60" * 3, width // 10
    blank = paper * width
    line = paper * edge + ink * (width - 2 * edge) + paper * edge
    is_ink = [edge <= row < height - edge and row % pitch < pitch // 2 for row in range(height)]
    highlights = tuple(
        HighlightBoxes(
            text.kind, tuple((edge, top + row * pitch, width - edge, top + (row + 1) * pitch) for row in range(3))
        )
        for text in question.highlights
        for top in [edge + int(text.share * (height - 2 * edge)) // pitch * pitch]
    )
    return PageImage(width, height, b"".join(line if on else blank for on in is_ink), n_pages, highlights)


class FakeTable:
    """Implements `tui.backend.interface.Table`: the valve's cells of two questions and more are filled."""

    questions = ("how often had the valve failed?", "who was told?", "what did the [red]committee[/red] find?")
    file = "/home/ada/q.table.csv"

    def __init__(self, backend: "FakeBackend", n_documents: int = 3) -> None:
        self.backend = backend
        self.documents = [f"reports/unit-{n}\u202e.pdf" for n in range(1, n_documents + 1)]
        self.cells: dict[tuple[str, str], str] = {}

    def cell(self, question: str, document: str) -> str:
        return self.cells.get((question, document), "")

    def path_of(self, document: str) -> str:
        return str(ROOT / document)

    def fill(self) -> Generator[int, None, None]:
        asked = [(question, document) for question in self.questions[:2] for document in self.documents]
        for n_left, (question, document) in reversed(list(enumerate(reversed(asked)))):
            self.backend._call("fill", question, document)
            found = f"The valve of {document} had failed {n_left} times \x1b[31mbefore. [p. {n_left + 9}, likely]"
            self.cells.setdefault((question, document), found if n_left % 2 else "Nobody was told. [unsure]")
            yield n_left

    def correct(self, question: str, document: str, text: str) -> None:
        self.backend._call("correct", question, document, text)
        self.cells[question, document] = text


class FakeBackend:
    """Implements `tui.backend.interface.Backend`. Every search finds `hits`, unless `answers` says otherwise."""

    def __init__(self, *hits: DocumentHit, documents: dict[int, DocumentText] | None = None) -> None:
        self.hits = hits
        self.documents = documents or {}
        self.answers: dict[tuple[str, SearchMode], tuple[DocumentHit, ...]] = {}
        self.readings: dict[str, tuple[DocumentHit, ...]] = {}
        """What the reader makes of the hits of a query; without an entry there is no reader."""
        self.completions: dict[str, tuple[int, tuple[tuple[Any, ...], ...]]] = {}
        self.user_data = FakeUserData()
        self.evidence_table = FakeTable(self)
        self.heading_list: list[str] = []
        self.action_list: list[str] = []
        self.note = ""
        self.start_note = ""
        self.near: dict[int, PassageSimilarity] = {}
        self.opened: Opened | None = None
        self.draw: Callable[[PageQuestion], PageImage] = draw_lines
        self.folder_list: list[Folder] = []
        """The folders of an app over several; if there are none, it is over `ROOT`."""
        self.progress_now = DONE
        self.file_list: list[FileReport] = []
        self.scans = ScannedPages()
        self.errors: dict[str, Exception] = {}
        self.calls: list[tuple[object, ...]] = []
        self._doors: dict[tuple[str, str], threading.Event] = {}
        self.entered: dict[tuple[str, str], threading.Event] = defaultdict(threading.Event)

    @property
    def root(self) -> Path | None:
        return None if self.folder_list else ROOT

    def folders(self) -> list[Folder]:
        refuse_the_screens_thread()
        return self.folder_list

    def hold(self, kind: str, what: str = "") -> threading.Event:
        """Make calls of `kind` (a mode or a method) with argument `what` wait until the returned event is set."""
        return self._doors.setdefault((kind, what), threading.Event())

    def called(self, kind: str) -> list[tuple[object, ...]]:
        """Return the arguments of the calls of `kind` so far."""
        return [call[1:] for call in self.calls if call[0] == kind]

    def _call(self, kind: str, what: str, *rest: object) -> None:
        if kind != "close":  # tests close it themselves
            refuse_the_screens_thread()
        self.calls.append((kind, what, *rest))
        self.entered[(kind, what)].set()
        for key in ((kind, what), (kind, "")):
            if key in self._doors:
                self._doors[key].wait(HELD_S)
        if kind in self.errors:
            raise self.errors[kind]

    def start(self) -> str:
        self._call("start", "")
        return self.start_note

    def read(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults | None:
        self._call("read", query, mode.value)
        hits = self.readings.get(query)
        return None if hits is None else SearchResults(query, mode, instruction, 300.0, hits, self.note)

    def search(self, query: str, mode: SearchMode, instruction: str = "") -> SearchResults:
        self._call(mode.value, query, instruction)
        hits = self.answers.get((query, mode), self.hits)
        took_ms = 3.2 if mode is SearchMode.WORDS else 84.0
        terms = parse(query, prefix_last=mode is SearchMode.WORDS).terms
        return SearchResults(query, mode, instruction, took_ms, hits, self.note, lit=terms)

    def explained(self, results: SearchResults) -> SearchResults:
        self._call("explained", results.query)
        return results

    def complete(self, typed: str) -> Completion:
        self._call("complete", typed)
        start, choices = self.completions.get(typed, (len(typed), ()))
        return Completion(start, tuple(CompletionChoice(*choice) for choice in choices))

    def headings(self) -> list[str]:
        self._call("headings", "")
        return self.heading_list

    def similar(self, document_id: int, start: int | None = None) -> SearchResults:
        self._call("similar", str(document_id), *([] if start is None else [start]))
        title = next(hit.title for hit in self.hits if hit.document_id == document_id)
        title = title if start is None else f"a passage of {title}"
        others = (hit for hit in self.hits if hit.document_id != document_id)
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(others, start=1))
        return SearchResults("", SearchMode.MEANING, "", 6.0, hits, self.note, similar_to=title)

    def document(self, document_id: int) -> DocumentText:
        self._call("document", str(document_id))
        return self.documents[document_id]

    def passage_similarity(self, document_id: int, query: str, instruction: str) -> PassageSimilarity:
        self._call("passage_similarity", str(document_id), query, instruction)
        return self.near.get(document_id, ())

    def page_image(self, question: PageQuestion) -> PageImage:
        self._call("page_image", str(question.page), question)
        return self.draw(question)

    def table(self, questions: str) -> FakeTable:
        self._call("table", questions)
        return self.evidence_table

    def progress(self) -> IndexProgress:
        self._call("progress", "")
        return replace(self.progress_now, problem=self.progress_now.problem or self.start_note)

    def files(self) -> list[FileReport]:
        self._call("files", "")
        return self.file_list

    def retry(self) -> str:
        self._call("retry", "")
        return "they are read again"

    def scanned_pages(self, n_pages: int, n_files: int) -> ScannedPages:
        self._call("scanned_pages", "")
        return replace(self.scans, n_pages=n_pages)

    def read_scans(self, is_wished: bool) -> str:
        self._call("read_scans", str(is_wished))
        self.scans = replace(self.scans, is_wished=is_wished)
        return "the scanned pages are noted"

    def open(self, path: str, page: int | None, text: str = "") -> Opened:
        self._call("open", path, page, text)
        return self.opened or Opened(f"opened {Path(path).name} with xdg-open")

    def actions(self) -> list[str]:
        refuse_the_screens_thread()
        return self.action_list

    def act(self, name: str, path: str, page: int | None, text: str) -> Opened:
        self._call("act", name, path, page, text)
        return Opened(f"{name}: started")

    def close(self) -> None:
        self._call("close", "")
        for door in self._doors.values():
            door.set()


DESCRIBED = (
    MetadataValue("title", "Report on the accident at unit 2", "largest type"),
    MetadataValue("author", "John G. Kemeny", "XMP"),
    MetadataValue("author", "Bruce Babbitt", "XMP"),
    MetadataValue("date", "1979-10", "PDF info"),
    MetadataValue("language", "en", "PDF catalogue"),
    MetadataValue("tag", "reactors", "XMP"),
    MetadataValue("tag", "\x1b[31mvalves", "XMP"),
    MetadataValue("status", "read", "front matter"),
)


def described_reports() -> FakeBackend:
    """Return `three_reports` with metadata for the first."""
    backend = three_reports()
    backend.hits = (replace(backend.hits[0], metadata=DESCRIBED), *backend.hits[1:])
    return backend


def some_files() -> list[FileReport]:
    """Return files of every status."""
    return [
        FileReport("reports/2011/unit-2.pdf", FileStatus.CURRENT, "", "", 40, 21_300, 21_300),
        FileReport("notes/[red]todo[/red].md", FileStatus.WAITING, "", "", 0, 940, 0),
        FileReport("scans/minutes-1979-03-28-afternoon-session-with-annexes.pdf", FileStatus.FAILED,
                   "no text (scanned?)", "run it through ocrmypdf and it is indexed again", 212, 0, 0),
        FileReport("contracts/lease.pdf", FileStatus.FAILED, "encrypted: a password is needed",
                   "save a copy without the password", 0, 0, 0),
        FileReport("reports/annual.pdf", FileStatus.PARTIAL, "pages 14 to 16 took longer than 10 s each",
                   "the other 88 pages are searchable", 91, 60_122, 60_122),
    ]  # fmt: skip


def three_reports() -> FakeBackend:
    """Return a backend with three documents, which have five, two and one passages."""
    report, manual, note = long_document(), long_document(12, "Valves: a manual"), long_document(3, "")
    note = DocumentText(note.text, (), "")
    hits = (
        hit(1, report, (12, 3, 13, 31, 40), "reports/2011/committee/final/unit-2-report.pdf"),
        hit(2, manual, (4, 9), "manuals/valves.pdf"),
        DocumentHit(3, 3, str(ROOT / "notes/pumps.md"), "", 0.41, (passage(long_document(3, ""), 2, 0.41),)),
    )
    passages = tuple(PassageHit(None, "", p.start, p.stop, p.text, p.score) for p in hits[2].passages)
    hits = (*hits[:2], DocumentHit(3, 3, hits[2].path, "", 0.41, passages))
    return FakeBackend(*hits, documents={1: report, 2: manual, 3: note})


def indexing() -> FakeBackend:
    """The same, while files are read."""
    backend = three_reports()
    backend.progress_now = INDEXING
    return backend


def with_files() -> FakeBackend:
    """The same, with files of every status."""
    backend = three_reports()
    backend.file_list = some_files()
    return backend


def three_folders() -> FakeBackend:
    """Return the backend of an app over three folders, of which one is away and one has a name in two words."""
    backend = three_reports()
    backend.folder_list = [
        Folder("manuals", "/home/ada/manuals", 61),
        Folder("my reports", "/mnt/usb/reports", 1_204, away="its drive is not mounted"),
        Folder("work/papers", "/home/ada/work/papers", 482),
    ]
    names = ("my reports", "manuals", "work/papers")
    roots = ("/mnt/usb/reports", "/home/ada/manuals", "/home/ada/work/papers")
    backend.hits = tuple(
        replace(hit, path=hit.path.replace(str(ROOT), root), root=root, folder=name)
        for hit, name, root in zip(backend.hits, names, roots, strict=True)
    )
    backend.note = "my reports is away (its drive is not mounted): its documents are found, but cannot be opened"
    return backend
