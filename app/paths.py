"""Where longsearch keeps its files. All are private to the user: folders 0700, files 0600.

Each root has one index file, in the user's data folder (XDG_DATA_HOME on Linux). Knows nothing of what a file holds.
"""

import hashlib
import os
import re
import shlex
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard

import platformdirs

from longsearch.engine.errors import LongsearchError
from longsearch.engine.json_files import load_kept
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.printable import printable

_NAME = "longsearch"
POINTER = ".lance"
"""The ending of a file that names the store of an index; `engine.store.session` opens it."""
_URL = late_pattern(r"[a-z][a-z0-9+.-]*://")


def data_folder() -> Path:
    """Return the folder of the indexes and the daemon's log."""
    return _private(_of_user(platformdirs.user_data_path))


def config_path() -> Path:
    """Return the config file, which need not exist. Makes no folder. Raises LongsearchError without a home folder."""
    return _of_user(platformdirs.user_config_path) / "config.toml"


def themes_folder() -> Path:
    """Return the folder of the person's own themes of the app, which need not exist. Makes no folder."""
    return config_path().with_name("themes")


def own_themes() -> list[str]:
    """Return the names of the person's own themes."""
    try:
        return sorted(file.stem for file in themes_folder().glob("*.toml"))
    except OSError:
        return []


def calibration_path() -> Path:
    """Return the file that caches this machine's fastest slice sizes. It may be deleted at any time.

    It lies in the data folder where no cache folder can be made, as in a container with a volume for data alone.
    """
    try:
        folder = _private(_of_user(platformdirs.user_cache_path))
    except LongsearchError:
        folder = _private(data_folder() / "cache")
    return folder / "calibration.json"


def speed_path() -> Path:
    """Return the file that keeps how fast this machine reads. It may be deleted at any time."""
    return calibration_path().with_name("speed.json")


def index_path(root: Path) -> Path:
    """Return the file that a reader of a root's index opens (`root` is absolute), whether or not it exists.

    It is the index file in use or, if the index is in a store, the pointer to the store (see `app.folders.store_refs`).
    """
    return _in_use(base_index_path(root))


def working_path(root: Path) -> Path:
    """Return the index file of a root that is written, whether or not it exists."""
    return _in_use(base_index_path(root), is_read=False)


def pointer_path(root: Path) -> Path:
    """Return the file that names the store of a root's index. It exists only if the index is in a store."""
    return base_index_path(root).with_suffix(POINTER)


def choice_path(root: Path) -> Path:
    """Return the file that says which model reads a root (see `app.models.folder_models`). It need not exist."""
    return base_index_path(root).with_suffix(".model")


def base_index_path(root: Path) -> Path:
    """Return the first index file of a root. Another one is in use after a change of the model."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-").lower()[:32] or "root"
    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    return _private(data_folder() / "indexes") / f"{slug}-{digest}.sqlite"


def index_paths() -> list[Path]:
    """Return the index files in use that exist."""
    folder = _private(data_folder() / "indexes")
    found = [*folder.glob("*.sqlite"), *folder.glob(f"*{POINTER}")]
    in_use = {_in_use(path.with_name(f"{path.name.partition('.')[0]}.sqlite")) for path in found}
    return sorted(path for path in in_use if path.exists())


def remove_index(path: Path) -> None:
    """Remove an index file, its log and its segments. A search that has them open ends undisturbed.

    Raises OSError if one of them cannot be removed, after the others are.
    """
    refused = None
    for file in path.parent.glob(f"{path.name}*"):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:  # such as Windows', while a search has it open
            refused = error
    if refused is not None:
        raise refused


def _in_use(base: Path, is_read: bool = True) -> Path:
    """The file that a reader of an index opens or, if not `is_read`, that is written: never a pointer to a store."""
    if is_read and (pointer := base.with_suffix(POINTER)).exists():
        return pointer
    name = str(load_kept(base.with_suffix(".model")).get("index") or base.name)
    return base.with_name(name) if "/" not in name else base


def resolve_root(folder: str | Path) -> Path:
    """Return the absolute path of a folder that a user named. Raises LongsearchError if it does not exist."""
    root = expanded(folder).absolute()
    if is_url(folder) and not root.exists():
        raise LongsearchError(f"{folder} is not indexed", f"index it first: longsearch index {folder}")
    if not root.exists():
        raise LongsearchError(f"there is no folder {root}", "check the spelling, or that its drive is mounted")
    if not root.is_dir():
        raise LongsearchError(f"{root} is a file, not a folder", f"name its folder: longsearch {in_shell(root.parent)}")
    return root.resolve()


def find_index(folder: str | Path) -> tuple[Path, str]:
    """Return the indexed root that `folder` is or lies in, and `folder` relative to that root ("" for the root itself).

    Raises LongsearchError if no index covers the folder, or if it is a file.
    """
    wanted = expanded(folder).resolve()
    if wanted.is_file():
        hint = f"name its folder; to search this file only, add in:{wanted.name} to the query"
        raise LongsearchError(f"{wanted} is a file, not a folder", hint)
    for root in (wanted, *wanted.parents):
        if index_path(root).exists():
            under = wanted.relative_to(root).as_posix()
            return root, "" if under == "." else under
    name = shown_path(wanted)
    raise LongsearchError(f"{name} is not indexed", f"index it first: longsearch index {in_shell(name)}")


def socket_path() -> Path:
    """Return the daemon's socket: in the session's runtime folder if there is one, else in the data folder.

    Its name depends on the data folder, so that each set of indexes has a daemon of its own. A socket's path must stay
    below 104 bytes; if it would be longer, the socket is in the temporary folder.
    """
    name = f"daemon-{hashlib.blake2b(os.fsencode(data_folder()), digest_size=4).hexdigest()}.sock"
    session = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    is_usable = session.is_absolute() and session.is_dir() and os.access(session, os.W_OK)
    for folder in (session / _NAME if is_usable else None, data_folder() / "run"):
        if folder is not None and len(os.fsencode(folder)) < 80:
            return _private(folder) / name
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return _private(Path(tempfile.gettempdir()) / f"{_NAME}-{user}") / name


def is_url(text: str | Path) -> TypeGuard[str]:
    """Return whether a text is the address of an object store, such as s3://bucket/papers."""
    return isinstance(text, str) and _URL.match(text) is not None


