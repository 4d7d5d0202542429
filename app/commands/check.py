"""`longsearch check`: say whether indexes are whole, which documents are damaged, and mend them."""

import json
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from longsearch.app.options import JSON, flag, option
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError, in_words
from longsearch.engine.printable import printable

HELP = "say whether indexes are whole, which documents are damaged, and mend them"
_IN_USE = 11
"""The exit code of restic for a repository that another process holds: nothing is wrong, try again."""


class Examined(NamedTuple):  # `longsearch --help` imports this module, and dataclasses take long to import
    """What `check` found out about one index."""

    root: str
    """Its folder; "" if not even that can be read."""
    findings: tuple[tuple[str, list[str]], ...]
    """Each damage in words, with the paths of the documents that it touches."""
    problem: str = ""
    """Why it could not be looked at, which is no damage: an older schema, another process that holds it."""
    is_in_use: bool = False
    """Whether another process holds it."""

    @property
    def is_whole(self) -> bool:
        """Whether it was looked at and nothing is wrong."""
        return not self.findings and not self.problem


OPTIONS = (
    option("folder", "indexed folders; default: all", nargs="*"),
    flag("--read-data", "read every page, text, vector, state and segment"),
    flag("--repair", "read all data, and mend what is damaged"),
    JSON,
)


def run(options: Namespace) -> int:
    """Check the indexes. Returns 0 if all are whole or were mended, 11 if some only were in use, else 3.

    Raises LongsearchError for a folder without an index.
    """
    is_thorough = options.read_data or options.repair
    indexes = _indexes(options.folder)
    rows = [_checked(*one, is_thorough, options.repair, is_quiet=options.json) for one in indexes]
    if options.json:
        print(json.dumps({"folders": rows}, indent=2))
    else:
        for row in rows:
            print(_in_words(row, is_thorough))
    wrong = [row for row in rows if not row["whole"] and not row["repaired"]]
    return 0 if not wrong else _IN_USE if all(row["in_use"] for row in wrong) else 3


def _indexes(folders: list[str]) -> list[tuple[Path, str]]:
    """Return the index files of these folders, or of all, each with its folder, or "" if the index has to say it."""
    from longsearch.app.folders.names import named_roots
    from longsearch.app.paths import index_paths, resolve_root, working_path

    roots = [resolve_root(folder) for folder in folders] or named_roots()
    known = {working_path(root): str(root) for root in roots}
    if folders and (missing := next((root for path, root in known.items() if not path.exists()), None)):
        raise LongsearchError(f"there is no index of {missing}", f"index it first: longsearch index {missing}")
    paths = known if folders else index_paths()  # what lies in LanceDB has checksums of its own
    return [(path, known.get(path, "")) for path in paths if path.suffix == ".sqlite"]


def _checked(index: Path, root: str, is_thorough: bool, may_repair: bool, is_quiet: bool) -> dict[str, Any]:
    """Return what is known of one index, as `--json` prints it; mend it if it is damaged and that is wanted."""
    found = examined(index, root, is_thorough, show=sys.stderr.isatty() and not is_quiet)
    is_repaired, problem = False, found.problem
    if may_repair and found.root and not found.is_whole and not found.is_in_use:
        try:
            _repair(Path(found.root), index)
            is_repaired = examined(index, root, is_thorough).is_whole
        except LongsearchError as error:  # its folder is away, its disk is full: the others are mended all the same
            problem = in_words(error)
    return {
        "root": found.root,
        "index": str(index),
        "whole": found.is_whole,
        "repaired": is_repaired,
        "in_use": found.is_in_use,
        "problem": problem,
        "findings": [{"what": what, "documents": documents} for what, documents in found.findings],
    }


def examined(index: Path, root: str, is_thorough: bool, show: bool = False) -> Examined:
    """Return what is wrong with an index. `root`: its folder, if it is known ("" if the index has to say it)."""
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import examination
    from longsearch.engine.store.connection import BusyIndexError, CorruptIndexError

    def announce(what: str) -> None:
        if show:
            print(f"\r\x1b[Kchecking {printable(index.name)}: {what}", end="", file=sys.stderr, flush=True)

    try:
        with open_index(index) as opened:
            root = str(opened.root)
            db = opened.db
            found = examination.thorough(db, index, announce) if is_thorough else examination.quick(db, index)
            return Examined(root, tuple((one.what, examination.paths_of(db, one)) for one in found))
    except CorruptIndexError as error:
        return Examined(root, ((error.message, []),))
    except LongsearchError as error:  # an older schema, an index that another process holds, missing permissions
        return Examined(root, (), in_words(error), isinstance(error, BusyIndexError))
    finally:
        announce("done\r\x1b[K")


def in_a_line() -> str:
    """Say that the sizes and counts of all indexes fit. Raises LongsearchError that names each that is damaged."""
    indexes = _indexes([])
    wrong = {}
    for index, root in indexes:
        if not (found := examined(index, root, is_thorough=False)).is_whole:
            wrong[found.root or index] = found.problem or found.findings[0][0]
    if wrong:
        said = "; ".join(f"{name}: {what}" for name, what in wrong.items())
        raise LongsearchError(printable(said), "longsearch check --repair FOLDER mends damage")
    said = f"{counted(len(indexes), 'index', 'indexes')} with the right sizes and counts"
    return f"{said}; longsearch check --read-data reads all"


def _repair(root: Path, index: Path) -> None:
    """Have the index looked at as a whole by its next writer, which mends it, and index its folder."""
    from longsearch.app.cli import build_parser
    from longsearch.app.commands import index as indexing
    from longsearch.engine.store.connection import note_damage

    note_damage(index)
    with redirect_stdout(sys.stderr):
        indexing.run(build_parser(["index"]).parse_args(["index", str(root), "--quiet"]))


def _in_words(row: dict[str, Any], is_thorough: bool) -> str:
    name, problem = printable(row["root"] or row["index"]), printable(row["problem"])
    if row["whole"]:
        return f"{name}: whole" + ("" if is_thorough else " (sizes and counts; all data: longsearch check --read-data)")
    if not row["findings"] and not row["repaired"]:
        return f"{name}: NOT CHECKED: {problem}"
    lines = [f"{name}: " + ("was damaged and is mended" if row["repaired"] else "DAMAGED")]
    for finding in row["findings"]:
        lines.append(f"  {printable(finding['what'])}")
        lines += [f"    {printable(path)}" for path in finding["documents"]]
    if not row["repaired"]:
        lines.append(f"  it was not mended: {problem}" if problem else "  mend it: longsearch check --repair FOLDER")
    return "\n".join(lines)
