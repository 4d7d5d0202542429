"""`longsearch check`: say whether indexes are whole, which documents are damaged, and mend them."""

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable

HELP = "say whether indexes are whole, which documents are damaged, and mend them"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch check`."""
    parser.add_argument("folder", nargs="*", help="indexed folders; default: all")
    parser.add_argument("--read-data", action="store_true", help="read every page, text, vector, state and segment")
    parser.add_argument("--repair", action="store_true", help="read all data, and mend what is damaged")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: Namespace) -> int:
    """Check the indexes. Returns 0 if all are whole or were mended, else 3. Raises LongsearchError for no index."""
    is_thorough = options.read_data or options.repair
    indexes = _indexes(options.folder)
    rows = [_checked(*one, is_thorough, options.repair, is_quiet=options.json) for one in indexes]
    if options.json:
        print(json.dumps({"folders": rows}, indent=2))
    else:
        for row in rows:
            print(_in_words(row, is_thorough))
    return 0 if all(row["whole"] or row["repaired"] for row in rows) else 3


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
    said, findings = examined(index, is_thorough, show=sys.stderr.isatty() and not is_quiet)
    root = said or root
    is_repaired = bool(findings and may_repair and root)
    if is_repaired:
        _repair(Path(root), index)
        is_repaired = not examined(index, is_thorough)[1]
    return {
        "root": root,
        "index": str(index),
        "whole": not findings,
        "repaired": is_repaired,
        "findings": [{"what": what, "documents": documents} for what, documents in findings],
    }


def examined(index: Path, is_thorough: bool, show: bool = False) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the folder of an index ("" if it cannot be read), and each finding with the paths of its documents."""
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import examination
    from longsearch.engine.store.connection import CorruptIndexError

    def announce(what: str) -> None:
        if show:
            print(f"\r\x1b[Kchecking {printable(index.name)}: {what}", end="", file=sys.stderr, flush=True)

    root = ""
    try:
        with open_index(index) as opened:
            root = str(opened.root)
            db = opened.db
            found = examination.thorough(db, index, announce) if is_thorough else examination.quick(db, index)
            return root, [(one.what, examination.paths_of(db, one)) for one in found]
    except CorruptIndexError as error:
        return root, [(error.message, [])]
    finally:
        announce("done\r\x1b[K")


def in_a_line() -> str:
    """Say that the sizes and counts of all indexes fit. Raises LongsearchError for the first that is damaged."""
    indexes = _indexes([])
    for index, name in indexes:
        root, found = examined(index, is_thorough=False)
        if found:
            raise LongsearchError(
                f"{root or name or index}: {found[0][0]}", "longsearch check --repair FOLDER mends it"
            )
    said = f"{counted(len(indexes), 'index', 'indexes')} with the right sizes and counts"
    return f"{said}; longsearch check --read-data reads all"


def _repair(root: Path, index: Path) -> None:
    """Have the index looked at as a whole by its next writer, which mends it, and index its folder."""
    from longsearch.app.commands import index as indexing
    from longsearch.engine.store.connection import note_damage

    note_damage(index)
    parser = ArgumentParser()
    indexing.add_options(parser)
    with redirect_stdout(sys.stderr):
        indexing.run(parser.parse_args([str(root), "--quiet"]))


def _in_words(row: dict[str, Any], is_thorough: bool) -> str:
    name = printable(row["root"] or row["index"])
    if row["whole"]:
        return f"{name}: whole" + ("" if is_thorough else " (sizes and counts; all data: longsearch check --read-data)")
    lines = [f"{name}: " + ("was damaged and is mended" if row["repaired"] else "DAMAGED")]
    for finding in row["findings"]:
        lines.append(f"  {printable(finding['what'])}")
        lines += [f"    {printable(path)}" for path in finding["documents"]]
    if not row["repaired"]:
        lines.append("  mend it: longsearch check --repair FOLDER")
    return "\n".join(lines)
