"""Screens that are made once and stay while they are closed: to make one takes 20 ms below the key that opens it."""

from typing import Any, Self, TypeVar

from textual.app import App
from textual.screen import ScreenResultType
from textual.widget import Widget

from longsearch.tui.painting import PaintsOnce


class KeptScreen(PaintsOnce[ScreenResultType]):
    """A screen that is opened with other contents each time.

    A subclass takes them by a method `put`, which calls `renew`, and shows them by `fill`.
    """

    _has_contents = False
    """Whether there is something to show: since it was opened first, or always."""
    _is_new = False
    """Whether the contents were not seen yet."""

    def fill(self) -> None:
        """Show the contents."""

    def begin(self) -> None:
        """Begin what takes time. Called once new contents are seen."""

    def renew(self) -> Self:
        """Show the contents once the widgets are there, and lay them out, so that the first frame is the last one."""
        self._is_new = self._has_contents = True
        if self.is_mounted:
            self.fill()
            widgets = list(self.walk_children(Widget, with_self=True))
            if self._compositor.size != self.app.size or any(widget._layout_required for widget in widgets):
                for widget in widgets:  # as Textual does before a layout: not once more
                    widget._clear_arrangement_cache()
                    widget._layout_updates += 1
                    widget._layout_required = False
                self._refresh_layout(self.app.size)
        return self

    def on_mount(self) -> None:
        """Show what was put before the widgets were there."""
        if self._has_contents:
            self.fill()

    def on_screen_resume(self) -> None:
        """Begin what new contents need, once they are seen."""
        if self._is_new:
            self._is_new = False
            self.call_after_refresh(self.begin)


Kept = TypeVar("Kept", bound=KeptScreen[Any])


def kept(app: App[Any], kind: type[Kept], *how: Any) -> Kept:
    """Return the screen of a kind, made once for an app by `kind(*how)`; a further one while that is open."""
    name = kind.__name__
    if not app.is_screen_installed(name):
        app.install_screen(kind(*how), name)
    screen: Kept = app.get_screen(name)  # type: ignore[assignment]  # Textual knows it as a screen
    return kind(*how) if screen in app.screen_stack else screen


async def make_ready(screen: KeptScreen[Any]) -> None:
    """Make the widgets of a screen before it is opened, and lay them out."""
    _, mounted = screen.app._get_screen(screen)
    await mounted
    screen._refresh_layout(screen.app.size)
