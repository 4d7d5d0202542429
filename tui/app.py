"""The terminal app: starts and ends, shows the main screen, fills the command palette.

Imports neither torch, tokenizers nor apsw, so it opens in the time that Textual needs.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.events import Event, InputEvent
from textual.screen import Screen
from textual.theme import Theme
from textual.types import AnimationLevel
from textual.widgets import Input

from longsearch.tui import own_themes
from longsearch.tui.backend.interface import Backend, Question
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.bindings import EVERYWHERE, TakesKeys
from longsearch.tui.graphics.terminal import BLOCKS, Graphics
from longsearch.tui.preferences import Preferences, sound_keys
from longsearch.tui.screens.main import MainScreen
from longsearch.tui.text.display import clip, shown
from longsearch.tui.themes import DARK, THEMES, in_16_colours

if TYPE_CHECKING:
    from longsearch.engine.types.results import Folder
    from longsearch.tui.screens.picker import PickerScreen

SHOWN_PROBLEM_S = 20.0
"""How long the app shows a mistake in the config file."""
_ABOUT_COMMANDS = "Enter does it. What you type is looked for among your earlier queries too."
_MAX_COMMAND = 40
"""Cells of a person's own name among the commands."""
THEMES_EVERY_S = 1.0
"""Seconds after which a change of an own theme is seen."""
N_THREADS = 16
"""More than there are kinds of calls: each blocked call holds a thread, and Python's default pool may have only 5."""


