"""Reading costs what it did: how many functions a page of a PDF and a passage of a text make longsearch enter.

A count is the same on every machine. Who adds a feature for a few pages or passages finds here whether the others pay
for it; where all are to pay, the bound is raised with the reason.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
import pytest

import longsearch.engine
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage
from longsearch.indexer.extract.pdf import gaps, places
from longsearch.indexer.extract.pdf.pdfium import PdfiumDocument
from tests.engine.store.store_helpers import open_store, record
from tests.indexer.pdf_writing import lines_of, write_pdf

_HOUSE = str(Path(longsearch.engine.__file__).resolve().parents[1]) + os.sep
_N_PAGES, _N_PASSAGES = 8, 60
PROSE = (
    "The keeper of the light wrote down each ship that passed the point in a storm, and counted the lost boats in the "
    "spring of 1887. In March he counted 1,240 barrels (Vik, 1886), and half of them were empty; the rest smelled of "
    "tar. His daughter trimmed the lamp every second hour, and slept in the afternoon by the warm wall. "
)


def entered(run: Callable[[], object]) -> Counter[str]:
    """How often `run` enters each function of longsearch, and asks regular expressions and SQLite there.

    It runs once before, so that all is imported. Comprehensions do not count: from Python 3.12 on they are none.
    """
    run()
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, called: Any) -> None:
        code = frame.f_code
        if not os.path.realpath(code.co_filename).startswith(_HOUSE):
            return
        if event == "call" and not code.co_name.startswith("<"):
            found[code.co_qualname] += 1
        elif event == "c_call" and isinstance(getattr(called, "__self__", None), re.Pattern | apsw.Connection):
            found[f"{code.co_qualname}: {called.__name__}"] += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def test_a_page_of_a_pdf_enters_few_functions_for_each_of_its_lines(tmp_path: Path) -> None:
    text = "\n".join(f"{PROSE[n : n + 60]} {n}" for n in range(40))
    path = write_pdf(tmp_path / "a.pdf", [lines_of(text)] * _N_PAGES)

    def read() -> None:
        document = PdfiumDocument(path)
        assert all(len(document.page(n).lines) == 40 for n in range(_N_PAGES))  # type: ignore[union-attr]
        document.close()

    found = entered(read)
    assert found.total() <= 4 * 40 * _N_PAGES, found.most_common(15)  # 3.63 a line


def test_a_line_of_a_pdf_asks_pdfium_few_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    def counting(name: str, ask: Callable[..., object]) -> Callable[..., object]:
        return lambda *arguments: (asked.update((name,)), ask(*arguments))[1]

    for name, ask in vars(places).copy().items():
        if type(ask).__name__ == "CFunctionType":
            monkeypatch.setattr(places, name, counting(name, ask))
    text = "\n".join(f"{PROSE[n : n + 60]} {n}" for n in range(40))
    document = PdfiumDocument(write_pdf(tmp_path / "a.pdf", [lines_of(text)] * _N_PAGES))
    n_lines = sum(len(page.lines) for n in range(_N_PAGES) if (page := document.page(n)))
    document.close()
    assert n_lines == 40 * _N_PAGES
    assert asked["_get_origin"] == 2 * n_lines  # the count counts
    assert asked.total() <= 5.4 * n_lines, asked  # 5.35


def test_a_page_of_strange_letters_is_searched_for_glued_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(text: str) -> bool:
        asked.append(text)
        return False

    monkeypatch.setattr(gaps, "may_be_glued", note)
    texts = ["é" * 1_000 + " " + "x" * 1_000] * 30
    assert not gaps.glued_lines(texts, gaps.letters_in(texts))
    assert asked == texts  # not once for each of 60,000 letters


def test_a_passage_of_a_text_enters_few_functions(tmp_path: Path) -> None:
    def read(store: Store, name: str) -> None:  # no passage that has been read before: its words would be at hand
        text = "".join(PROSE.replace("light", f"light {name} {n}") for n in range(_N_PASSAGES))
        size = len(text) // _N_PASSAGES
        passages = [Passage(n * size, (n + 1) * size, 100) for n in range(_N_PASSAGES)]
        store.add_document(record(name), sha256(name.encode()).digest(), DocumentText(text, (), "Light"), passages)

    with open_store(tmp_path / "i.db") as store:
        names = iter(("a.md", "b.md"))
        found = entered(lambda: read(store, next(names)))
    assert found.total() <= 74 * _N_PASSAGES, found.most_common(20)  # 72.3 a passage that names numbers


def test_a_document_takes_few_statements_of_sql_whatever_its_length(tmp_path: Path) -> None:
    def read(store: Store, n_passages: int, names: Iterator[str]) -> None:
        name = next(names)
        passages = [Passage(n * 100, (n + 1) * 100, 20) for n in range(n_passages)]
        document = DocumentText(PROSE * 20 + name, (), "Light")
        store.add_document(record(name), sha256(name.encode()).digest(), document, passages)

    counts = []
    with open_store(tmp_path / "i.db") as store:
        for n_passages in (2, 40):
            names = iter((f"a{n_passages}.md", f"b{n_passages}.md"))
            found = entered(partial(read, store, n_passages, names))
            counts.append({name: n for name, n in found.items() if name.endswith((": execute", ": executemany"))})
    assert counts[0] == counts[1]
    assert sum(counts[0].values()) <= 31, counts[0]
