"""Marks of e-books: what Calibre keeps in the book, and KOReader beside it."""

import base64
import json
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.types.documents import Mark
from longsearch.indexer.extract import koreader
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.sources.source import Folder

CHAPTERS = ("The mast broke at noon. Nobody was told.", "The mast was mended by Bo.")
CALIBRE = [
    {"type": "highlight", "highlighted_text": "Nobody was\ntold", "notes": "why?",
     "style": {"kind": "color", "type": "builtin", "which": "yellow"}},
    {"type": "highlight", "highlighted_text": "at noon", "removed": True},
    {"type": "last-read", "pos": "x"}, "odd", {"type": "highlight", "highlighted_text": 7},
    {"type": "highlight", "highlighted_text": "by Bo", "style": {"which": "strikeout"}},
]  # fmt: skip
KOREADER = r"""-- /books/mast.epub
return {
    ["annotations"] = {
        [1] = {
            ["chapter"] = "Two",
            ["color"] = "green",
            ["datetime"] = "2025-01-02 03:04:05",
            ["drawer"] = "lighten",
            ["note"] = "which \"mast\"?\
the second",
            ["page"] = "/body/DocFragment[2]/body/p/text().4",
            ["pos0"] = "/body/DocFragment[2]/body/p/text().4",
            ["text"] = "mast",
        },
        [2] = { ["page"] = "/body/DocFragment[1]/body/p", ["text"] = "in One" },
        [3] = { ["drawer"] = "underscore", ["text"] = "at noon", ["pageno"] = 1, },
    },
    ["percent_finished"] = 0.5,
    ["highlight"] = {},
}
"""
OLDER = r"""return { ["bookmarks"] = {
 [1] = { ["highlighted"] = true, ["notes"] = "at noon", ["text"] = "Page 1 at noon @ 2021-05-06 10:00:00" },
 [2] = { ["highlighted"] = true, ["notes"] = "by Bo", ["text"] = "thanks" }, } }"""


def book(path: Path, bookmarks: bytes = b"") -> Path:
    items = "".join(f'<item id="c{n}" href="{n}.xhtml" media-type="x"/>' for n in range(2))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>')
        order = '<itemref idref="c0"/><itemref idref="c1"/>'
        archive.writestr("b.opf", f"<package><manifest>{items}</manifest><spine>{order}</spine></package>")
        for number, text in enumerate(CHAPTERS):
            archive.writestr(f"{number}.xhtml", f"<html><body><p>{text}</p></body></html>")
        if bookmarks:
            archive.writestr("META-INF/calibre_bookmarks.txt", bookmarks)
    return path


def read(path: Path) -> list[tuple[Mark, str]]:
    with ExtractorProcess() as process:
        document = process.extract(path).document
    return [(mark, document.text[mark.start : mark.stop]) for mark in document.marks]


def test_the_highlights_that_calibre_keeps_in_the_book_are_read(tmp_path: Path) -> None:
    bookmarks = b"encoding=json+base64:\n" + base64.b64encode(json.dumps(CALIBRE).encode())
    (first, words), (second, others) = read(book(tmp_path / "a.epub", bookmarks))
    assert (first.kind, first.color, first.note, words) == ("highlight", "#ffeb6b", "why?", "Nobody was told")
    assert (second.kind, others) == ("strikeout", "by Bo")
    assert read(book(tmp_path / "b.epub", b"encoding=json+base64:\n" + b"%%%")) == []


def test_the_marks_that_koreader_keeps_beside_the_book_are_read_and_noticed(tmp_path: Path) -> None:
    path, source = book(tmp_path / "mast.epub"), Folder(tmp_path)
    before = source.listing().files["mast.epub"], source.hash_of(path)
    apart = koreader.kept_beside(path)
    assert apart == tmp_path / "mast.sdr" / "metadata.epub.lua"
    apart.parent.mkdir()
    apart.write_text(KOREADER)
    os.utime(apart, ns=(0, 2**62))
    after = source.listing(), source.hash_of(path)
    assert list(after[0].files) == ["mast.epub"]
    assert after[0].files["mast.epub"].ctime_ns != before[0].ctime_ns
    assert after[1] != before[1]
    (noon, at_noon), (mast, second) = read(path)
    assert (noon.kind, at_noon) == ("underline", "at noon")
    assert (mast.kind, mast.color, second) == ("highlight", "#00aa66", "mast")
    assert (mast.note, mast.start) == ('which "mast"?\nthe second', len(CHAPTERS[0]) + len("\n\nThe "))


def test_an_older_koreader_and_what_it_writes_itself_are_told_apart(tmp_path: Path) -> None:
    koreader.kept_beside(tmp_path / "a.epub").parent.mkdir()
    koreader.kept_beside(tmp_path / "a.epub").write_text(OLDER)
    found = [mark for _, mark in koreader.marks_apart(tmp_path / "a.epub")]
    assert [(words, note) for _, _, words, _, note, _ in found] == [("at noon", ""), ("by Bo", "thanks")]


@pytest.mark.parametrize("text", ["", "return", "return {", "{" * 99, 'return { ["annotations"] = "x" }', "os.exit()"])
def test_what_is_no_table_of_koreader_has_no_marks(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.epub"
    koreader.kept_beside(path).parent.mkdir()
    koreader.kept_beside(path).write_text(text)
    assert koreader.marks_apart(path) == ()


@given(st.text(alphabet='{}[]="\\, \nreturn1annotations', max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        koreader._value(koreader._tokens(text), 0)
    except (ValueError, StopIteration):
        pass
    else:
        assert text.strip()
