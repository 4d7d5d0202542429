"""The viewers and editors that are known, and how each is told the page, the phrase or the line. Pure tables.

Sources: zathura(1); okular's and evince's `--help` (shell/main.cpp, shell/main.c); sioyek's pdf_viewer/main.cpp and
utils.cpp; SumatraPDF's docs/md/Command-line-arguments.md; Skim's AppleScript commands `open` and `go`; the manuals of
the editors. {page} counts from 1, {index} from 0.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Viewer:
    """A viewer of PDFs."""

    name: str
    """The name that the person sees; also the program's, unless `app` is given."""
    at_page: tuple[str, ...]
    """The command that opens {path} at {page}."""
    at_phrase: tuple[str, ...] = ()
    """The command that also searches for {phrase}; () if the viewer cannot be told one."""
    app: str = ""
    """The name of a macOS app that is found in Applications, not on the PATH."""


VIEWERS = (
    Viewer("zathura", ("zathura", "-P", "{page}", "{path}"), ("zathura", "-P", "{page}", "-f", "{phrase}", "{path}")),
    Viewer("okular", ("okular", "-p", "{page}", "{path}"), ("okular", "-p", "{page}", "--find", "{phrase}", "{path}")),
    Viewer("evince", ("evince", "-i", "{page}", "{path}"), ("evince", "-i", "{page}", "-l", "{phrase}", "{path}")),
    Viewer(
        "sioyek",
        ("sioyek", "--page", "{page}", "{path}"),
        ("sioyek", "--page", "{page}", "--focus-text", "{phrase}", "--focus-text-page", "{index}", "{path}"),
    ),
    Viewer(
        "SumatraPDF",
        ("SumatraPDF", "-page", "{page}", "{path}"),
        ("SumatraPDF", "-page", "{page}", "-search", "{phrase}", "{path}"),
    ),
    Viewer(
        "Skim",
        (
            *("osascript", "-e", "on run argv", "-e", 'tell application "Skim"', "-e", "activate"),
            *("-e", "open POSIX file (item 1 of argv)"),
            *("-e", "go document 1 to page ((item 2 of argv) as integer) of document 1"),
            *("-e", "end tell", "-e", "end run", "{path}", "{page}"),
        ),
        app="Skim.app",
    ),
)
"""The viewers, the preferred ones first."""
APPLICATIONS = (Path("/Applications"), Path("~/Applications"))
"""Where macOS keeps apps."""

_PLUS = ("+{line}", "{path}")
_COLON = ("{path}:{line}",)
AT_LINE = {
    **dict.fromkeys(
        ("vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "mg", "kak", "joe", "jed"), _PLUS
    ),
    **dict.fromkeys(("micro", "ne", "gvim", "less"), _PLUS),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), _COLON),
    **dict.fromkeys(("code", "codium", "code-insiders", "cursor"), ("--goto", "{path}:{line}")),
    "kate": ("-l", "{line}", "{path}"),
    "gedit": _PLUS,
}
"""How an editor is told the line, by its program's name."""
OWN_WINDOW = frozenset({"gvim", "subl", "zed", "code", "codium", "code-insiders", "cursor", "kate", "gedit"})
"""Editors that open a window of their own; any other editor gets the terminal."""
