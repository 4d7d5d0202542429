"""The command that edits a text file: that of the settings, else $VISUAL, $EDITOR, or an editor on the PATH."""

import os
import shlex
import shutil
from collections.abc import Mapping

from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError

_EDITORS = ("sensible-editor", "nano", "vim", "vi", "notepad")


def editor_command(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the words of the command, without the file. Raises LongsearchError if there is no editor."""
    if chosen := chosen_editor(environment):
        return chosen
    for name in _EDITORS:
        if shutil.which(name, path=environment.get("PATH")):
            return (name,)
    raise LongsearchError("no editor was found", "set EDITOR to one, such as vim")


def chosen_editor(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the words of the editor that the person chose, or (). Raises LongsearchError if they cannot be read."""
    if chosen := current("editor", environment=environment).editor:
        return chosen
    for variable in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(variable, ""))
        except ValueError as error:
            raise LongsearchError(f"{variable} is {environment[variable]!r}", "set it to a command line") from error
        if words:
            return tuple(words)
    return ()
