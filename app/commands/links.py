"""Links to files in a terminal's output (OSC 8), where the terminal is known to have them. Pure.

The text of a link has passed through `printable`; its address is a path in percent signs, so neither can end the link.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from longsearch.engine.late_patterns import late_pattern

_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "DOMTERM")
_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio", "WarpTerminal"})
_TERMS = late_pattern(r"(xterm-kitty|xterm-ghostty|foot|alacritty|contour)\b")
_FIRST_VTE, _FIRST_TMUX = 5000, (3, 4)


def has_links(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal shows links. If `FORCE_HYPERLINK` is set, it decides, as in other programs."""
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    program, version = environment.get("TERM_PROGRAM", ""), environment.get("TERM_PROGRAM_VERSION", "")
    if program == "tmux":
        return tuple(map(int, re.findall(r"\d+", version)[:2])) >= _FIRST_TMUX
    if environment.get("TERM", "dumb") == "dumb" or "TMUX" in environment or "STY" in environment:
        return False
    if (vte := environment.get("VTE_VERSION", "")).isdecimal():
        return int(vte) >= _FIRST_VTE
    is_known = program in _PROGRAMS or _TERMS.match(environment["TERM"]) is not None
    return is_known or any(name in environment for name in _VARIABLES)


def link(text: str, path: str) -> str:
    """Return `text` as a link to a file of this machine; only the text if the path is none of a file system."""
    if not os.path.isabs(path):  # noqa: PTH117 - an address of an object store is no path
        return text
    import socket

    address = Path(path).as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"
