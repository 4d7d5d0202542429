"""Several results marked: copied, opened, kept together; and a person's own actions on a result."""

from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens import reading_pane
from longsearch.tui.screens.picker import PickerScreen
from tests.tui.fake_backend import three_reports
from tests.tui.tui_helpers import WIDE, ask, results, screen_text, settle


async def test_marked_results_are_copied_opened_and_kept_together() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("asterisk", "asterisk")
        await settle(pilot)
        assert [line.strip()[:3] for line in screen_text(pilot.app).splitlines()].count("● R") == 1
        assert "2 documents marked" in screen_text(pilot.app)
        assert results(pilot).selected == backend.hits[2]
        for key in ("y", "o", "space", "Y"):
            await pilot.press(key)
            await settle(pilot)
            if key == "y":
                assert all(hit.title in pilot.app.clipboard for hit in backend.hits[:2])
        assert [call[0] for call in backend.called("open")] == [hit.path for hit in backend.hits[:2]]
        assert [kept.evidence.path for kept in backend.user_data.kept] == [hit.path for hit in backend.hits[:2]]
        assert pilot.app.clipboard == "\n".join(hit.path for hit in backend.hits[:2])


async def test_a_second_press_unmarks_and_escape_unmarks_all() -> None:
    async with LongsearchApp(three_reports()).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("asterisk", "up", "asterisk")
        await settle(pilot)
        assert "●" not in screen_text(pilot.app)
        await pilot.press("asterisk", "escape")
        await settle(pilot)
        assert "●" not in screen_text(pilot.app) and results(pilot).has_focus


async def test_a_key_starts_no_more_programs_than_a_person_means(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(reading_pane, "MAX_STARTED", 1)
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("asterisk", "asterisk", "o")
        await settle(pilot)
        assert not backend.called("open") and "at most 1" in screen_text(pilot.app)


async def test_an_own_action_gets_path_page_and_text_of_the_passage() -> None:
    backend = three_reports()
    async with LongsearchApp(backend).run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        await pilot.press("exclamation_mark")
        await settle(pilot)
        assert "[actions]" in screen_text(pilot.app)
        backend.action_list = ["note", "\x1b[31mqueue"]
        await pilot.press("exclamation_mark")
        await settle(pilot)
        assert isinstance(pilot.app.screen, PickerScreen)
        await pilot.press(*"note", "enter")
        await settle(pilot)
        hit = backend.hits[0]
        assert backend.called("act") == [("note", hit.path, hit.passages[0].page, hit.passages[0].sentence)]
        assert "note: started" in screen_text(pilot.app)


async def test_the_palette_has_the_own_actions() -> None:
    backend = three_reports()
    backend.action_list = ["note"]
    app = LongsearchApp(backend)
    async with app.run_test(size=WIDE) as pilot:
        await ask(pilot, "valve", press_enter=True)
        commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        commands["note"]()
        await settle(pilot)
        assert len(backend.called("act")) == 1
