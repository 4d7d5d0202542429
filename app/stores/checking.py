"""What `longsearch doctor` says about stores: whether each can be read, and what one has not that SQLite has."""

import importlib.util

from longsearch.engine.amounts import counted
from longsearch.engine.printable import printable

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
    from longsearch.app.stores.pointers import writes
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
