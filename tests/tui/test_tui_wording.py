"""The sentences of the app: every status has its own, and names from outside are made safe."""

from dataclasses import replace

from longsearch.engine.errors import StoreError
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.engine.types.results import ChanceLevel, DocumentHit, SearchMode, SearchResults
from longsearch.engine.unread import NONE_READ, unread
from longsearch.tui.text.progress_words import (
    has_changed,
    not_ready,
    note_now,
    progress_line,
    readiness,
    share_embedded,
    trouble,
)
from longsearch.tui.text.wording import first_unlikely, next_try, nothing_found, summary, tally
from longsearch.tui.widgets.result_pane import welcome
from tests.tui.fake_backend import DONE, EMPTY, INDEXING

NOTHING = SearchResults("zebra \x1b[31m", SearchMode.HYBRID, "", 12.4, ())


def test_the_progress_line_shows_share_time_failures_and_activity() -> None:
    assert progress_line(INDEXING) == (
        "reading 41% · about 37 min left · 2 failed (F3) · reading reports/2011/reactor-4.pdf"
    )
    assert progress_line(DONE) == "480 documents ready · 2 failed (F3)"
    assert progress_line(replace(DONE, n_without_text=1)) == "480 documents ready · 1 failed (F3)"
    assert progress_line(replace(DONE, n_without_text=2)) == "480 documents ready"
    assert progress_line(EMPTY) == "no documents"
    assert progress_line(None) == "opening the index…"


def test_an_unknown_rate_is_left_out() -> None:
    line = progress_line(replace(INDEXING, tokens_per_s=0.0, n_failed=0, activity=""))
    assert line == "reading 41%"
    assert progress_line(replace(INDEXING, n_tokens=0, n_failed=0, activity="")) == "reading 337 of 482 files"


def test_while_no_meaning_is_read_the_line_counts_the_files_that_are_read_and_then_says_0_percent() -> None:
    begun = replace(INDEXING, n_tokens_embedded=0, tokens_per_s=0.0, n_failed=0, activity="")
    assert progress_line(begun) == "reading 337 of 482 files"
    assert progress_line(replace(begun, n_files=337)) == "reading 0%"
    assert progress_line(replace(EMPTY, activity="looking through the folder")) == "looking through the folder"


def test_a_file_name_in_the_activity_cannot_reach_the_terminal() -> None:
    assert "\x1b" not in progress_line(replace(INDEXING, activity="reading \x1b]0;x\x07"))
    assert "\x1b" not in readiness(replace(EMPTY, activity="\x1b[2J"))


def test_there_is_a_share_only_while_tokens_are_left_to_embed() -> None:
    assert share_embedded(INDEXING) == 3_300_000 / 8_000_000
    assert share_embedded(DONE) is None
    assert share_embedded(EMPTY) is None


def test_readiness_has_a_sentence_for_every_status_of_the_index() -> None:
    assert readiness(EMPTY) == "There are no documents in this folder."
    assert readiness(replace(EMPTY, activity="looking through the folder")) == "looking through the folder…"
    assert readiness(replace(EMPTY, n_files=7)) == "The index is being built: none of 7 files can be searched yet."
    assert readiness(DONE) == "480 documents ready."
    assert readiness(INDEXING) == "337 documents ready; 206 have not been read for their meaning yet."
    assert not_ready(INDEXING) == "143 files still to be read. 2 files could not be read: F3 says why."
    assert not_ready(replace(DONE, n_files=480, n_failed=0)) == not_ready(EMPTY) == not_ready(None) == ""


def test_the_welcome_text_mentions_failed_files_and_why_indexing_does_not_run() -> None:
    text = "\n".join(str(line) for line in welcome(DONE, "the daemon does not start"))
    assert "2 files could not be read: F3 says why." in text
    assert "! the daemon does not start" in text


def test_the_welcome_text_says_what_would_find_more() -> None:
    told = replace(DONE, advice="86% of the documents are not in English\x1b[31m")
    text = "\n".join(str(line) for line in welcome(told, ""))
    assert "86% of the documents are not in English" in text and "\x1b" not in text


def test_an_empty_answer_is_explained() -> None:
    lines = nothing_found(NOTHING, replace(EMPTY, n_files=3))
    assert "\x1b" not in lines[0]
    assert lines[1:] == [
        "The index is being built: none of 3 files can be searched yet.",
        "This search is repeated as documents are added.",
    ]
    assert nothing_found(NOTHING, DONE)[1:] == ["Try other words, or fewer."]
    assert len(nothing_found(NOTHING, INDEXING)) == 3
    assert "Ctrl+T" in nothing_found(replace(NOTHING, mode=SearchMode.WORDS), None)[1]


