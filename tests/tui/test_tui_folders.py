"""An app over several folders: it names them, lets one be chosen, and completes their names."""

from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input

from longsearch.engine.query_language.query import parse
from longsearch.engine.types.progress import FileReport, FileStatus
from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.backend_calls import BackendCalls
from longsearch.tui.text.folder_words import folder_field, with_folder
from tests.tui.fake_backend import FakeBackend, three_folders, three_reports
from tests.tui.tui_helpers import ask, screen_text, settle

NAMES = ("papers", "my notes", "work/papers", "★")


def query(pilot: Pilot[None]) -> Input:
    return pilot.app.screen.query_one("#query", Input)


@given(st.text(max_size=20), st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_choosing_a_folder_replaces_the_one_chosen_before(words: str, first: str, second: str) -> None:
    once = with_folder(words, second)
    assert with_folder(with_folder(words, first), second) == once
    assert with_folder(once, None) == with_folder(words, None)
    if '"' not in words.translate(str.maketrans("“”„«»", '"' * 5)):
        assert parse(f"x {once}").folders.typed[-1:] == ((second, False),)


def test_a_name_of_two_words_is_quoted() -> None:
    assert [folder_field(name) for name in NAMES] == [
        "folder:papers", 'folder:"my notes"', "folder:work/papers", 'folder:"★"',
    ]  # fmt: skip


async def test_a_chosen_folder_comes_into_the_query_and_all_folders_take_it_out() -> None:
    backend = three_folders()
    async with LongsearchApp(backend).run_test(size=(110, 26)) as pilot:
        await ask(pilot, "valve")
        assert "all folders: manuals, my reports (away), work/papers" in screen_text(pilot.app)
        await pilot.press("f4", "down", "down", "enter")
        await settle(pilot)
        assert query(pilot).value == 'valve folder:"my reports" '
        assert pilot.app.focused is query(pilot)
        assert backend.called("words")[-1][0] == 'valve folder:"my reports"'
        await pilot.press("ctrl+g", "enter")
        await settle(pilot)
        assert query(pilot).value == "valve"
        await pilot.press("f4", "j", "k", "escape")
        await settle(pilot)
        assert query(pilot).value == "valve"


async def test_tab_completes_a_folder_and_else_goes_on() -> None:
    backend = three_folders()
    backend.completions = {"valve folder:man": (13, (("manuals", 61),))}
    async with LongsearchApp(backend).run_test(size=(110, 26)) as pilot:
        await ask(pilot, "valve folder:man")
        assert "Tab: manuals 61" in screen_text(pilot.app)
        await pilot.press("tab")
        await settle(pilot)
        assert query(pilot).value == "valve folder:manuals"
        await pilot.press("tab")
        await settle(pilot)
        assert pilot.app.focused is not query(pilot)


async def test_an_app_over_one_folder_offers_no_folders() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(110, 26)) as pilot:
        await ask(pilot, "valve folder:pap")
        assert "Folders" not in screen_text(pilot.app)
        await pilot.press("f4", "tab")
        assert query(pilot).value == "valve folder:pap"


async def test_f4_says_that_only_one_folder_is_searched() -> None:
    async with LongsearchApp(three_reports()).run_test(size=(110, 26)) as pilot:
        await settle(pilot)
        assert "F4" not in screen_text(pilot.app)
        await pilot.press("f4")
        await settle(pilot)
        assert "✗ this is one folder" in screen_text(pilot.app)


async def test_a_folder_that_is_mounted_again_loses_its_mark() -> None:
    backend = three_folders()
    async with LongsearchApp(backend).run_test(size=(110, 26)) as pilot:
        await settle(pilot)
        backend.folder_list = backend.folder_list[:1]
        pilot.app.screen.query_one(BackendCalls).read_folders()
        await settle(pilot)
        assert "all folders: manuals ─" in screen_text(pilot.app)


async def test_the_files_of_several_folders_are_told_apart_and_opened() -> None:
    backend: FakeBackend = three_folders()
    backend.file_list = [
        FileReport("a.pdf", FileStatus.CURRENT, "", "", 1, 1, 1, folder=name, root=root)
        for name, root in (("manuals", "/home/ada/manuals"), ("work/papers", "/home/ada/work/papers"))
    ]
    async with LongsearchApp(backend).run_test(size=(110, 26)) as pilot:
        await settle(pilot)
        await pilot.press("f3")
        await settle(pilot)
        assert "manuals/a.pdf" in screen_text(pilot.app)
        await pilot.press("down", "o")
        await settle(pilot)
        assert backend.called("open") == [("/home/ada/work/papers/a.pdf", None, "")]
