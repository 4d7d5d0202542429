"""The outcome of opening a file outside the app. Imports nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """The outcome: something is open already, or a command is to be run in this terminal."""

    said: str
    """One sentence for the person."""
    command: tuple[str, ...] = ()
    """A command that needs this terminal, such as an editor; () if a viewer runs already, or nothing was started."""
    copy: str = ""
    """The text for the clipboard with which the person can open it themselves, or ""."""