def test_a_search_is_repeated_only_if_the_index_has_changed() -> None:
    assert not has_changed(None, DONE)
    assert not has_changed(DONE, None)
    assert not has_changed(DONE, replace(DONE, activity="looking around"))
    assert has_changed(EMPTY, DONE)
    assert has_changed(DONE, replace(DONE, n_current=DONE.n_current - 1))
    assert has_changed(INDEXING, replace(INDEXING, n_tokens_embedded=INDEXING.n_tokens_embedded + 1))


def test_a_summary_says_how_many_are_likely_where_that_is_known() -> None:
    assert summary(NOTHING) == ""
    levels = (ChanceLevel.GOOD, ChanceLevel.CHANCE, ChanceLevel.CHANCE)
    hits = tuple(DocumentHit(at, at, "/a", "", 0.5, (), level=level) for at, level in enumerate(levels, 1))
    assert summary(replace(NOTHING, hits=hits)) == "1 likely · 2 unlikely"
    unsure = replace(hits[0], level=ChanceLevel.WEAK)
    assert summary(replace(NOTHING, hits=(*hits, unsure))) == "1 likely · 1 unsure · 2 unlikely"
    no_level = tuple(replace(hit, level=None) for hit in hits)
    assert summary(replace(NOTHING, query="verify: ~/draft.md", hits=no_level)) == "3 quotations"
    unread = replace(hits[0], level=None)  # a small index knows no chance, and the reader reads five passages
    assert summary(replace(NOTHING, hits=(*hits, unread))) == "1 likely · 2 unlikely · 1 more"
    assert summary(replace(NOTHING, hits=hits, similar_to="a\x1b")) == "3 documents similar to a\ufffd"


def test_an_error_is_one_line_with_its_hint() -> None:
    assert trouble(StoreError("The index is locked.", "Close the other window.")) == (
        "The index is locked. — Close the other window."
    )
    assert trouble(StoreError("a\nb")) == "a b"
    assert trouble(ValueError("x\x1b")) == "Something went wrong inside longsearch: ValueError: x\ufffd"


def test_for_failed_and_partial_files_the_next_attempt_is_named() -> None:
    failed = FileReport("a.pdf", FileStatus.FAILED, "encrypted", "", 0, 0, 0, n_failures=1)
    assert next_try(failed, 1_000) == "read again once it has changed, or on request"
    assert next_try(failed._replace(n_failures=3, retry_at=1_240), 1_000) == "tried 3 times; read again in 4 min"
    assert next_try(failed._replace(retry_at=0), 1_000) == "read again at the next sweep"
    assert next_try(failed._replace(status=FileStatus.PARTIAL, retry_at=1_060), 1_000) == "read again in 1 min"
    assert next_try(failed._replace(status=FileStatus.CURRENT), 1_000) == ""


def test_a_note_says_that_documents_wait_only_as_long_as_they_do() -> None:
    note = f"{unread('14 documents', 14)}; no field colour: searched as text"
    assert note_now(note, INDEXING) == note_now(note, None) == note
    assert note_now(note, DONE) == "no field colour: searched as text"
    assert note_now(NONE_READ, DONE) == ""


def test_how_many_are_ready_is_said_once() -> None:
    done = replace(DONE, n_files=480, n_failed=0)
    assert "480 documents" not in "\n".join(map(str, welcome(done, "")))
    assert "480 documents ready" in "\n".join(map(str, welcome(DONE, "")))


def test_what_was_not_read_is_folded_away_below_an_unlikely_result_and_nowhere_else() -> None:
    good, chance, unread_level = ChanceLevel.GOOD, ChanceLevel.CHANCE, None
    for levels, first in (
        ((good, chance, unread_level, unread_level), 1),
        ((good, unread_level, chance), 2),
        ((good, unread_level), None),
        ((chance, unread_level), 0),
        ((chance, good), None),
        ((), None),
    ):
        hits = [DocumentHit(1, 1, "/a.md", "", 0.5, (), level=level) for level in levels]
        assert first_unlikely(hits) == first, levels
    folded = [DocumentHit(1, 1, "/a.md", "", 0.5, (), level=level) for level in (chance, chance, unread_level)]
    assert tally(folded[:2]) == "2 unlikely"
    assert tally(folded) == "2 unlikely · 1 more", "as the heading counts them"
