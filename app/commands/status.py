"""`longsearch status`: print which files can be searched, which cannot yet, and which cannot at all, and why."""

import json
import re
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.results import metadata_as_json
from longsearch.app.options import FOLDER, JSON, flag
from longsearch.engine.amounts import counted
from longsearch.engine.printable import printable
from longsearch.engine.unread import unread

if TYPE_CHECKING:
    from longsearch.engine.types.documents import MetadataValue
    from longsearch.engine.types.progress import FileReport, IndexProgress, ScannedPages
    from longsearch.engine.types.results import Folder

_SHOWN_WAITING = 10
_SHOWN_SUFFIXES = 3
HELP = "say how far each file of a folder is read, and why not further"
OPTIONS = (
    *FOLDER,
    flag("--all", "list every file, not only those that are not current"),
    flag("--verbose", "count the reasons, and every suffix that is not read"),
    JSON,
)


def run(options: Namespace) -> int:
    """Print the status. Returns 0 if there is an index."""
    from longsearch.app.daemon import daemon_control
    from longsearch.app.search.scope import Scope

    scope = Scope.chosen(options.folder, options.everywhere)
    daemon = daemon_control.daemon_status()
    if scope.is_one:
        root = Path(scope.folders[0].root)
        if options.json:
            print(json.dumps(_to_json(root, scope.under, daemon), indent=2))
        else:
            _print(root, scope.under, daemon, options.all, options.verbose)
        return 0
    if options.json:
        print(json.dumps({"folders": [_folder_to_json(folder, daemon) for folder in scope.folders]}, indent=2))
        return 0
    for folder in scope.folders:
        print(f"{printable(folder.name)}  {printable(folder.root)}")
        said = (f"away: {folder.away}" if folder.away else "", folder.problem)
        print(*(printable(problem) + "\n" for problem in said if problem), sep="", end="")
        if not folder.problem:
            _print(Path(folder.root), "", daemon, options.all, options.verbose)
        print()
    return 0


def _folder_to_json(folder: "Folder", daemon: dict[str, Any] | None) -> dict[str, Any]:
    about = {"name": folder.name, "root": folder.root, "away": folder.away, "problem": folder.problem}
    return about if folder.problem else {**about, **_to_json(Path(folder.root), "", daemon)}


def _to_json(root: Path, under: str, daemon: dict[str, Any] | None) -> dict[str, Any]:
    """Return the status of an index as the JSON object that the documentation describes."""
    from dataclasses import asdict, replace

    from longsearch.app.daemon import daemon_control
    from longsearch.app.folders.indexes import is_being_indexed
    from longsearch.app.folders.languages import advice_about
    from longsearch.app.models.folder_models import folder_model
    from longsearch.indexer.extract.other_formats import documents_first, hint_for

    progress, files, fingerprint, languages, passed_over = _read(root, under)
    folder = folder_model(root)
    described = _metadata(root)
    return {
        "root": str(root),
        **asdict(replace(progress, advice=advice_about(root, languages))),
        "languages": languages,
        "model": folder.model,
        "next_model": folder.next_model or None,
        "eta_s": progress.eta_s,
        "scanned": asdict(_scanned(files, root)),
        "widths": _widths(daemon, fingerprint, progress),
        "daemon": daemon_control.root_in(daemon, root),
        "indexing": is_being_indexed(root),
        "passed_over": [
            {"suffix": suffix, "n_files": n, "hint": hint_for(suffix)} for suffix, n in documents_first(passed_over)
        ],
        "files": [_as_json(file, described.get(file.path, ())) for file in files],
    }


def _print(root: Path, under: str, daemon: dict[str, Any] | None, with_all_files: bool, is_verbose: bool) -> None:
    """Print the files of an index, and its status in a few lines."""
    from longsearch.app.daemon import daemon_control
    from longsearch.app.models.widths import describe_narrow
    from longsearch.app.paths import in_shell

    progress, files, _, languages, passed_over = _read(root, under)
    for line in map(describe, files) if with_all_files else _in_short(files):
        print(line)
    print(summarise(progress))
    for line in (*(_reasons(files) if is_verbose else ()), *_about_passed_over(passed_over, is_verbose)):
        print(line)
    watched = _watched_by(daemon_control.root_in(daemon, root), root)
    narrow = describe_narrow(progress, in_shell(root))
    scans = _about_scans(root, files)
    print(*filter(None, (*_about_model(root, languages), narrow, scans, watched)), sep="\n")


def _reasons(files: "Sequence[FileReport]") -> "Iterator[str]":
    """Yield how often each reason stands at a file that failed or is partial, without what differs between files."""
    counts = Counter(
        (file.status.value, re.split(r"[:;(]|\d", file.reason)[0].strip()) for file in files if file.reason
    )
    for (status, reason), n in counts.most_common():
        yield f"{status:8} {counted(n, 'file')}: {printable(reason)}"


def _about_passed_over(counts: dict[str, int], with_all: bool) -> "Iterator[str]":
    """Yield lines about files with suffixes that are not read, those that are likely documents first."""
    from longsearch.indexer.extract.other_formats import documents_first, hint_for

    named = [(suffix, n) for suffix, n in documents_first(counts) if with_all or hint_for(suffix)]
    shown = named if with_all else named[:_SHOWN_SUFFIXES]
    for suffix, n in shown:
        hint = hint_for(suffix) or "a program that you name in [adapters] of the config file could"
        yield f"not read {n:,} {printable(suffix) or 'without a suffix, or with a rare one'}: {hint}"
    if (rest := sum(counts.values()) - sum(n for _, n in shown)) and not with_all:
        yield f"not read {counted(rest, 'file')} of other kinds; to see which: longsearch status --verbose"


def _about_scans(root: Path, files: "Sequence[FileReport]") -> str:
    """Say how many scanned pages wait, about how long OCR takes, and what to do; "" if there are none."""
    from longsearch.app.paths import in_shell
    from longsearch.tui.text.wording import scanned

    pages = _scanned(files, root)
    said = printable(scanned(pages))
    if not said or pages.is_wished or pages.problem:
        return said
    return f"{said}; to read them: longsearch index {in_shell(root)} --ocr, or s in the app's list of files (F3)"


def _scanned(files: "Sequence[FileReport]", root: Path) -> "ScannedPages":
    from longsearch.app.indexing.scans import scanned_pages

    counts = [file.n_scanned for file in files if file.n_scanned]
    return scanned_pages(sum(counts), len(counts), [root])


def _about_model(root: Path, languages: dict[str, int]) -> tuple[str, ...]:
    """Say which model reads the folder, if it is not the default, and whether another would read more of it."""
    from longsearch.app.folders.languages import advice_about
    from longsearch.app.models.folder_models import describe_change, folder_model

    folder = folder_model(root)
    read_by = f"read with the model {printable(folder.model)}" if folder.is_own else ""
    return read_by, printable(describe_change(root)), advice_about(root, languages)


def _read(root: Path, under: str) -> "tuple[IndexProgress, list[FileReport], str, dict[str, int], dict[str, int]]":
    """Return an index's progress, files in the folder `under`, vectors' fingerprint, languages and unread suffixes."""
    from longsearch.app.paths import index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store.files import passed_over

    with open_index(index_path(root)) as index:
        files = [file for file in index.files() if not under or file.path.startswith(f"{under}/")]
        return index.progress(), files, index.fingerprint, index.languages(), passed_over(index.db)


def _metadata(root: Path) -> "dict[str, tuple[MetadataValue, ...]]":
    """Return the metadata of each file's document, by path."""
    from longsearch.app.paths import index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import metadata

    with open_index(index_path(root)) as index:
        return metadata.of_files(index.db)


