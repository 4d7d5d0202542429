"""The app over a made backend with 50,000 files and a document of 10 MB, for `app.py`. It notes what blocks the loop.

`python tests/bench/app_with_much.py REPORT` writes the longest callbacks of the event loop when the app is left.
"""

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from measuring import sample_text

from longsearch.engine.types.documents import DocumentText
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.tui.app import LongsearchApp
from longsearch.tui.garbage import let_keys_pass
from tests.tui.fake_backend import FakeBackend, hit, long_document, many_reports

N_FILES, N_CHARACTERS, N_SHOWN = 50_000, 10_000_000, 10
PAGE_CHARACTERS = 3_000


def much() -> FakeBackend:
    """Return the backend: 20 results, one in a document of 10 MB that has a passage in every tenth, and the files."""
    report = long_document()
    text = sample_text(N_CHARACTERS)
    book = DocumentText(text=text, page_starts=tuple(range(0, len(text), PAGE_CHARACTERS)), title="A long book")
    pages = tuple(range(3, len(book.page_starts) - 10, len(book.page_starts) // 10))
    others, documents = many_reports(3)
    hits = [hit(1, report, (12, 3)), hit(2, book, pages, "book.txt"), *others]
    backend = FakeBackend(*hits, documents={1: report, 2: book} | documents)
    statuses = list(FileStatus)
    backend.file_list = [  # in the order of an index
        FileReport(
            f"folder {n // 500:02}/file {n:05}.pdf", statuses[n % len(statuses)], "a reason", "a hint", n % 300, n, n
        )
        for n in range(N_FILES)
    ]
    backend.progress_now = replace(backend.progress_now, n_files=N_FILES, n_current=N_FILES)
    return backend


def note_blocks(longest: list[tuple[float, str]]) -> None:
    """Time every callback of event loops from now on, in processor time of its thread; keep the longest ones."""
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        took = time.thread_time() - began
        if len(longest) < N_SHOWN or took > longest[-1][0]:
            longest.append((took, _name_of(handle)))
            longest.sort(reverse=True)
            del longest[N_SHOWN:]

    asyncio.Handle._run = timed  # type: ignore[method-assign]


def _name_of(handle: asyncio.Handle) -> str:
    """Return whose callback it is: a task's coroutine, with the widget whose messages it handles."""
    task = getattr(handle._callback, "__self__", None)
    coroutine = task.get_coro() if isinstance(task, asyncio.Task) else None
    owner = getattr(coroutine, "cr_frame", None)
    pump = owner.f_locals.get("self") if owner is not None else None
    return f"{type(pump).__name__}: {getattr(coroutine, '__qualname__', repr(handle))}"[:160]


def main(report: str) -> None:
    """Run the app; then write the report."""
    longest: list[tuple[float, str]] = []
    note_blocks(longest)
    LongsearchApp(much(), when_shown=let_keys_pass).run()  # as `longsearch open` does
    Path(report).write_text(json.dumps(longest))


if __name__ == "__main__":
    main(sys.argv[1])
