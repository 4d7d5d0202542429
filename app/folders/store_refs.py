"""Which folders have their index in a store, and whether this machine writes it or only reads it."""

from pathlib import Path

from longsearch.app.paths import in_shell, pointer_path, working_path
from longsearch.engine.errors import LongsearchError, StoreError
from longsearch.engine.index.lance.address import PREFIX, uri_of
from longsearch.engine.json_files import load_object, replace_object


def address_of(root: Path) -> str:
    """Return the address of the store that has the index of a folder; "" if the index lies here."""
    return str(load_object(pointer_path(root)).get("store") or "")


def base_of(root: Path) -> int:
    """Return the number of the publication that the working file holds; 0 if it holds none."""
    return int(load_object(pointer_path(root)).get("base") or 0)


def is_writer(root: Path) -> bool:
    """Return whether this machine keeps the index of a folder current; another one may do that."""
    return writes(pointer_path(root))


def writes(pointer: Path) -> bool:
    """Return the same for the folder of a pointer."""
    return not load_object(pointer).get("reads")


def point(root: Path, address: str, base: int = 0, reads: bool = False) -> None:
    """Let the index of a folder be in a store. `base` as `base_of`; `reads`: this machine only reads it."""
    replace_object(pointer_path(root), {"store": address, "base": base, "reads": reads})


def point_home(root: Path) -> None:
    """Let the index of a folder be the file here again."""
    pointer_path(root).unlink(missing_ok=True)


def full_address(text: str) -> str:
    """Return the address with an absolute path, so that it means the same in every folder."""
    if not text.startswith(PREFIX):
        raise LongsearchError(f"{text} is no address of a store", f"write {PREFIX}/a/folder, or {PREFIX}s3://bucket/…")
    return PREFIX + uri_of(text)


def read_store(text: str) -> Path:
    """Return the folder whose index a store holds, and remember on this machine where it is read.

    Raises StoreError if there is no such store, or if this machine has an index of the same folder.
    """
    from longsearch.engine.index.lance.opening import root_of

    address = full_address(text)
    root = root_of(address)
    known = address_of(root)
    if not known and working_path(root).exists():
        hint = f"search that, or forget it first: longsearch folders forget {in_shell(root)}"
        raise StoreError(f"this machine has an index of {root} of its own", hint)
    if known != address:
        point(root, address, reads=True)
    return root


def already_moved(root: Path, address: str) -> LongsearchError:
    """Return the error that the index of a folder is in another store."""
    return LongsearchError(
        f"the index of {root} is in {address}", f"move it back first: longsearch move {in_shell(root)} --to sqlite"
    )


def write_store(root: Path, text: str) -> None:
    """Let this machine keep the index of a folder in a store. Raises LongsearchError if it is in another one."""
    from longsearch.engine.index.lance.address import connected

    address, known = full_address(text), address_of(root)
    if known and known != address:
        raise already_moved(root, known)
    connected(uri_of(address))  # raises without the extra
    if not known or not is_writer(root):
        point(root, address)
