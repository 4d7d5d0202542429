"""What decides about calls and answers: the latest request, the age of answers, the cache."""

import asyncio
import threading
from contextlib import suppress

import pytest
from textual import work
from textual.app import App, ComposeResult
from textual.widgets import Static
from textual.worker import WorkerCancelled

from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.results import SearchMode
from longsearch.tui.backend.backend_calls import Newest, Request
from longsearch.tui.backend.interface import Question
from longsearch.tui.backend.latest_only import LatestOnly, attempt
from longsearch.tui.widgets.text_pane import MAX_CHARACTERS, MAX_DOCUMENTS, DocumentCache

# The latest request and ages


async def answered(calls: LatestOnly[str]) -> list[tuple[str, str | None]]:
    return [(request, answer) async for request, answer, _ in calls.answers(str.upper)]


async def test_one_call_is_made_at_a_time_and_only_the_newest_request_waits() -> None:
    calls: LatestOnly[str] = LatestOnly()
    assert calls.offer("a")
    assert not calls.offer("b")
    assert not calls.offer("c")
    assert await answered(calls) == [("a", "A"), ("c", "C")]
    assert calls.running is None
    assert calls.offer("d")
    assert await answered(calls) == [("d", "D")]


class Lingering(Static):
    """Takes until `may_go` is set to leave the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go = asyncio.Event()

    async def on_unmount(self) -> None:
        await self.may_go.wait()


class Asker(Static):
    """Asks something that is answered when `may_answer` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.child = Lingering()
        self.may_answer = threading.Event()
        self.has_used_answer = False

    def compose(self) -> ComposeResult:
        yield self.child

    @work
    async def ask(self) -> None:
        await attempt(self.may_answer.wait)
        self.has_used_answer = True


@pytest.mark.parametrize("is_leaving", [False, True])
async def test_an_answer_is_dropped_if_its_widget_is_being_removed(is_leaving: bool) -> None:
    app: App[None] = App()
    async with app.run_test():
        asker = Asker()
        await app.mount(asker)
        worker = asker.ask()
        removal = asker.remove() if is_leaving else None
        asker.may_answer.set()
        with suppress(WorkerCancelled):
            await worker.wait()
        asker.child.may_go.set()
        if removal is not None:
            await removal
        assert asker.has_used_answer is not is_leaving


async def test_a_dropped_request_is_not_called() -> None:
    calls: LatestOnly[str] = LatestOnly()
    calls.offer("a")
    calls.offer("b")
    calls.drop()
    assert await answered(calls) == [("a", "A")]


async def test_a_request_offered_while_an_answer_is_handled_comes_next() -> None:
    calls: LatestOnly[str] = LatestOnly()
    assert calls.offer("a")
    requests = []
    async for request, _, _ in calls.answers(str.upper):
        requests.append(request)
        if request == "a":
            assert calls.running is None
            assert not calls.offer("b")  # the loop goes on by itself
    assert requests == ["a", "b"]


async def test_a_call_that_raises_gives_its_error_in_one_line_and_the_next_is_made() -> None:
    calls: LatestOnly[str] = LatestOnly()
    calls.offer("x")
    calls.offer("7")
    answers = [(answer, error) async for _, answer, error in calls.answers(int)]
    assert answers[0][0] is None
    assert answers[0][1].startswith("Something went wrong inside longsearch: ValueError: invalid literal")
    assert answers[1] == (7, "")


def request(serial: int, is_final: bool) -> Request:
    return Request(serial, Question("q"), is_final)


def test_an_older_answer_is_not_admitted_after_a_newer_one() -> None:
    newest = Newest()
    assert newest.admits(request(1, False))
    assert newest.admits(request(1, True))
    assert not newest.admits(request(1, False))
    assert newest.admits(request(2, False))
    assert not newest.admits(request(1, True))
    assert newest.admits(request(2, False))  # the same search once more


def test_the_search_that_bridges_the_wait_is_by_words() -> None:
    bridge = request(3, True).by_words()
    assert (bridge.question.mode, bridge.is_final, bridge.serial) == (SearchMode.WORDS, False, 3)


# The cache


def document(n_characters: int) -> DocumentText:
    return DocumentText("x" * n_characters, (), "")


def test_the_least_recently_used_documents_are_dropped() -> None:
    cache = DocumentCache()
    for document_id in range(MAX_DOCUMENTS):
        cache.put(document_id, document(1))
    cache.get(0)
    cache.put(99, document(1))
    assert cache.get(0) is not None
    assert cache.get(1) is None


def test_the_newest_document_is_kept_however_long_it_is() -> None:
    cache = DocumentCache()
    cache.put(1, document(1))
    cache.put(2, document(MAX_CHARACTERS + 1))
    assert cache.get(1) is None
    assert cache.get(2) is not None
