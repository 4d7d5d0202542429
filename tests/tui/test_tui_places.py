"""Slides, sheets and messages: the list, the heading over the text and the clipboard name the place as people do."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from longsearch.engine.citing.evidence import evidence_of
from longsearch.engine.citing.forms import FORMS
from longsearch.engine.types.documents import DocumentText, Heading, MetadataValue
from longsearch.engine.types.results import DocumentHit, PassageHit
from longsearch.tui.painting import WrappedLines
from longsearch.tui.text.highlight import NO_WORDS
from longsearch.tui.text.result_content import hit_lines
from tests.tui.fake_backend import ROOT, FakeBackend
from tests.tui.test_tui_snapshots import ask_and_press, both_sizes, compare

_SUBJECT = "Re: the valve of the second pump, and when it can be replaced at last"


def _rows(first: int, last: int) -> str:
    return "\n".join(["Part | Failed | Remark", *(f"valve {n} | {1970 + n} | stayed open" for n in range(first, last))])


def _document(*parts: tuple[str, str], is_paged: bool) -> DocumentText:
    text, headings, starts = "", [], []
    for title, body in parts:
        starts.append(len(text))
        headings.append(Heading(1, title, len(text)))
        text += f"{body}\n\n"
    return DocumentText(text, tuple(starts) if is_paged else (), "", tuple(headings))


_DOCUMENTS = {
    1: _document(
        ('sheet "Valves" rows 2-9', "Valves\n" + _rows(2, 10)),
        ('sheet "Valves" rows 10-17', _rows(10, 18)),
        is_paged=False,
    ),
    2: _document(
        ("Costs", "Costs\n\nOf the valve"), ("Delay", "Delay\n\nThe valve did not fail alone."), is_paged=True
    ),
    3: _document((_SUBJECT, f"{_SUBJECT}\n\nFrom: Ann\n\nThe valve fails in the cold."), is_paged=True),
}
_PATHS = {1: "plan/valves.xlsx", 2: "talks/valve.pptx", 3: "mail/Inbox.mbox"}


def _hit(document_id: int, title: str, word: str) -> DocumentHit:
    document = _DOCUMENTS[document_id]
    start = document.text.rindex(word)
    stop = document.text.index("\n\n", start)
    text = document.text[start:stop]
    passage = PassageHit(
        document.page_at(start), document.place_at(start).heading, start, stop, text, 0.8 - document_id / 10
    )
    return DocumentHit(document_id, document_id, str(ROOT / _PATHS[document_id]), title, passage.score, (passage,))


def _hits() -> tuple[DocumentHit, ...]:
    return _hit(1, "valves", "Part |"), _hit(2, "What it costs", "Delay"), _hit(3, "Inbox", "The valve")


@both_sizes
@pytest.mark.parametrize("presses", [(), ("down", "down")], ids=["sheet", "message"])
def test_places_in_sheets_slides_and_mailboxes(
    snap_compare: Callable[..., bool], size: tuple[int, int], presses: tuple[str, ...]
) -> None:
    compare(snap_compare, FakeBackend(*_hits(), documents=_DOCUMENTS), size, ask_and_press(*presses))


def test_the_list_names_rows_slides_and_messages() -> None:
    lines = [_last_line(hit_lines(hit, str(ROOT), NO_WORDS, 100, 1)) for hit in _hits()]
    assert lines[0].endswith(' sheet "Valves" rows 10-17')
    assert lines[1].endswith(" slide 2")
    assert lines[2].endswith("…")
    assert " message 1 (Re: the valve of the second pump" in lines[2]
    assert all(len(line) == 100 for line in lines)


def test_a_narrow_list_keeps_room_for_the_path() -> None:
    assert "mail/Inbox.mbox" in _last_line(hit_lines(_hits()[2], str(ROOT), NO_WORDS, 44, 1))


def test_a_list_that_has_no_room_for_the_date_still_names_the_place() -> None:
    sheet = _hits()[0]
    dated = replace(sheet, metadata=(MetadataValue("date", "2024-05-17", "path"),))
    assert _last_line(hit_lines(dated, str(ROOT), NO_WORDS, 50, 1)).endswith(' sheet "Valves" rows 10-17')
    assert "2024-05-17 · sheet" in _last_line(hit_lines(dated, str(ROOT), NO_WORDS, 100, 1))


def test_a_copied_passage_names_its_place() -> None:
    sheet = _hits()[0]
    copied = FORMS["plain"](evidence_of(sheet, sheet.passages[0]))
    assert copied.endswith(f'— valves, sheet "Valves" rows 10-17 ({sheet.path})\n')


def _last_line(lines: WrappedLines) -> str:
    return lines.make()[-1].plain


def test_a_row_has_the_date_of_a_document_and_not_the_day_on_which_its_file_was_copied() -> None:
    copied = MetadataValue("date", "2026-11-23", "file time")
    hit = DocumentHit(1, 1, "/papers/a.pdf", "A paper", 0.5, (), metadata=(copied,))
    assert "2026" not in _last_line(hit_lines(hit, "/papers", NO_WORDS, 60, 1))
    listed = replace(hit, score=0.0)
    assert "2026-11-23" in _last_line(hit_lines(listed, "/papers", NO_WORDS, 60, 1)), "a list of documents goes by it"
    said = replace(hit, metadata=(replace(copied, source="PDF info"),))
    assert "2026-11-23" in _last_line(hit_lines(said, "/papers", NO_WORDS, 60, 1))
