"""The colours and keys that a person has chosen. Finds names that the app does not know.

Knows no config file: `app` hands the choice over.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character
from textual.theme import BUILTIN_THEMES

from longsearch.tui import themes

DEFAULT_THEME, LIGHT_THEME = themes.DARK, themes.LIGHT
THEME_NAMES = frozenset({themes.DARK, themes.LIGHT, *BUILTIN_THEMES})
AUTO_THEME = "auto"
"""A value of the setting: the colours last chosen in the app, or else those that suit the terminal's background."""
_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "meta", "hyper"})
_NAMES = frozenset({*(key.value for key in Keys), *KEY_NAME_REPLACEMENTS.values()})

_KEY_NAMES = {"slash": "/", "question_mark": "?", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}
_KEY_NAMES |= {
    "colon": ":",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "ampersand": "&",
    "asterisk": "*",
    "semicolon": ";",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "exclamation_mark": "!",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


class Preferences(NamedTuple):
    """The choice."""

    theme: str = DEFAULT_THEME
    """The name of one of the app's own themes, or of Textual's."""
    keys: Mapping[str, str] = MappingProxyType({})
    """The keys of a command, separated by commas, by the id of its binding."""
    problems: Sequence[tuple[str, str]] = ()
    """The mistakes in the settings, each with a hint. The app shows them when it opens."""
    themes: Path | None = None
    """The folder of the person's own themes, which need not exist."""


def problems(theme: str, keys: Mapping[str, str], own: Collection[str] = ()) -> list[tuple[str, str]]:
    """Return what is wrong with a choice, each with what to do. Knows the bindings of the modules that are loaded.

    `own`: the names of the person's own themes.
    """
    mistakes = []
    if theme not in (AUTO_THEME, *THEME_NAMES, *own):
        themes = ", ".join((AUTO_THEME, *sorted(own), *sorted(THEME_NAMES)))
        mistakes.append((f"there is no theme {theme}", f"there are: {themes}"))
    if not keys:
        return mistakes
    names = {binding.id for _, bindings in _bindings() for binding in bindings if binding.id}
    for name, text in keys.items():
        if name not in names and name not in _GONE:
            near = get_close_matches(name, names, n=1)
            mistakes.append((f"keys: there is no command {name}", f"did you mean {near[0]}?" if near else _SEE))
        mistakes += [(f"keys: {name} has no key {key}", _KEYS) for key in split_keys(text) if not is_key(key)]
    return [*mistakes, *_clashes(keys)]


def theme_for(wished: str, kept: str, is_light: bool, own: Collection[str] = ()) -> str:
    """Return the theme to open with. `wished`: that of the settings. `kept`: the last one chosen in the app, or "".

    `own`: the names of the person's own themes.
    """
    if wished != AUTO_THEME:
        return wished
    return kept if kept in THEME_NAMES or kept in own else (LIGHT_THEME if is_light else DEFAULT_THEME)


_GONE = frozenset({"main.map", "map.back", "map.choose", "map.next", "map.previous"})
"""Commands of the map of passages, which the next release no longer knows."""
_SEE = "see them all: longsearch config keys"
_KEYS = "keys are called o, f9, ctrl+o, slash, question_mark, pagedown"


def commands(keys: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return every command of the modules that are loaded, by name: its keys in force, and what it does."""
    changed = sound_keys(keys)
    by_name = {
        binding.id: (
            ", ".join(split_keys(changed.get(binding.id, binding.key))),
            binding.tooltip or binding.description,
        )
        for _, bindings in _bindings()
        for binding in bindings
        if binding.id
    }
    return dict(sorted(by_name.items()))


def sound_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the keymap without keys that do not exist. A command keeps its own keys if none is left."""
    kept = {name: ",".join(filter(is_key, split_keys(text))) for name, text in keys.items()}
    return {name: text for name, text in kept.items() if text}


def split_keys(text: str) -> list[str]:
    """Return the keys of a list with commas."""
    return [key.strip() for key in text.split(",")]


def key_name(key: str) -> str:
    """Return the name of a key as it is printed on a keyboard."""
    if len(key) == 1:
        return key
    return _KEY_NAMES.get(key) or "+".join(part.capitalize() for part in key.split("+"))


def is_key(key: str) -> bool:
    """Return whether Textual knows a key of this name."""
    *modifiers, last = key.split("+")
    is_named = len(last) == 1 or last in _NAMES or key_to_character(last) is not None
    return key in _NAMES or (is_named and _MODIFIERS.issuperset(modifiers))


_WITHIN = {
    "main": ("query", "results", "preview", "page", "prompt"),
    "sides": ("preview", "page"),
    "files": ("table",),
    "outline": ("table",),
}
"""The widgets of a screen, by the first word of their commands. A widget with the focus takes keys before it."""


def _clashes(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each key that two commands would have at the same time, unless they share it without this choice."""
    for first, second, shared in _meetings():
        both = _chosen(first, keys) & _chosen(second, keys)
        for key in sorted(both - (_keys_of(first) & shared)):
            yield f"keys: {key} is the key of {_name(first)} and of {_name(second)}", "give one of them another key"


def _meetings() -> Iterator[tuple[Binding, Binding, set[str]]]:
    """Yield each two commands that work at the same time, and the keys that the second one's place takes anyway."""
    by_place = {_place(bindings[0]): (widget, bindings) for widget, bindings in _bindings()}
    for place, (widget, bindings) in by_place.items():
        for first, second in combinations(bindings, 2):
            yield first, second, _keys_of(second)
        taken = _keys_taken(widget)
        for around, (_, theirs) in by_place.items():
            if place in _WITHIN.get(around, ()) or around == "app" != place:
                yield from ((first, second, taken) for first in theirs for second in bindings)


def _name(binding: Binding) -> str:
    return binding.id or f"{binding.description} in a list"


def _place(binding: Binding) -> str:
    """Return the first word of a command: its screen or widget. Only the keys of tables have no names."""
    return (binding.id or "table").partition(".")[0]


def _keys_of(binding: Binding) -> set[str]:
    return set(split_keys(binding.key))


def _chosen(binding: Binding, keys: Mapping[str, str]) -> set[str]:
    return set(split_keys(keys.get(binding.id or "", binding.key)))


def _keys_taken(place: type[DOMNode]) -> set[str]:
    """Return the keys that a widget takes before its screen, with those that it inherits from Textual's widgets."""
    all_bindings = [binding for cls in place.__mro__ for binding in cls.__dict__.get("BINDINGS", ())]
    texts = (binding.key if isinstance(binding, Binding) else binding[0] for binding in all_bindings)
    return {key for text in texts for key in split_keys(text)}


def _bindings() -> Iterator[tuple[type[DOMNode], list[Binding]]]:
    """Yield each screen and widget of the app with its bindings."""
    waiting: list[type[DOMNode]] = [DOMNode]
    seen: set[type[DOMNode]] = set()
    while waiting:
        for widget in waiting.pop().__subclasses__():
            if widget in seen:
                continue
            seen.add(widget)
            waiting.append(widget)
            bindings = widget.__dict__.get("BINDINGS", ()) if widget.__module__.startswith("longsearch.tui") else ()
            if bindings:
                yield widget, [binding for binding in bindings if isinstance(binding, Binding)]
