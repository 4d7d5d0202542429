"""Keeps the last sound versions of the settings file, and tells when its end is missing or its bytes have rotted.

A person edits that file, so another text is no damage, and nothing is put back without them. Two things no edit does
by itself: bytes that differ while the time of the last change is the same, and a file that stops in the middle of what
it held. The second may also be an edit, so both are told once, with the command that brings the version before back.
"""

from contextlib import suppress

from longsearch.app.paths import config_path
from longsearch.app.user_data.user_file import UserFile, told
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import replace_bytes

TEXT, _CHANGED_NS = "text", "changed_ns"


def settings_file() -> UserFile:
    """Return the file that holds the settings as they were last read, whose versions are kept."""
    return UserFile("settings.json", lambda known: known.get(TEXT, "").encode())


def note_settings() -> None:
    """Keep the settings file if it is another than the last, and tell what seems lost. Call this when it is sound."""
    with suppress(OSError, UnicodeDecodeError, LongsearchError):
        text, changed_ns = config_path().read_text("utf-8-sig"), config_path().stat().st_mtime_ns
        known = settings_file().read()
        if (before := str(known.get(TEXT, ""))) == text:
            return
        is_cut, has_rotted = before.startswith(text), known.get(_CHANGED_NS) == changed_ns
        with settings_file().changing() as kept:
            kept.update({TEXT: text, _CHANGED_NS: changed_ns})
        if is_cut or has_rotted:
            what = "has other bytes, though nobody wrote it, than" if has_rotted else "ends earlier than"
            hint = "if that was not you: longsearch restore settings 1"
            told.append(f"{config_path()} {what} when it was last read; {hint}")


def restore_settings() -> None:
    """Write the settings file as `settings_file` has it now. Raises OSError."""
    replace_bytes(config_path(), str(settings_file().read()[TEXT]).encode(), is_durable=True)
    note_settings()
