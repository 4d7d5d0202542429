"""The names of indexed folders, by which `folder:` and `longsearch folders` know them. No two are the same.

A folder is called after itself; if that name is taken, after the folder around it too: `work/papers`. A name stays when
other folders come and go, so all names are kept in a file of the person's own. Knows no index.
"""

import contextlib
import os
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from longsearch.app.paths import data_folder, index_path
from longsearch.app.user_data.user_file import UserFile
from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_object
from longsearch.engine.printable import condensed, printable
from longsearch.engine.query_language.file_filter import folded

MAX_CHARACTERS = 64
MAX_ABOUT = 500
"""Characters that a person may say of a folder."""
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))  # all begin and end a phrase in the query language


FILE = "folders.json"
"""The file of the names, and of what is said of the folders. Without it, the folders get their first names again."""


def names_file() -> UserFile:
    """Return the file of the names, for who changes it."""
    return UserFile(FILE)


def names_of(roots: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each of these folders; a folder that has none yet gets one, which is kept."""
    known = _texts()
    names = {root: known[os.fspath(root)] for root in roots if os.fspath(root) in known}
    if len(names) == len(set(roots)):
        return names
    with contextlib.suppress(LongsearchError), names_file().changing() as kept:
        # without the file the same names are made the next time; the name of a folder without an index is free again
        known = {root: name for root, name in _texts(kept=kept).items() if index_path(Path(root)).exists()}
        for root in sorted(roots, key=lambda root: (len(root.parts), root)):  # the outermost gets the shortest name
            name = known.get(os.fspath(root)) or first_name(root, known.values())
            names[root] = known[os.fspath(root)] = name
        _put(kept, known, _texts("about", kept))
    for root in roots:
        names.setdefault(root, first_name(root, names.values()))
    return names


def named_roots() -> list[Path]:
    """Return every folder that has a name, also one whose index cannot be read."""
    return [Path(root) for root in _texts()]


def first_name(root: Path, taken: Iterable[str]) -> str:
    """Return the name of a folder that nobody has named: as few of its last parts as make it differ from the others."""
    used = {folded(name) for name in taken}
    parts = [_clean(part) for part in root.parts[1:]] or ["/"]
    names = ["/".join(parts[-n:]) for n in range(1, len(parts) + 1)]
    whole = names[-1]
    names += [f"{whole}-{number}" for number in range(2, len(used) + 3)]
    return next(name for name in names if name and folded(name) not in used)


def rename(root: Path, name: str, taken: Collection[str]) -> str:
    """Call the folder `name`, and return the name as it is kept. Raises LongsearchError for one that cannot be used.

    `taken`: the names of the other folders.
    """
    checked = check_name(name, taken)
    with names_file().changing() as kept:
        _put(kept, {**_texts(kept=kept), os.fspath(root): checked}, _texts("about", kept))
    return checked


def check_name(name: str, taken: Iterable[str]) -> str:
    """Return the name as it is kept. Raises LongsearchError if it is taken or cannot be used."""
    kept = " ".join(unicodedata.normalize("NFC", name).split())
    if not kept or kept != _clean(kept) or len(kept) > MAX_CHARACTERS:
        hint = f"take 1 to {MAX_CHARACTERS} visible characters, without quotation marks"
        raise LongsearchError(f"a folder cannot be called {name!r}", hint)
    if folded(kept) in map(folded, taken):
        raise LongsearchError(f"another folder is called {kept}", "see them all: longsearch folders")
    return kept


def describe(root: Path, text: str) -> str:
    """Keep a sentence or two about a folder, in place of what was said before; "" drops it. Returns what is kept.

    Raises LongsearchError if it is too long.
    """
    said = condensed(printable(text))
    if len(said) > MAX_ABOUT:
        raise LongsearchError(f"{len(said)} characters are too many", f"say it in {MAX_ABOUT}: a sentence or two")
    names_of([root])
    with names_file().changing() as kept:
        _put(kept, _texts(kept=kept), {**_texts("about", kept), os.fspath(root): said})
    return said


def descriptions() -> dict[str, str]:
    """Return what the person says of each folder, by its path."""
    return _texts("about")


def drop_name(root: Path) -> str:
    """Free the name of a folder, and return it; "" if it had none. No version of the file keeps it."""
    with names_file().changing() as kept:
        known = _texts(kept=kept)
        name = known.pop(os.fspath(root), "")
        _put(kept, known, _texts("about", kept))
    names_file().forget_versions()
    return name


def move(old: Path, new: Path) -> None:
    """Give the name of a folder to the place where it lies now."""
    with names_file().changing() as kept:
        known, about = _texts(kept=kept), _texts("about", kept)
        if name := known.pop(os.fspath(old), ""):
            _put(kept, {**known, os.fspath(new): name}, {**about, os.fspath(new): about.get(os.fspath(old), "")})


def _clean(part: str) -> str:
    """Return a name that can be shown and typed: printable, on one line, without quotation marks."""
    visible = printable(unicodedata.normalize("NFC", part)).translate(_QUOTES).replace('"', "'")
    return " ".join(visible.split())


def _texts(what: str = "names", kept: dict[str, Any] | None = None) -> dict[str, str]:
    """The names of the folders, or what is said `about` them, by their paths.

    `kept`: what the file holds; None reads it, and mends a damaged one.
    """
    if kept is None:
        path = data_folder() / FILE
        kept = load_object(path)
        if not kept and path.exists():
            with contextlib.suppress(LongsearchError):  # who changes it is told
                kept = names_file().read()
    texts = kept.get(what)
    return {root: text for root, text in texts.items() if isinstance(text, str)} if isinstance(texts, dict) else {}


def _put(kept: dict[str, Any], names: dict[str, str], about: dict[str, str]) -> None:
    """Keep the names, and what is said of the folders that still have one."""
    kept["names"] = names
    kept["about"] = {root: text for root, text in about.items() if root in names and text}
