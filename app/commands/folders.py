"""`longsearch folders`: list, add, rename, move, forget and take back indexed folders; carry an index elsewhere."""

import json
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.asking import is_confirmed, take_over
from longsearch.app.options import JSON, JSON_AGAIN, YES, Actions, flag, option
from longsearch.engine.amounts import counted, duration
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable
from longsearch.engine.unread import NONE_READ

if TYPE_CHECKING:
    from longsearch.engine.types.results import Folder

HELP = "list the indexed folders; add, rename, move or forget one"

_FOLDER = option("folder", "the name or the path of an indexed folder")
OPTIONS = (
    Actions(
        {
            "list": ("list the indexed folders (the same as `longsearch folders`)", JSON_AGAIN),
            "add": (
                "index a folder in the background, from now on",
                option("folder", "the folder to index, with all its subfolders"),
                option("--name", "its name (default: that of the folder)", default="", metavar="NAME"),
            ),
            "rename": (
                "give a folder another name for folder:NAME",
                _FOLDER,
                option("name", "its new name; no two folders have the same"),
            ),
            "describe": (
                "say in a sentence or two what a folder holds, for programs and agents that find its documents",
                _FOLDER,
                option("text", 'a sentence or two; "" drops it; without it, print it', nargs="?"),
            ),
            "move": (
                "tell where the files of a folder lie now; nothing is read again",
                option("folder", "the name or the old path of an indexed folder"),
                option("to", "the folder that has its files now", metavar="new"),
            ),
            "export": (
                "write the index of a folder into one file, for another computer",
                _FOLDER,
                option("file", "the file to write, which must not be there"),
            ),
            "import": (
                "let an exported file be the index of a folder; nothing is read again",
                option("file", "a file that export wrote"),
                option("folder", "the folder with the same files on this computer"),
            ),
            "forget": (
                "forget a folder; its files are not touched, its index is kept for 30 days",
                _FOLDER,
                YES,
                flag("--delete", "delete the index now, for good"),
            ),
            "restore": (
                "take back a forgotten folder, with its index",
                option("folder", "the name or the path of a forgotten folder"),
            ),
        }
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0; 1 if there is no folder to list, or if the person does not confirm."""
    from longsearch.app.folders.forgetting import delete_old

    delete_old()
    match options.action:
        case "add":
            return _add(options.folder, options.name)
        case "rename":
            return _rename(options.folder, options.name)
        case "describe":
            return _describe(options.folder, options.text)
        case "move":
            return _move(options.folder, options.to)
        case "export":
            return _export(options.folder, options.file)
        case "import":
            return _import(options.file, options.folder)
        case "forget":
            return _forget(options.folder, options.yes, options.delete)
        case "restore":
            return _restore(options.folder)
    return _list(options.json)


def _list(as_json: bool) -> int:
    from longsearch.app.folders.listing import indexed_folders, register_configured

    register_configured()
    rows = [_row(folder) for folder in indexed_folders()]
    if as_json:
        print(json.dumps({"folders": rows}, indent=2))
    elif not rows:
        print("no folder is indexed yet; to index one: longsearch FOLDER")
    else:
        print(*map(_line, rows), sep="\n")
    return 0 if rows else 1


def _row(folder: "Folder") -> dict[str, Any]:
    """Return a folder as the JSON object that the documentation describes."""
    from longsearch.app.folders.forgetting import n_bytes
    from longsearch.app.folders.listing import fingerprint_and_time

    fingerprint, indexed_at = ("", None) if folder.problem else fingerprint_and_time(folder)
    return {
        "name": folder.name,
        "path": folder.root,
        "documents": folder.n_documents,
        "about": folder.about,
        "model": _model_of(Path(folder.root), fingerprint),
        "fingerprint": fingerprint,
        "bytes": n_bytes(Path(folder.root)) if folder.root else 0,
        "indexed_at": indexed_at,
        "away": folder.away,
        "problem": folder.problem,
    }


def _model_of(root: Path, fingerprint: str) -> str:
    """Return the name of a folder's model if it made these vectors; "another" if not, "" if there are none."""
    from longsearch.app.models.encoders import chosen_identity
    from longsearch.app.models.folder_models import folder_model
    from longsearch.engine.errors import ModelError

    if not fingerprint:
        return ""
    try:
        name = folder_model(root).model
        return name if chosen_identity(name).fingerprint == fingerprint else "another"
    except ModelError:
        return "another"


def _line(row: dict[str, Any]) -> str:
    """Return a folder as a line or two of text."""
    from longsearch.app.paths import shown_path

    model = f"{row['model']} model" if row["model"] else NONE_READ
    facts = [counted(row["documents"], "document"), f"{row['bytes'] / 1e6:,.1f} MB", model]
    if row["indexed_at"] is not None:
        facts.append(f"indexed {duration(max(time.time() - row['indexed_at'], 0))} ago")
    lines = [f"{printable(row['name'])}  {printable(shown_path(row['path']))}", f"    {printable(', '.join(facts))}"]
    lines += [f"    {printable(row['about'])}"] if row["about"] else []
    lines += [f"    away: {printable(row['away'])}"] if row["away"] else []
    lines += [f"    cannot be searched: {printable(row['problem'])}"] if row["problem"] else []
    return "\n".join(lines)


def _add(text: str, name: str) -> int:
    from longsearch.app.daemon import daemon_control
    from longsearch.app.folders.listing import indexed_folders, register
    from longsearch.app.folders.names import check_name, names_of, rename
    from longsearch.app.paths import in_shell, resolve_root

    root = resolve_root(text)
    take_over(root)
    folders = indexed_folders()
    others = [folder for folder in folders if folder.root != str(root)]
    if name:
        check_name(name, [folder.name for folder in others])
    register(root)
    called = rename(root, name, [folder.name for folder in others]) if name else names_of([root])[root]
    problem = daemon_control.watch(root)
    again = " again" if len(others) < len(folders) else ""
    print(f"{printable(called)} is indexed{again} in the background; how far: longsearch status {in_shell(root)}")
    for other in others:
        if root.is_relative_to(other.root) or (other.root and Path(other.root).is_relative_to(root)):
            print(f"note: it overlaps {printable(other.name)}; a document of both is listed once", file=sys.stderr)
    if problem:
        print(f"note: {printable(problem)}", file=sys.stderr)
    return 0


def _rename(text: str, name: str) -> int:
    from longsearch.app.folders.listing import find_folder, indexed_folders
    from longsearch.app.folders.names import rename

    folders = indexed_folders()
    folder = find_folder(text, folders)
    called = rename(Path(folder.root), name, [other.name for other in folders if other is not folder])
    print(f"{printable(folder.name)} is now called {printable(called)}")
    return 0


def _describe(text: str, about: str | None) -> int:
    from longsearch.app.folders.listing import find_folder, indexed_folders
    from longsearch.app.folders.names import describe

    folder = find_folder(text, indexed_folders())
    kept = folder.about if about is None else describe(Path(folder.root), about)
    print(f"{printable(folder.name)}: {printable(kept) or 'nothing is said of it'}")
    return 0


def _move(text: str, to: str) -> int:
    from longsearch.app.folders.listing import find_folder, indexed_folders
    from longsearch.app.folders.moving import move
    from longsearch.app.paths import in_shell, resolve_root

    folder, new = find_folder(text, indexed_folders()), resolve_root(to)
    move(folder, new)
    print(f"{printable(folder.name)} lies at {printable(str(new))} now; nothing is read again")
    print(f"to take that back: longsearch folders move {in_shell(new)} {in_shell(folder.root)}")
    _watch(new)
    return 0


def _export(text: str, file: str) -> int:
    from longsearch.app.folders.listing import find_folder, indexed_folders
    from longsearch.app.folders.moving import exported
    from longsearch.app.paths import expanded

    folder, target = find_folder(text, indexed_folders()), expanded(file).absolute()
    exported(folder, target)
    about = f"{counted(folder.n_documents, 'document')}, {target.stat().st_size / 1e6:,.1f} MB"
    print(
        f"{printable(folder.name)} is in {printable(str(target))} ({about}); the file holds the text of the documents"
    )
    print("on the other computer, beside the same files: longsearch folders import FILE FOLDER")
    return 0


def _import(file: str, text: str) -> int:
    from longsearch.app.folders.moving import imported
    from longsearch.app.folders.names import names_of
    from longsearch.app.paths import expanded, resolve_root

    root = resolve_root(text)
    imported(expanded(file).absolute(), root)
    print(f"{printable(names_of([root])[root])} is indexed; nothing is read again but files that differ")
    _watch(root)
    return 0


def _watch(root: Path) -> None:
    """Let the daemon, if it runs, watch a folder from now on."""
    from longsearch.app.daemon import daemon_control

    if daemon_control.daemon_status() is not None and (problem := daemon_control.watch(root)):
        print(f"note: {printable(problem)}", file=sys.stderr)


def _forget(text: str, is_sure: bool, delete: bool) -> int:
    from longsearch.app.folders.forgetting import KEPT_DAYS, forget
    from longsearch.app.folders.listing import find_folder, indexed_folders
    from longsearch.app.paths import in_shell
    from longsearch.app.settings.reading import current

    folder = find_folder(text, indexed_folders())
    name = printable(folder.name)
    if not folder.root:
        raise LongsearchError(f"{folder.name} does not say which folder it belongs to", folder.problem)
    if not is_sure:
        about = f"{counted(folder.n_documents, 'document')}, {printable(folder.root)}"
        if not is_confirmed(f"Forget {name} ({about})? Its files are not touched.", f"forget {folder.name}?"):
            return 1
    forget(folder, keep=not delete)
    if Path(folder.root) in [path.resolve() for path in current().folders]:
        print("note: it stands in the config file, and is indexed again unless you remove it there", file=sys.stderr)
    if delete:
        print(f"{name} is forgotten, and its index deleted; its files are as they were")
    else:
        print(f"{name} is forgotten; its files are as they were, its index is kept for {KEPT_DAYS} days")
        print(f"to take it back: longsearch folders restore {in_shell(name)}")
    return 0


def _restore(text: str) -> int:
    from longsearch.app.folders.forgetting import take_back
    from longsearch.app.folders.listing import indexed_folders

    name = take_back(text, [folder.name for folder in indexed_folders()])
    print(f"{printable(name)} is back; an open app, or longsearch index, brings it up to date")
    return 0
