"""`longsearch doctor`: check what this installation can do, and name what is wrong with it."""

import importlib.util
import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from longsearch.app.options import JSON, option
from longsearch.engine import __version__
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError, in_words
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.engine.inference.opening import AnyEncoder
    from longsearch.engine.inference.query_encoder import QueryEncoder

LACKS = "new documents are found when a run of indexing ends, and the model of such a folder cannot be changed"


def stores() -> str:
    """Return each store that this machine uses, with what it holds. Raises LongsearchError if one cannot be read."""
    from longsearch.app.paths import index_paths
    from longsearch.engine.index.opening import POINTER

    found = [path for path in index_paths() if path.suffix == POINTER]
    if not found:
        is_there = importlib.util.find_spec("lancedb") is not None
        return "none; " + (
            "LanceDB is installed" if is_there else "for stores on LanceDB: pip install 'longsearch[lance]'"
        )
    from longsearch.app.folders.store_refs import writes
    from longsearch.engine.index.lance.address import uri_of
    from longsearch.engine.index.lance.snapshot import newest
    from longsearch.engine.json_files import load_object

    told = []
    for path in found:
        address = str(load_object(path).get("store") or "")
        at = newest(uri_of(address)).at
        role = "written here" if writes(path) else "only read here"
        told.append(printable(f"{address}: publication {at.number}, {counted(at.n_passages, 'passage')}, {role}"))
    return f"{'; '.join(told)} ({LACKS})"


HELP = "check what this installation can do, and name what is wrong with it"
_PACKAGES = (
    "torch",
    "transformers",
    "textual",
    "sqlite-vec",
    "apsw",
    "pypdfium2",
    "pypdf",
    "watchdog",
    "mamba-ssm",
    "mcp",
)
OPTIONS = (option("file", "say how this file is read, and what is left out and why", nargs="?", default=""), JSON)


def run(options: Namespace) -> int:
    """Run every check and print what it found. Returns 0 if all passed, else 3."""
    if options.file:
        from longsearch.app.commands.text import examine

        return examine(options)
    findings = {name: outcome(check) for name, check in CHECKS.items()}
    if options.json:
        print(json.dumps({name: {"ok": ok, "found": found} for name, (ok, found) in findings.items()}, indent=2))
    else:
        for name, (ok, found) in findings.items():
            print(f"{'ok ' if ok else 'BAD'} {name:10} {found}")
    return 0 if all(ok for ok, _ in findings.values()) else 3


def outcome(check: Callable[[], str]) -> tuple[bool, str]:
    """Run one check. Returns whether it passed, and what it found or why it failed."""
    try:
        return True, check()
    except LongsearchError as error:
        return False, in_words(error)
    except Exception as error:
        return False, repr(error)


def _versions() -> str:
    import importlib.metadata
    import platform

    found = [f"longsearch {__version__}", f"Python {platform.python_version()} ({sys.platform} {platform.machine()})"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)


@cache
def loaded() -> tuple["AnyEncoder", float]:
    """Return the encoder, and the seconds that it took to load. Raises ModelError."""
    from longsearch.app.models.encoders import open_encoder

    began = time.perf_counter()
    return open_encoder(), time.perf_counter() - began


@cache
def query_encoder() -> "QueryEncoder | AnyEncoder":
    """Return what encodes queries here. Raises ModelError."""
    from longsearch.app.models.encoders import chosen_model
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(chosen_model()) or loaded()[0]


def _query_s() -> float:
    """Encode a query, and return the seconds that it took."""
    began = time.perf_counter()
    query_encoder().encode_query("is anybody there?")
    return time.perf_counter() - began


def _model() -> str:
    from longsearch.app.models.encoders import chosen_model

    encoder, loaded_s = loaded()
    encoder.encode_query("is anybody there?")  # tries the kernels of a GPU
    query_ms = _query_s() * 1000
    queries = "queries by torch" if query_encoder() is encoder else "queries by numpy"
    hardware, threads = encoder.hardware, counted(encoder.n_threads, "thread")
    return (
        f"{chosen_model()}, {encoder.dim} dimensions, fingerprint {encoder.fingerprint[:12]}; {hardware.device}, "
        f"{hardware.products} ({hardware.reason}), {threads}; V {encoder.vertical_size}, "
        f"Q {encoder.block_size}; loaded in {loaded_s:.1f} s; {queries}, the first in {query_ms:.0f} ms"
    )


def _weights() -> str:
    from longsearch.engine.models.hub import SHIPPED, shipped_model
    from longsearch.engine.models.weight_files import check_published
    from longsearch.engine.reader.reading import SHIPPED as READER

    folders = {name: shipped_model(name) for name in SHIPPED} | {"reader": READER}
    here = {name: folder for name, folder in folders.items() if (folder / "README.md").exists()}
    return ", ".join(f"{name} is as published (SHA-256 {check_published(here[name])[:12]}…)" for name in here)


