"""Links in the output of the command line: only where the terminal has them, and never with text of a document."""

import re
from pathlib import Path

import pytest

from longsearch.app.commands.links import has_links, link
from longsearch.app.commands.results import to_text
from longsearch.engine.types.results import DocumentHit, SearchMode, SearchResults


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4602"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "KITTY_WINDOW_ID": "1"}, False),
        ({"TERM": "tmux-256color", "TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.5a"}, True),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_links_are_made_for_terminals_that_have_them(environment: dict[str, str], expected: bool) -> None:
    assert has_links(environment) is expected


def test_a_name_of_a_file_cannot_end_its_link(tmp_path: Path) -> None:
    path = str(tmp_path / "a\x1b\\b\x07 ünd;c.pdf")
    hit = DocumentHit(1, 1, path, "Title \x1b]8;;http://evil\x1b\\", 0.5, ())
    results = SearchResults("query", SearchMode.WORDS, "", 1.0, (hit,))
    plain, linked = to_text(results, 80), to_text(results, 80, is_linked=True)
    assert "\x1b" not in plain
    opened, closed = linked.split("\x1b]8;;")[1:]
    assert closed.startswith("\x1b\\\n") and re.match(
        r"file://[^\x00-\x20]*a%1B%5Cb%07%20%C3%BCnd%3Bc\.pdf\x1b\\", opened
    )
    assert re.sub(r"\x1b\]8;;[^\x1b]*\x1b\\", "", linked) == plain


def test_an_address_of_a_store_is_no_link() -> None:
    assert link("s3://bucket/a.pdf", "s3://bucket/a.pdf") == "s3://bucket/a.pdf"
