"""The last line of a screen: the keys that do something now, and what they do. A click on one presses it.

Those of the pane that has the focus stand on the left, those that work everywhere on the right.

One widget draws them all. Textual's Footer has a widget for each key and makes them anew whenever the focus moves,
which took 20 ms.
"""

from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.reactive import reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from longsearch.tui.bindings import EVERYWHERE
from longsearch.tui.painting import PaintsLines, filled

_KEY, _MEANING, _HOVER = "bold $footer-key-foreground", "$footer-description-foreground", " on $block-hover-background"
_GAP = 2
_STAY = ("Help", "Quit")
"""Keys that stay when there is little room; Help stays longest."""


class ShownKey(NamedTuple):
    """A key of the line."""

    key: str
    """As Textual calls it."""
    label: str
    """As a person calls it."""
    meaning: str
    tooltip: str
    is_general: bool = False
    """Whether it works everywhere."""

    @property
    def width(self) -> int:
        """Cells, without the gap to the next key."""
        return cell_len(self.label) + 1 + cell_len(self.meaning)


def fitting(keys: tuple[ShownKey, ...], width: int) -> tuple[ShownKey, ...]:
    """Return the keys that fit into `width` cells, the first ones first; none is cut. Help and Quit stay longest."""
    stay = [key for key in sorted(keys, key=lambda key: key.meaning) if key.meaning in _STAY]
    while stay and sum(key.width + _GAP for key in stay) > width + _GAP:
        stay.pop()
    room = width + _GAP - sum(key.width + _GAP for key in stay)
    chosen: list[ShownKey] = []
    is_full = False
    for key in keys:
        if key in stay:
            chosen.append(key)
        elif not is_full and key.width + _GAP <= room:
            room -= key.width + _GAP
            chosen.append(key)
        else:
            is_full = True
    return tuple(chosen)


def placed(keys: tuple[ShownKey, ...], width: int) -> list[tuple[int, ShownKey]]:
    """Return the keys that fit, each with its column: the general ones at the right end."""
    here = [key for key in keys if not key.is_general]
    shown = fitting((*here, *(key for key in keys if key.is_general)), width)
    columns: list[tuple[int, ShownKey]] = []
    at = 0
    for key in shown:
        if key.is_general and not any(other.is_general for _, other in columns):
            at = width + _GAP - sum(other.width + _GAP for other in shown if other.is_general)
        columns.append((at, key))
        at += key.width + _GAP
    return columns


class KeyLine(PaintsLines, Widget):
    """The keys in the order of the bindings. Those that do not fit are left out, from the end."""

    DEFAULT_CSS = """
    KeyLine { dock: bottom; height: 1; padding: 0 1; background: $footer-background; color: $footer-foreground; }
    """
    ALLOW_SELECT = False
    keys: reactive[tuple[ShownKey, ...]] = reactive(())
    hovered: reactive[ShownKey | None] = reactive(None)
    """The key under the pointer."""

    def __init__(self, without: tuple[str, ...] = ()) -> None:
        """`without`: actions that work, but are not worth a place here."""
        super().__init__()
        self.without = without

    def on_mount(self) -> None:
        """Follow the bindings."""
        self.screen.bindings_updated_signal.subscribe(self, self._follow)
        self._renew()

    def _follow(self, screen: Screen[object]) -> None:
        if screen.app.app_focus:  # while the window is in the background, nothing has the focus
            self.call_after_refresh(self._renew)

    def _renew(self) -> None:
        if not self.is_attached:
            return
        by_action: dict[str, ShownKey] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and binding.action not in (*by_action, *self.without):
                label = self.app.get_key_display(binding)
                by_action[binding.action] = ShownKey(
                    binding.key, label, binding.description, active.tooltip, binding.group is EVERYWHERE
                )
        self.keys = tuple(by_action.values())

    def render_line(self, _y: int) -> Strip:
        """Draw the keys that fit."""
        segments, at = [], 0
        for column, key in placed(self.keys, self.width):
            hover = _HOVER if key == self.hovered else ""
            if column > at:
                segments.append(Segment(" " * (column - at), self.ground))
            segments += [
                Segment(f"{key.label} ", self.styled(_KEY + hover)),
                Segment(key.meaning, self.styled(_MEANING + hover)),
            ]
            at = column + key.width
        return filled(segments, self.width, self.ground)

    def _at(self, x: int) -> ShownKey | None:
        """Return the key at a column of the widget."""
        at = x - self.gutter.left
        keys = placed(self.keys, self.content_size.width)
        return next((key for column, key in keys if column <= at < column + key.width), None)

    def on_click(self, event: events.Click) -> None:
        """Press the key under the pointer."""
        if key := self._at(event.x):
            self.app.simulate_key(key.key)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark the key under the pointer, and tell what it does."""
        self.hovered = self._at(event.x)
        self.tooltip = self.hovered.tooltip if self.hovered else None

    def on_leave(self) -> None:
        """Mark none."""
        self.hovered = None