def _width() -> str:
    from longsearch.app.models.elastic import REMEMBERED_QUERIES, ElasticWidth, measured_speed
    from longsearch.app.models.widths import describe_choices
    from longsearch.app.settings.reading import current

    encoder, widths = loaded()[0], ElasticWidth(current("width").width)
    if len(encoder.readout.widths) == 1:
        return "1: the model has no other"
    for _ in range(REMEMBERED_QUERIES):
        widths.note_query(1.0, _query_s())
    speed = f"{measured_speed(encoder):,.0f} tokens/s at full width"
    return f"{describe_choices(widths.to_json(encoder))}; this machine reads {speed}"


def _gpu() -> str:
    from longsearch.app.models.cards import advice
    from longsearch.engine.inference.opening import has_torch

    if not has_torch():
        return advice() or "not used: torch is not installed; the bundled models need none"
    import torch

    from longsearch.engine.models.ops.kernels import verdicts

    if torch.version.cuda is None:
        return f"not used: torch {torch.__version__} is built without CUDA"
    if not torch.cuda.is_available():
        return f"not used: torch finds none (CUDA {torch.version.cuda}; does nvidia-smi find one?)"
    name = torch.cuda.get_device_name(0)
    return f"{name}, CUDA {torch.version.cuda}; " + (", ".join(verdicts()) or "the model above does not run on it")


def _sqlite() -> str:
    import apsw
    import sqlite_vec

    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    version = connection.execute("SELECT vec_version()").get
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1)")
    return f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {version}, FTS5"


def _data() -> str:
    from longsearch.app.paths import data_folder

    folder = data_folder()
    if not os.access(folder, os.W_OK):
        raise LongsearchError(f"{folder} cannot be written", "check its permissions, or set XDG_DATA_HOME elsewhere")
    indexes = list((folder / "indexes").glob("*.sqlite"))
    size = sum(path.stat().st_size for path in indexes)
    return f"{folder}: {counted(len(indexes), 'index', 'indexes')}, {size / 1e6:.1f} MB"


def _indexes() -> str:
    from longsearch.app.commands.check import in_a_line

    return in_a_line()


def _daemon() -> str:
    from longsearch.app.daemon.daemon_control import daemon_status, log_path

    status = daemon_status()
    if status is None:
        return f"not running; the app starts it (log: {log_path()})"
    return f"running, pid {status['pid']}, {counted(len(status['roots']), 'folder')}"


def _settings() -> str:
    from longsearch.app.paths import config_path
    from longsearch.app.settings.checking import check, notes

    reading, problems = check()
    if problems:
        more = f"; and {counted(len(problems) - 1, 'more mistake')}: longsearch config check" if problems[1:] else ""
        raise LongsearchError(problems[0].message, f"{problems[0].hint}{more}")
    n_set = sum(one.is_from_file for one in reading.effective)
    said = f"{config_path()}: {counted(n_set, 'setting')}" if n_set else "every setting has its default"
    variables = [one.origin for one in reading.effective if one.origin == one.setting.variable != ""]
    return "; ".join([said, *([f"set by the environment: {', '.join(variables)}"] if variables else []), *notes()])


def _languages() -> str:
    """Name the folders whose documents are mostly in languages that their model does not read."""
    from longsearch.app.folders.indexes import known_roots
    from longsearch.app.folders.languages import advice_about, has_multilingual
    from longsearch.app.paths import in_shell, index_path
    from longsearch.engine.index.opening import open_index

    found = []
    for root in known_roots():
        with open_index(index_path(root)) as index:
            counts = index.languages()
        if said := advice_about(root, counts):
            found.append(f"{in_shell(root)}: {said}")
    here = "the models english and multilingual are here" if has_multilingual() else "the model english is here"
    return "; ".join(found) or f"{here}; each folder has one that reads it"


def _ocr() -> str:
    from longsearch.app.indexing.scans import measured_s, problem
    from longsearch.app.settings.reading import current
    from longsearch.indexer.extract.pdf.ocr import known_languages

    wanted = current("ocr").ocr
    if said := problem():
        if wanted is None:  # not a failure: most people have no scans
            return f"none: {said}"
        raise LongsearchError(f"ocr is set, but {said}")
    there = known_languages()
    if missing := [name for name in (wanted or "").split("+") if name and name not in there]:
        hint = f"install them, such as tesseract-ocr-{missing[0]}; there are: {', '.join(there)}"
        raise LongsearchError(f"tesseract has no language {', '.join(missing)}", hint)
    speed = measured_s()
    told = f"{speed:.1f} s a page" if speed else "not measured yet"
    return f"tesseract, with {counted(len(there), 'language')}; {told}; " + ("on" if wanted is not None else "off")


def _viewer() -> str:
    from longsearch.app.viewing.viewer import describe_viewers
    from longsearch.engine.printable import printable

    return printable(describe_viewers(os.environ, sys.platform))


CHECKS: dict[str, Callable[[], str]] = {
    "versions": _versions,
    "weights": _weights,
    "model": _model,
    "width": _width,
    "gpu": _gpu,  # after the model: its query tries the kernels
    "settings": _settings,
    "sqlite": _sqlite,
    "data": _data,
    "indexes": _indexes,
    "stores": stores,
    "languages": _languages,
    "daemon": _daemon,
    "ocr": _ocr,
    "viewer": _viewer,
}
