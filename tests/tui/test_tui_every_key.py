"""Every key of every binding reaches its own action in its place. What the actions do is tested with their screens."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widgets import Input

from longsearch.tui.app import LongsearchApp
from longsearch.tui.backend.interface import Question
from longsearch.tui.preferences import split_keys
from longsearch.tui.screens.loading import load_screens
from tests.tui.fake_backend import FakeBackend, some_files, three_folders, three_reports
from tests.tui.fake_user_data import some_evidence
from tests.tui.tui_helpers import ask, settle

load_screens()
FROM_THE_QUERY = {"main.down", "main.up", "main.page_down", "main.page_up"}
"""The list and the text have these keys themselves."""
INSTEAD = {("files.open", "enter"): "select"}
"""The list has this key itself, and tells the screen."""
PLACES: dict[str, tuple[str, ...]] = {
    "MainScreen": ("enter",),
    "LongsearchApp": ("enter",),
    "_Line": (),
    "Results": ("enter",),
    "Preview": ("enter", "enter"),
    "Prompt": ("enter", "enter", "slash"),
    "PageView": ("enter", "enter", "v"),
    "SideBySide": ("enter", "s", "down", "s"),
    "WhyScreen": ("enter", "x"),
    "OutlineScreen": ("enter", "enter", "t"),
    "BasketScreen": ("enter", "b"),
    "LineDialog": ("enter", "b", "n"),
    "YesNoDialog": ("enter", "b", "C"),
    "TableScreen": ("enter", "T", "enter"),
    "FilesScreen": ("f3",),
    "LongTable": ("enter", "enter", "t"),
    "FoldersScreen": ("f4",),
    "PickerScreen": ("f5",),
    "JumpScreen": ("enter", "semicolon"),
    "InstructionScreen": ("ctrl+r",),
    "HelpScreen": ("f1",),
}
"""The keys that lead from a query to each screen or widget with bindings of its own."""


def tables(cls: type[DOMNode] = DOMNode) -> Iterator[tuple[str, list[Binding]]]:
    """Yield the bindings of every screen and widget of the app."""
    for one in cls.__subclasses__():
        own = one.__dict__.get("BINDINGS", ()) if one.__module__.startswith("longsearch.tui") else ()
        if own:
            yield one.__name__, [binding for binding in own if isinstance(binding, Binding)]
        yield from tables(one)


def backend(place: str) -> FakeBackend:
    made = three_folders() if place in ("MainScreen", "FoldersScreen") else three_reports()
    made.file_list = some_files()
    made.user_data.kept = some_evidence()
    made.user_data.undone = [("removing", [])]
    made.user_data.asked = [Question("pumps")]
    return made


def test_every_screen_and_widget_with_keys_has_its_place_here() -> None:
    assert {name for name, _ in tables()} == set(PLACES)


@pytest.mark.parametrize("place", PLACES)
async def test_every_key_reaches_its_action(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = dict(tables())[place]
    app = LongsearchApp(backend(place))
    async with app.run_test(size=(120, 30)) as pilot:
        await ask(pilot, "valve")
        in_query = [binding for binding in bindings if binding.id in FROM_THE_QUERY]
        await check(pilot, in_query, monkeypatch)
        for key in PLACES[place]:
            await pilot.press(key)
            await settle(pilot)
        await check(pilot, [binding for binding in bindings if binding not in in_query], monkeypatch)


async def check(pilot: Any, bindings: list[Binding], monkeypatch: pytest.MonkeyPatch) -> None:
    """Press every key of the bindings. No action is carried out, so that the place stays."""
    reached: list[str] = []

    async def note(action: str, node: DOMNode, *_: object) -> bool:
        """Note an action that is offered now. A line has nothing to scroll, so that the key goes on to the screen."""
        _, name, parameters = parse(action)
        if not node.check_action(name, parameters) or (isinstance(node, Input) and name.startswith(("scroll", "page"))):
            return False
        reached.append(action)
        return True

    with monkeypatch.context() as only_here:
        only_here.setattr(pilot.app, "run_action", note)
        for binding in bindings:
            for key in split_keys(binding.key):
                del reached[:]
                await pilot.press(key)
                assert reached == [INSTEAD.get((binding.id, key), binding.action)], (binding.id, key)