class LongsearchApp(TakesKeys, own_themes.HasColours):
    """`LongsearchApp(backend, preferences).run()` closes the backend when it ends.

    It returns the folder to open next, "" for all folders, or None if the person leaves.
    """

    TITLE = "longsearch"
    # Listed here because Textual does not load the style sheet of a default screen. The others follow when it is whole.
    CSS_PATH: ClassVar[list[str | PurePath]] = ["screens/main.tcss"]
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True, group=EVERYWHERE),
        Binding("ctrl+z", "suspend_process", "Suspend", id="app.suspend", show=False, priority=True),
    ]

    def __init__(
        self,
        backend: Backend,
        preferences: Preferences | None = None,
        graphics: Graphics = BLOCKS,
        typed: str = "",
        when_shown: Callable[[], None] = lambda: None,
        place: str = "",
    ) -> None:
        """`typed` is what a person typed before the app could read it. `when_shown` is called after the first frame.

        `place` names what is searched, where it is not the path of the backend's root.
        """
        super().__init__()
        self._when_shown = when_shown
        self._graphics, self._typed, self._place = graphics, typed, place
        self._backend = backend
        self._note_key: Callable[[], None] = lambda: None
        self.preferences = preferences or Preferences()
        self._is_closing = self._is_painted = False
        self._folders: list[Folder] = []
        self._actions: list[str] = []
        self._next_root: str | None = None
        for theme in THEMES:
            self.register_theme(in_16_colours(theme) if self.console.color_system == "standard" else theme)
        self._own_themes: own_themes.Stamps = ()
        self._theme_mistakes = self._register_own_themes()
        wished = self.preferences.theme
        self.theme = wished if wished in self.available_themes else DARK
        self.stylesheet.set_variables(self.get_css_variables())
        self._first_theme = self.current_theme
        self.animation_level: AnimationLevel = "none"  # animations send too much over a slow connection

    def on_mount(self) -> None:
        """Provide enough threads for blocking calls; apply the person's keys."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(N_THREADS, thread_name_prefix="longsearch"))
        if self.preferences.keys:
            self.set_keymap(sound_keys(self.preferences.keys))
        self.tell_mistakes()
        if self._own_themes:
            self.set_interval(THEMES_EVERY_S, self._follow_themes)
        self._read_folders()
        self.theme_changed_signal.subscribe(self, self._keep_theme)

    async def on_event(self, event: Event) -> None:
        """As Textual does; note that the person is busy."""
        if isinstance(event, InputEvent):
            self._note_key()
        await super().on_event(event)

    def _register_own_themes(self) -> list[tuple[str, str]]:
        """Take the person's own themes as they are now. Return what is wrong with them."""
        self._own_themes = own_themes.stamps(self.preferences.themes)
        if not self._own_themes:
            return []
        found, mistakes = own_themes.read(self.preferences.themes)
        for theme in found:
            self.register_theme(theme)
        return mistakes

    @work(exclusive=True, group="own-themes")
    async def _follow_themes(self) -> None:
        """Take own themes again when their files have changed; show the colours of the one in use."""
        now, _ = await attempt(own_themes.stamps, self.preferences.themes)
        if now is not None and now != self._own_themes:
            self._say_mistakes(self._register_own_themes())
            self.refresh_css(animate=False)

    def refresh_css(self, animate: bool = True) -> None:
        """As Textual does. Before the first frame only for another theme: else all rules would be parsed twice."""
        if self._is_painted or self.current_theme is not self._first_theme:
            self._invalidate_css()  # screens that are closed are styled when they open
            super().refresh_css(animate)

    def action_suspend_process(self) -> None:
        """Give the terminal back to the shell, whose `fg` brings the app back; say so where that cannot be."""
        if sys.platform != "win32" and self._driver is not None and self._driver.can_suspend:
            super().action_suspend_process()
        else:
            self.notify("there is no shell here that could bring the app back", title="Suspend", markup=False)

    @on(Driver.SignalResume)
    def _draw_again(self) -> None:
        """Draw all of the screen after the shell's `fg`: Textual draws what has changed, on an empty terminal."""
        self.screen.refresh()

    def tell_mistakes(self) -> None:
        """Show what is wrong with the settings."""
        self._say_mistakes([*self.preferences.problems, *self._theme_mistakes])

    def _say_mistakes(self, mistakes: Iterable[tuple[str, str]]) -> None:
        for message, hint in mistakes:
            said = shown(f"{message}; {hint}")
            self.notify(said, title="Settings", severity="warning", timeout=SHOWN_PROBLEM_S, markup=False)

    def on_ready(self) -> None:
        """Put into the query line what was typed early."""
        self.call_after_refresh(self._load_rest)
        if self._typed:
            self.screen.query_one(Input).insert_text_at_cursor(self._typed)

    def _load_rest(self) -> None:
        """Load what the first frame does not need. The panes of the main screen load themselves."""
        from longsearch.tui.garbage import Collector

        self._is_painted = True
        self._note_key = Collector().note_key
        self._when_shown()

    def on_main_screen_whole(self) -> None:
        """Read the styles of the other screens, and make these ready, in a thread as far as that can be."""
        from longsearch.tui.screens.loading import make_screens_ready

        sheets = sorted((Path(__file__).parent / "screens").glob("*.tcss"))
        self.stylesheet.read_all([sheet for sheet in sheets if sheet.name not in ("main.tcss", "panes.tcss")])
        if len(self.screen_stack) > 1:
            self.refresh_css(animate=False)
        self.run_worker(make_screens_ready(self, self._backend, self.preferences, self._graphics), exit_on_error=False)

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen."""
        return MainScreen(self._backend, self._graphics, self._place)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the commands of the command palette: every action of the screen, and the other folders."""
        from longsearch.tui.palette import choose_theme, palette_commands
        from longsearch.tui.text.folder_words import folder_lines

        yield from palette_commands(self, screen, sound_keys(self.preferences.keys))
        if isinstance(screen, MainScreen) and screen.check_action("text", ()):
            for name in self._actions:
                act = partial(screen.action_text, "act", name)
                yield SystemCommand(clip(shown(name), _MAX_COMMAND), "! · A command of your own, for this result", act)
        can_change = isinstance(screen, MainScreen) and not self.is_web  # a window of a browser shows one app
        for folder in self._folders if can_change else ():
            about = f"Open this folder: {folder_lines([folder])[0][1]}"
            yield SystemCommand(
                f"Open {clip(shown(folder.name), _MAX_COMMAND)}", about, partial(self.open_folder, folder.root)
            )
        if can_change and self._folders and self._backend.root is not None:
            yield SystemCommand("Open all folders", "Search all indexed folders as one", partial(self.open_folder, ""))
        yield SystemCommand("Theme", "Change the colours; they are kept", partial(choose_theme, self))
        yield SystemCommand("Quit", "Indexing goes on without this window", self.action_quit)

    def action_command_palette(self) -> None:
        """Let the person choose a command, or an earlier query by its words."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.picker import CommandsScreen, PickerScreen, command_line

        if isinstance(below := self.screen, PickerScreen):
            return
        commands = list(self.get_system_commands(below))
        calls: list[Callable[[], object]] = [command.callback for command in commands]
        lines = [command_line(command.title, command.help) for command in commands]
        picker = kept(self, CommandsScreen).put("Commands", lines, _ABOUT_COMMANDS)

        def act(at: int | None) -> None:
            self.workers.cancel_group(self, "earlier")  # the same screen may show other lines next
            if at is not None:
                self.call_later(calls[at])  # once the list is closed: a command may open a screen

        self.push_screen(picker, act)
        if isinstance(below, MainScreen):
            self._add_earlier(picker, calls, below)

    @work(exclusive=True, group="earlier", description="earlier queries")  # else Textual writes out all that is given
    async def _add_earlier(self, picker: "PickerScreen", calls: list[Callable[[], object]], main: MainScreen) -> None:
        """Add the earlier queries to the commands."""
        from longsearch.tui.screens.picker import command_line
        from longsearch.tui.screens.user_data_calls import AskedAgain

        questions = await self.earlier()
        calls += [partial(main.post_message, AskedAgain(question)) for question in questions]
        picker.add([command_line(question.query, "Ask again", is_sought=True) for question in questions])

    async def open_folder(self, root: str) -> None:
        """Leave, so that the app opens over another folder; "" for all folders."""
        self._next_root = root
        await self.action_quit()

    async def earlier(self) -> list[Question]:
        """Return the earlier questions, newest first; [] if they cannot be read."""
        questions, _ = (await attempt(self._backend.user_data.history))[0] or ([], [])
        return questions

    @work
    async def _read_folders(self) -> None:
        self._folders = (await attempt(self._backend.user_data.folders))[0] or []
        self._actions = (await attempt(self._backend.actions))[0] or []

    @work(exclusive=True, group="theme")
    async def _keep_theme(self, theme: Theme) -> None:
        said, error = await attempt(self._backend.user_data.keep_theme, theme.name)
        if why := error or said:
            self.notify(why, title="Colours", markup=False)

    def action_files(self) -> None:
        """Show every file and its status."""
        from longsearch.tui.screens.files import FilesScreen
        from longsearch.tui.screens.kept import kept

        self.push_screen(kept(self, FilesScreen, self._backend).renew())

    def action_help(self) -> None:
        """Show every key."""
        from longsearch.tui.screens.kept import kept
        from longsearch.tui.screens.text_boxes import HelpScreen

        self.push_screen(kept(self, HelpScreen, self.preferences).renew())

    async def action_quit(self) -> None:
        """Close the backend, so that running calls end, then leave. The second time, leave at once."""
        from longsearch.tui.widgets.page_view import PageView

        if self._is_closing:
            self.exit(self._next_root)
            return
        self._is_closing = True
        for view in self.screen.query(PageView):
            view.cover(True)  # later no more is written
        self._close_backend()

    @work
    async def _close_backend(self) -> None:
        """Keep what is in view, close the backend and leave, even if that fails."""
        main = self.screen_stack[0]
        if isinstance(main, MainScreen):
            await attempt(self._backend.user_data.leave, main.in_view())
        await attempt(self._backend.close)
        self.exit(self._next_root)
