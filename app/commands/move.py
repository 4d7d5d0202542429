"""`longsearch move`: move the index of a folder to a store that other machines read, and back."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.options import JSON, option
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.engine.index.lance.rows import Sum
    from longsearch.engine.index.lance.tables import Tables

HELP = "move the index of a folder to a store on LanceDB, which many machines can read, or back to SQLite"
HOME = "sqlite"
EPILOG = (
    "Nothing is embedded again; every row is counted and hashed on both sides."
    " Needs LanceDB: pip install 'longsearch[lance]'."
)
OPTIONS = (
    option("folder", "an indexed folder"),
    option(
        "--to",
        "lance:/a/folder on a shared disk, lance:s3://bucket/path on an object store, or sqlite for this machine",
        required=True,
        metavar="STORE",
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Move the index; return 0. Raises LongsearchError if it cannot be moved, and then it stays where it was."""
    from longsearch.app.paths import find_index, in_shell

    root, under = find_index(options.folder)
    if under:
        hint = f"move all of it: longsearch move {in_shell(root)}"
        raise LongsearchError(f"{options.folder} is a part of {root}", hint)
    sums = _home(root) if options.to == HOME else _to_store(root, options.to)
    if options.json:
        told = {name: {"rows": one.n, "hash": one.hash} for name, one in sums.items()}
        print(json.dumps({"root": str(root), "to": options.to, "tables": told}, indent=2))
        return 0
    n_documents, n_passages = sums["contents"].n, sums["passages"].n
    print(
        f"moved {counted(n_documents, 'document')} and {counted(n_passages, 'passage')} to {printable(options.to)};"
        f" {counted(sum(one.n for one in sums.values()), 'row')} compared by their hashes"
    )
    return 0


def _to_store(root: Path, text: str) -> "dict[str, Sum]":
    from longsearch.app.folders import store_refs
    from longsearch.app.folders.indexes import locked
    from longsearch.app.models.folder_models import folder_model
    from longsearch.app.paths import in_shell, working_path
    from longsearch.engine.index.lance.address import uri_of
    from longsearch.engine.index.lance.publishing import publish
    from longsearch.engine.index.lance.rows import sums
    from longsearch.engine.index.lance.tables import Tables
    from longsearch.engine.store.store import Store

    address = store_refs.full_address(text)
    if known := store_refs.address_of(root):
        raise store_refs.already_moved(root, known)
    if folder_model(root).next_model:
        hint = f"wait until that is done: longsearch index {in_shell(root)}"
        raise LongsearchError(f"{root} is being read again with another model", hint)
    tables = Tables(uri_of(address))
    if tables.last() is not None:
        hint = f"name an empty place; to read that store: longsearch search QUERY {address}"
        raise LongsearchError(f"there is a store at {address} already", hint)
    with locked(root), Store.open(working_path(root), root=root) as store:
        made = publish(store, tables, base=0)
        with store.reading() as db:
            here = sums(db)
        _compare(here, _sums_of_store(tables))
        store_refs.point(root, address, base=made.number)
    return here


def _home(root: Path) -> "dict[str, Sum]":
    from longsearch.app.folders import store_refs
    from longsearch.app.folders.indexes import locked
    from longsearch.app.folders.local_copy import prepare, publish_changes
    from longsearch.app.paths import working_path
    from longsearch.engine.index.lance.address import uri_of
    from longsearch.engine.index.lance.rows import sums
    from longsearch.engine.index.lance.tables import Tables
    from longsearch.engine.store.store import Store

    address = store_refs.address_of(root)
    if not address:
        raise LongsearchError(f"the index of {root} is in SQLite already", "nothing is to be moved")
    with locked(root):
        if not store_refs.is_writer(root):
            store_refs.point(root, address)  # from now on this machine has an index of its own
        prepare(root)
        with Store.open(working_path(root), root=root) as store:
            publish_changes(root, store)
            with store.reading() as db:
                here = sums(db)
            _compare(here, _sums_of_store(Tables(uri_of(address))))
        store_refs.point_home(root)
    return here


def _sums_of_store(tables: "Tables") -> "dict[str, Sum]":
    from longsearch.engine.index.lance.fetching import columns_of_all
    from longsearch.engine.index.lance.tables import sums_of

    at = tables.newest()
    return sums_of(tables, at, columns_of_all(at.dim))


def _compare(here: "dict[str, Sum]", there: "dict[str, Sum]") -> None:
    """Raise StoreError unless both sides have the same rows."""
    differing = [name for name, own in here.items() if (own.n, own.hash) != (there[name].n, there[name].hash)]
    if differing:
        told = ", ".join(f"{name} ({here[name].n:,} and {there[name].n:,} rows)" for name in differing)
        raise StoreError(f"the two sides differ in {told}", "the index stays where it was; run the command again")
