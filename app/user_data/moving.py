"""Moves what a person owns to another computer, in one file: a ZIP of their own files, their settings and themes."""

import json
import tempfile
import zipfile
from pathlib import Path

from longsearch.app.paths import config_path, themes_folder
from longsearch.app.user_data.basket import Basket
from longsearch.app.user_data.history import History
from longsearch.app.user_data.saved import SavedSearches
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import replace_bytes

_CONFIG, _THEMES = "config.toml", "themes/"
_MAX_BYTES = 200_000_000
_HINT = "name a file that longsearch export wrote"


def _own_files() -> dict[str, UserFile]:
    files = [Basket().file, SavedSearches().file, History().file, UserFile("app.json"), UserFile("last.json")]
    return {file.path.name: file for file in files}


def export_to(target: Path) -> list[str]:
    """Write the file, which must not be there; return the names of what it holds. Raises LongsearchError."""
    found = {name: json.dumps(known) for name, file in _own_files().items() if (known := file.read())}
    config = config_path()
    themes = sorted(themes_folder().glob("*.toml"))
    found |= {name: path.read_text("utf-8") for name, path in {_CONFIG: config}.items() if path.exists()}
    found |= {_THEMES + path.name: path.read_text("utf-8") for path in themes}
    if not found:
        raise LongsearchError("there is nothing to export yet", "a basket, saved searches, queries and settings are")
    try:
        target.touch(0o600, exist_ok=False)  # what a person asked and kept is nobody else's business
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in found.items():
                archive.writestr(name, text)
    except FileExistsError as error:
        raise LongsearchError(f"{target} is there already", "name another file") from error
    return list(found)


def import_from(source: Path) -> list[str]:
    """Put what an exported file holds in place; return the names. Raises LongsearchError, before anything is changed.

    What was here before becomes a version that `longsearch restore` brings back; settings and themes are kept beside
    the new ones, as NAME.before.
    """
    own = _own_files()
    texts = _read(source)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            if name in own:
                given = Path(folder) / name
                given.write_text(text, "utf-8")
                own[name].restore(given)
            else:
                _place(themes_folder() / Path(name).name if name.startswith(_THEMES) else config_path(), text)
    return list(texts)


def _read(source: Path) -> dict[str, str]:
    """Return the known members of an exported file. Raises LongsearchError if it is another file, or damaged."""
    own = _own_files()
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > _MAX_BYTES:
                raise LongsearchError(f"{source} is too large", _HINT)
            texts = {member.filename: archive.read(member).decode() for member in members}
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        raise LongsearchError(f"{source} cannot be read: {error}", _HINT) from error
    for name, text in texts.items():
        is_theme = name.startswith(_THEMES) and Path(name).name == name.removeprefix(_THEMES) and name.endswith(".toml")
        if name not in own and name != _CONFIG and not is_theme:
            raise LongsearchError(f"{source} holds {name}, which longsearch export does not write", _HINT)
        if name in own:
            try:
                own[name].check(json.loads(text))
            except Exception as error:  # whatever a damaged file makes of it
                raise LongsearchError(f"{name} in {source} is damaged", _HINT) from error
    return texts


def _place(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.read_text("utf-8") != text:
        path.replace(path.with_name(path.name + ".before"))
    replace_bytes(path, text.encode())