def stand_in(url: str) -> Path:
    """Return the folder here that stands for an object store or a part of it; objects are downloaded into it.

    Raises LongsearchError for an address that is no path in one store, or that holds a password.
    """
    scheme, _, rest = url.partition("://")
    place = rest.strip("/")
    if not place or {"", ".", ".."} & set(place.split("/")) or "::" in url or "\0" in url:
        raise LongsearchError(
            f"{url} is no address of an object store", "write SCHEME://BUCKET/PATH: s3://bucket/papers"
        )
    if ":" in place.partition("/")[0].rpartition("@")[0]:
        hint = "the index would keep it: give it to the store's driver by the environment or its config file"
        raise LongsearchError("the address of the object store holds a password", hint)
    return _objects() / scheme / place


def url_of(path: str | Path) -> str:
    """Return the address of a file or folder in an object store, by its path here; "" for those of this machine."""
    try:
        scheme, *place = Path(path).relative_to(_objects()).parts
    except (ValueError, LongsearchError):
        return ""
    return f"{scheme}://{'/' if scheme == 'file' else ''}{'/'.join(place)}" if place else ""


def shown_path(path: str | Path) -> str:
    """Return the path as a person knows it: of a file in an object store its address."""
    return url_of(path) or os.fspath(path)


def _objects() -> Path:
    return (data_folder() / "objects").resolve()


def expanded(path: str | Path) -> Path:
    """Return `path` with a leading ~ replaced by the home folder, if that user exists; of an address its stand-in."""
    if is_url(path):
        return stand_in(path)
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises for an unknown user


def in_shell(path: str | Path) -> str:
    """Return a path or a name as a person can paste it into a shell, for hints: quoted if it has to be."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return printable(list2cmdline([str(path)]))
    return printable(shlex.quote(str(path)))


def home() -> Path:
    """Return the user's home folder. Raises LongsearchError if there is none."""
    return _of_user(lambda *_, **__: expanded("~"))


def _of_user(find: Callable[..., Path]) -> Path:
    """Return longsearch's folder of one kind. Raises LongsearchError where the user has no home, as in a container."""
    try:
        path = find(_NAME, appauthor=False)
    except RuntimeError:
        path = Path("~")
    if not path.is_absolute():
        hint = "set HOME, or XDG_DATA_HOME to a folder that you can write to"
        raise LongsearchError("this user has no home folder", hint)
    return path


def _private(folder: Path) -> Path:
    """Create the folder and give it mode 0700. Raises LongsearchError if that fails or another user owns the folder."""
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "set XDG_DATA_HOME to a folder that you can write to"
        raise LongsearchError(f"{folder} cannot be made: {error.strerror}", hint) from error
    status = folder.stat()
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise LongsearchError(f"{folder} belongs to another user", "remove it, or set XDG_DATA_HOME elsewhere")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder
