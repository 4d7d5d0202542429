"""`longsearch index`: bring a folder's index up to date in the foreground, here or with the workers of a cluster."""

import os
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.commands.asking import take_over
from longsearch.app.options import MODEL, flag, option
from longsearch.engine.errors import LongsearchError
from longsearch.engine.printable import printable
from longsearch.engine.widths import WISHES, as_fractions, parse_wish
from longsearch.indexer.extract.formats import FORMAT_OF_SUFFIX

if TYPE_CHECKING:
    from longsearch.app.indexing.recipe import Job
    from longsearch.indexer.pipeline import ReadSummary

HELP = "index a folder in the foreground, until all of it is current"
_ASK_DAEMON_S = 0.25
_LIST_HINT = "give a text file with a path on each line, or - for stdin"


def _cluster(text: str) -> str:
    """Return the name of a cluster."""
    from longsearch.app.cluster.connection import check_address

    try:
        return check_address(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no cluster: give ray or ray://HOST:PORT") from error


def _cores(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of cores")
    return int(text)


def _width(text: str) -> str:
    """Return the name of a width that is given as a fraction or as a decimal."""
    width = parse_wish(text)
    return "auto" if width is None else as_fractions(width)


EPILOG = f"Reads files that end in {' '.join(sorted(FORMAT_OF_SUFFIX))}."
OPTIONS = (
    option("folder", "a folder, with all its subfolders, or an object store: s3://bucket/papers"),
    option(
        "--store",
        "keep the index in a store that other machines read: a folder on a shared disk, or an object store",
        metavar="lance:URI",
    ),
    MODEL,
    option(
        "--files",
        "read only the files that a text file names (- for stdin), a path on each line, under the folder; what the"
        " index has of others stays",
        metavar="LIST",
    ),
    flag("--retry-failed", "read failed and partial files again"),
    flag("--reread", "compare the bytes of all files with what was read of them"),
    flag(
        "--ocr",
        "read scanned pages with tesseract (slow), also in files indexed before; set the languages with ocr in the"
        " config file, or LONGSEARCH_OCR=deu+eng",
    ),
    option(
        "--width",
        "fraction of a MatMamba model's heads to read new documents with: 1, 1/2, 1/4, 1/8, or auto (the default),"
        " less than 1 only if more than ten minutes of reading wait; the default comes from the config file",
        metavar="W",
        type=_width,
        choices=WISHES,
    ),
    flag("--deepen", "then read the documents again at full width that were read at a smaller width"),
    option(
        "--on",
        "read texts and compute vectors on many machines with Ray: ray for the cluster of RAY_ADDRESS, or for this"
        " machine's GPUs or cores; ray://HOST:PORT for another cluster. See docs/cluster.md",
        metavar="CLUSTER",
        type=_cluster,
    ),
    option(
        "--worker-cores",
        "with --on: processor cores of each worker (default: 4); a cluster with GPUs has a worker for each GPU",
        metavar="N",
        type=_cores,
    ),
    flag("-q --quiet", "show no progress, only the summary"),
)


def run(options: Namespace) -> int:
    """Index until all is current. Returns 0: a file that cannot be read is reported with its reason, not an error."""
    from longsearch.app.commands.progress_bar import ProgressBar
    from longsearch.app.daemon import daemon_control
    from longsearch.app.folders.indexes import IndexLockedError
    from longsearch.app.folders.store_refs import write_store
    from longsearch.app.models.cards import tell_once
    from longsearch.app.models.folder_models import choose_model, follow_settings
    from longsearch.app.paths import is_url, resolve_root, working_path
    from longsearch.app.viewing.downloading import begin_store

    if is_url(options.folder):
        begin_store(options.folder)
    root = resolve_root(options.folder)
    take_over(root)
    tell_once()
    if options.store:
        write_store(root, options.store)
    if options.model:
        choose_model(root, options.model)
    daemon_control.check_model(daemon_control.daemon_status())
    next_path = follow_settings(root).next_path
    ocr = _ocr_languages(options.ocr, is_here=not options.on)
    listed = None if options.files is None else read_list(options.files, root)
    with ProgressBar(next_path or working_path(root), options.quiet, options.deepen) as bar:
        job = _job(options, listed, ocr, bar.announce)
        if options.on:
            return _report(root, _index_on_cluster(root, options, job))
        try:
            summary = _index_here(root, options, job)
        except IndexLockedError as error:
            _refuse_for_daemon(options, error)
            summary = _follow_daemon(root, options.retry_failed, bar.announce)
            if options.deepen:  # the daemon has lost the lock by now, and leaves the index alone for a minute
                summary = _index_here(root, options, job)
    return _report(root, summary)


def _job(options: Namespace, listed: frozenset[str] | None, ocr: str | None, announce: Callable[[str], None]) -> "Job":
    from longsearch.app.indexing.recipe import Job

    return Job(
        listed,
        ocr,
        reread=options.reread,
        again_by_ocr=ocr is not None,
        deepen=options.deepen,
        wants_retry=lambda: options.retry_failed,
        announce=announce,
    )


def _refuse_for_daemon(options: Namespace, locked: LongsearchError) -> None:
    """Raise LongsearchError if the daemon, which holds the lock, cannot do what the options ask for."""
    from longsearch.app.paths import is_url
    from longsearch.app.settings.schema import variable_of

    if is_url(options.folder):  # then it was no daemon
        raise locked
    if options.reread:
        raise LongsearchError(locked.message, "stop the daemon first (longsearch daemon stop)") from locked
    if options.files is not None:
        raise LongsearchError(
            locked.message, "the daemon reads all files; to read a list, stop it: longsearch daemon stop"
        )
    settings = (options.ocr, f"{variable_of('ocr')}=1"), (options.width, f"{variable_of('width')}={options.width}")
    for asked, setting in settings:
        if asked:
            hint = f"stop the daemon first (longsearch daemon stop), or start it with {setting}"
            raise LongsearchError(locked.message, hint) from locked


def _ocr_languages(asked_for: bool, is_here: bool) -> str | None:
    """Return the languages for OCR, or None for no OCR. Raises LongsearchError if OCR is asked for but not possible.

    `is_here`: this machine reads the pages.
    """
    from longsearch.app.settings.reading import current
    from longsearch.indexer.extract.pdf.ocr import require_tool

    languages = current("ocr").ocr
    if asked_for and is_here:
        require_tool()
    return "" if asked_for and languages is None else languages


def _index_here(root: Path, options: Namespace, job: "Job") -> "ReadSummary":
    """Index in this process."""
    from longsearch.app.indexing.opening import opens_here
    from longsearch.app.indexing.recipe import index_folder
    from longsearch.app.models.turns import Models

    models = Models()
    if options.width:
        models.widths.asked = parse_wish(options.width)
    return index_folder(root, job, opens_here(models)).summary


def _follow_daemon(root: Path, retry_failed: bool, announce: Callable[[str], None]) -> "ReadSummary":
    """Make the daemon, which holds the lock of this index, sweep the folder; wait until all is current."""
    from longsearch.app.daemon import daemon_control
    from longsearch.indexer.pipeline import ReadSummary

    announce("the daemon is indexing this folder")
    (daemon_control.retry if retry_failed else daemon_control.watch)(root)
    while kept := daemon_control.root_status(root):
        if not kept["busy"]:
            return ReadSummary(0, 0, 0, 0, (kept["problem"],) if kept["problem"] else (), finished=True)
        if kept.get("failing"):
            raise LongsearchError(
                f"the daemon cannot index it: {kept['problem']}", "the daemon tries again every half minute"
            )
        time.sleep(_ASK_DAEMON_S)
    raise LongsearchError("the daemon ended", "run the same command again: it goes on from here")


def _report(root: Path, summary: "ReadSummary") -> int:
    """Print the files that could not be read whole, and a line for all files."""
    from longsearch.app.commands.status import describe, summarise
    from longsearch.app.models.widths import describe_narrow
    from longsearch.app.paths import in_shell, index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.types.progress import FileStatus

    with open_index(index_path(root)) as index:
        progress, files = index.progress(), index.files()
    for file in files:
        if file.status in (FileStatus.FAILED, FileStatus.PARTIAL):
            print(describe(file))
    for problem in summary.problems:
        print(f"note: {printable(problem)}", file=sys.stderr)
    print(summarise(progress))
    if narrow := describe_narrow(progress, in_shell(root)):
        print(narrow)
    return 0


def read_list(name: str, root: Path) -> frozenset[str]:
    """Return the listed paths relative to `root`, with "/". Raises LongsearchError for a path outside of it.

    A path on each line, absolute or relative to the root; blank lines do not count. `name` is a file, or - for stdin.
    Bytes that are no UTF-8 are kept as surrogate escapes, as in `FileStamp.path`.
    """
    from longsearch.app.paths import expanded

    try:
        content = sys.stdin.buffer.read() if name == "-" else expanded(name).read_bytes()
    except OSError as error:
        raise LongsearchError(f"the list {name} cannot be read: {error.strerror}", _LIST_HINT) from error
    lines = [line.rstrip("\r") for line in content.decode("utf-8", "surrogateescape").split("\n")]
    return frozenset(_relative(line, root) for line in lines if line.strip())


def _relative(line: str, root: Path) -> str:
    from longsearch.app.paths import expanded, is_url

    path = os.path.normpath(expanded(line) if is_url(line) else root / line)
    if "\0" in line or not path.startswith(os.path.join(root, "")):  # noqa: PTH118 - a string is wanted
        raise LongsearchError(f"the list names {line}, which does not lie in {root}", _LIST_HINT)
    return Path(path).relative_to(root).as_posix()


def _index_on_cluster(root: Path, options: Namespace, job: "Job") -> "ReadSummary":
    """Do a job with the workers of the cluster that the options name. Raises LongsearchError if that cannot be."""
    from longsearch.app.cluster.running import index_on_cluster
    from longsearch.app.folders.indexes import IndexLockedError

    width = None if options.width is None else parse_wish(options.width)
    try:
        return index_on_cluster(root, job, options.on, options.worker_cores, width).summary
    except IndexLockedError as error:
        hint = "stop the daemon first (longsearch daemon stop): only one process can index a folder"
        raise LongsearchError(error.message, hint) from error
