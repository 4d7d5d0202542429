"""The page of the command line says what the parser says."""

from tests.app.options_page import PAGE, rewritten, undescribed


def test_the_tables_of_the_page_are_those_of_the_parser() -> None:
    page = PAGE.read_text("utf-8")
    assert page == rewritten(page), "rewrite them: python -m tests.app.options_page"


def test_the_page_has_the_arguments_of_every_command() -> None:
    assert undescribed(PAGE.read_text("utf-8")) == set()


def test_a_stale_table_is_made_anew_and_the_words_around_it_stay() -> None:
    stale = "Before.\n\n<!-- options of demo -->\n| old |\n<!-- end -->\n\nAfter.\n"
    assert rewritten(stale) == (
        "Before.\n\n<!-- options of demo -->\n| argument | meaning |\n| --- | --- |\n<!-- end -->\n\nAfter.\n"
    )
    assert "| `-k N` | documents to show (default: 10) |" in rewritten(stale.replace("demo", "similar"))