def _widths(status: dict[str, Any] | None, fingerprint: str, progress: "IndexProgress") -> dict[str, Any] | None:
    """Return the widths that the daemon uses or, if it has not chosen, that indexing and searching would use now.

    None if the chosen model is not on this machine.
    """
    from longsearch.app.models.elastic import chosen_without_model
    from longsearch.app.models.encoders import chosen_model
    from longsearch.app.settings.reading import current
    from longsearch.engine.errors import ModelError
    from longsearch.indexer.process_priority import on_battery

    if status and (in_use := status["model"].get("widths")):
        return dict(in_use)
    n_tokens = progress.n_tokens - progress.n_tokens_embedded
    try:
        return chosen_without_model(chosen_model(), fingerprint, current("width").width, n_tokens, on_battery())
    except ModelError:
        return None


def _as_json(file: "FileReport", values: "Sequence[MetadataValue]") -> dict[str, Any]:
    """Return the file's fields and its document's metadata. Its status keeps the key "state", which scripts read."""
    fields = {name: value for name, value in file._asdict().items() if name not in ("folder", "root")}
    fields = {"state" if name == "status" else name: value for name, value in fields.items()}
    return {**fields, "metadata": metadata_as_json(values)}


def _watched_by(kept: dict[str, Any] | None, root: Path) -> str:
    """Say who keeps the index current; `kept` is what the daemon says of `root`, or None."""
    from longsearch.app.daemon.daemon_control import unwatched
    from longsearch.app.folders.indexes import is_being_indexed
    from longsearch.app.folders.presence import reasons_away
    from longsearch.app.paths import in_shell, url_of

    if kept is None and is_being_indexed(root):
        return "longsearch index is running on it now"
    if url := url_of(root):
        return unwatched(url)
    if away := reasons_away([root])[root]:
        return f"away: {away}"
    if kept is None:
        return f"nothing watches for changes: run longsearch index {in_shell(root)}, or longsearch daemon install"
    return f"watched by the daemon: {printable(kept['problem'])}" if kept["problem"] else "watched by the daemon"


def _in_short(files: "Sequence[FileReport]") -> "Iterator[str]":
    """Yield lines about the files that are not current: some of those that wait, and last those that need a person."""
    from longsearch.engine.types.progress import FileStatus

    waiting = [file for file in files if file.status is FileStatus.WAITING]
    yield from map(describe, waiting[:_SHOWN_WAITING])
    if len(waiting) > _SHOWN_WAITING:
        yield f"waiting  {len(waiting) - _SHOWN_WAITING:,} more; to see them: longsearch status --all"
    if waiting:
        yield f"         {unread('these files', 2)}: words find them; the daemon or longsearch index reads on"
    for status in (FileStatus.PARTIAL, FileStatus.FAILED):
        yield from (describe(file) for file in files if file.status is status)


def describe(file: "FileReport") -> str:
    """Return one file's status in a line or two."""
    from longsearch.tui.text.wording import next_try

    line = f"{file.status.value:8} {printable(file.path)}"
    if file.n_tokens:
        line += f"  ({_embedded(file)})"
    said = (file.reason, file.hint, next_try(file, time.time()))
    why = "; ".join(printable(part) for part in said if part)
    return f"{line}\n         {why}" if why else line


def summarise(progress: "IndexProgress") -> str:
    """Return the status of the whole folder in a line."""
    counts = [f"{progress.n_current:,} current"]
    for number, word in (
        (progress.n_waiting, "waiting"),
        (progress.n_partial, "partial"),
        (progress.n_failed - progress.n_without_text, "failed"),
        (progress.n_without_text, "without text"),
    ):
        if number:
            counts.append(f"{number:,} {word}")
    return f"{counted(progress.n_files, 'file')}: {', '.join(counts)}; {_embedded(progress)}"


def _embedded(report: "FileReport | IndexProgress") -> str:
    return f"{report.n_tokens_embedded:,} of {report.n_tokens:,} tokens embedded"
