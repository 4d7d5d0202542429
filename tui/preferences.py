"""The colours and keys that a person has chosen. Finds names that the app does not know.

Knows no config file: `app` hands the choice over.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character
from textual.theme import BUILTIN_THEMES

DEFAULT_THEME, LIGHT_THEME = "textual-dark", "textual-light"
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
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """The choice."""

    theme: str = DEFAULT_THEME
    """The name of one of Textual's themes."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys of a command, separated by commas, by the id of its binding."""
    problems: Sequence[tuple[str, str]] = ()
    """The mistakes in the settings, each with a hint. The app shows them when it opens."""


def problems(theme: str, keys: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what is wrong with a choice, each with what to do. Knows the bindings of the modules that are loaded."""
    found = []
    if theme not in (AUTO_THEME, *BUILTIN_THEMES):
        themes = ", ".join((AUTO_THEME, *sorted(BUILTIN_THEMES)))
        found.append((f"there is no theme {theme}", f"there are: {themes}"))
    if not keys:
        return found
    known = {binding.id for bindings in _bindings() for binding in bindings if binding.id}
    for name, text in keys.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            found.append((f"keys: there is no command {name}", f"did you mean {near[0]}?" if near else _SEE))
        found += [(f"keys: {name} has no key {key}", _KEYS) for key in split_keys(text) if not is_key(key)]
    return [*found, *_clashes(keys)]


def theme_for(wished: str, kept: str, is_light: bool) -> str:
    """Return the theme to open with. `wished`: that of the settings. `kept`: the last one chosen in the app, or ""."""
    if wished != AUTO_THEME:
        return wished
    return kept if kept in BUILTIN_THEMES else (LIGHT_THEME if is_light else DEFAULT_THEME)


_SEE = "see them all: longsearch config keys"
_KEYS = "keys are called o, f9, ctrl+o, slash, question_mark, pagedown"


def commands(keys: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return every command of the modules that are loaded, by name: its keys in force, and what it does."""
    changed = sound_keys(keys)
    found = {
        binding.id: (
            ", ".join(split_keys(changed.get(binding.id, binding.key))),
            binding.tooltip or binding.description,
        )
        for bindings in _bindings()
        for binding in bindings
        if binding.id
    }
    return dict(sorted(found.items()))


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


def _clashes(keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each key that two commands of the same screen or widget would have."""
    for bindings in _bindings():
        owners: dict[str, str] = {}
        for binding in bindings:
            chosen = keys.get(binding.id or "", binding.key)
            for key in split_keys(chosen):
                owner = owners.setdefault(key, binding.id or "")
                if owner != (binding.id or "") and {owner, binding.id} & keys.keys():
                    yield f"keys: {key} is the key of {owner} and of {binding.id}", "give one of them another key"


def _bindings() -> Iterator[list[Binding]]:
    """Yield the bindings of each screen and widget of the app."""
    waiting: list[type[DOMNode]] = [DOMNode]
    seen: set[type[DOMNode]] = set()
    while waiting:
        for one in waiting.pop().__subclasses__():
            if one in seen:
                continue
            seen.add(one)
            waiting.append(one)
            own = one.__dict__.get("BINDINGS", ()) if one.__module__.startswith("longsearch.tui") else ()
            if own:
                yield [binding for binding in own if isinstance(binding, Binding)]
