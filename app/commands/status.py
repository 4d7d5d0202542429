"""`longsearch status`: print which files can be searched, which cannot yet, and which cannot at all, and why."""

import json
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.engine.amounts import counted
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.engine.types import FileReport, IndexProgress

HELP = "say how far each file of a folder is read, and why not further"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch status`."""
    parser.add_argument("folder", nargs="?", default=".", help="an indexed folder (default: this folder)")
    parser.add_argument("--all", action="store_true", help="list every file, not only those that are not current")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: Namespace) -> int:
    """Print the status. Returns 0 if there is an index."""
    from dataclasses import asdict

    from longsearch.app.background import daemon_control
    from longsearch.app.paths import find_index, index_path
    from longsearch.engine.store.session import Session
    from longsearch.engine.types import FileStatus

    root, under = find_index(options.folder)
    with Session.open(index_path(root), read_only=True) as session:
        progress, files = session.progress(), session.files()
    files = [file for file in files if not under or file.path.startswith(f"{under}/")]
    kept = daemon_control.root_status(root)
    if options.json:
        summary = {"root": str(root), **asdict(progress), "eta_s": progress.eta_s, "daemon": kept}
        print(json.dumps({**summary, "files": [_as_json(file) for file in files]}, indent=2))
        return 0
    for file in files:
        if options.all or file.status is not FileStatus.CURRENT:
            print(describe(file))
    print(summarise(progress))
    print(_watched_by(kept, root))
    return 0


def _as_json(file: "FileReport") -> dict[str, Any]:
    """Return the file's fields. Its status keeps the key "state", which scripts read."""
    from dataclasses import asdict

    return {"state" if name == "status" else name: value for name, value in asdict(file).items()}


def _watched_by(kept: dict[str, Any] | None, root: Path) -> str:
    """Say whether the daemon keeps the index current; `kept` is what it says of `root`, or None."""
    if kept is None:
        return f"nothing watches for changes: run longsearch index {printable(str(root))}, or longsearch daemon install"
    return f"watched by the daemon: {printable(kept['problem'])}" if kept["problem"] else "watched by the daemon"


def describe(file: "FileReport") -> str:
    """Return one file's status in a line or two."""
    from longsearch.tui.text.wording import next_try

    line = f"{file.status.value:8} {printable(file.path)}"
    if file.n_tokens:
        line += f"  ({_embedded(file)})"
    said = (file.reason or _reason(file), file.hint, next_try(file, time.time()))
    why = "; ".join(printable(part) for part in said if part)
    return f"{line}\n         {why}" if why else line


def _reason(file: "FileReport") -> str:
    from longsearch.engine.types import FileStatus

    if file.status is FileStatus.WAITING:
        return "searchable by words only; the daemon or longsearch index will read its meaning"
    return ""


def summarise(progress: "IndexProgress") -> str:
    """Return the status of the whole folder in a line."""
    counts = [f"{progress.n_current:,} current"]
    for number, word in (
        (progress.n_waiting, "waiting"),
        (progress.n_partial, "partial"),
        (progress.n_failed, "failed"),
    ):
        if number:
            counts.append(f"{number:,} {word}")
    return f"{counted(progress.n_files, 'file')}: {', '.join(counts)}; {_embedded(progress)}"


def _embedded(report: "FileReport | IndexProgress") -> str:
    return f"{report.n_tokens_embedded:,} of {report.n_tokens:,} tokens embedded"
