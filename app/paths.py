"""Where longsearch keeps its files. All are private to the user: folders 0700, files 0600.

One index file a root, in the user's data directory (XDG_DATA_HOME on Linux). Knows nothing of what is in them.
"""

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

import platformdirs

from engine.errors import LongsearchError

_NAME = "longsearch"


def data_folder() -> Path:
    """Where indexes and the daemon's log are kept."""
    return _private(platformdirs.user_data_path(_NAME, appauthor=False))


def calibration_path() -> Path:
    """Where it is noted how fast this machine reads; may be deleted at any time."""
    return _private(platformdirs.user_cache_path(_NAME, appauthor=False)) / "calibration.json"


def index_path(root: Path) -> Path:
    """The index file of a root (an absolute folder), whether or not it exists."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", root.name).strip("-").lower()[:32] or "root"
    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    return _private(data_folder() / "indexes") / f"{slug}-{digest}.sqlite"


def index_paths() -> list[Path]:
    """The index files there are."""
    return sorted(_private(data_folder() / "indexes").glob("*.sqlite"))


def resolve_root(folder: str | Path) -> Path:
    """The absolute folder a person named. Raises LongsearchError where there is none."""
    root = expanded(folder).absolute()
    if not root.exists():
        raise LongsearchError(f"there is no folder {root}", "check the spelling, or that its drive is mounted")
    if not root.is_dir():
        raise LongsearchError(f"{root} is a file, not a folder", f"name its folder: longsearch {root.parent}")
    return root.resolve()


def find_index(folder: str | Path) -> tuple[Path, str]:
    """The indexed root that `folder` is or lies in, and `folder` relative to it ("" where it is the root).

    Raises LongsearchError where no index covers it, and for a file.
    """
    wanted = expanded(folder).resolve()
    if wanted.is_file():
        hint = f"name its folder; to keep to this file, ask with in:{wanted.name}"
        raise LongsearchError(f"{wanted} is a file, not a folder", hint)
    for root in (wanted, *wanted.parents):
        if index_path(root).exists():
            under = wanted.relative_to(root).as_posix()
            return root, "" if under == "." else under
    raise LongsearchError(f"{wanted} is not indexed", f"index it first: longsearch index {wanted}")


def socket_path() -> Path:
    """The daemon's socket: in the session's runtime folder where there is one, else with the data.

    Its name is of the data's folder: a daemon with other indexes is not this one's. The path of a socket must stay
    below 104 bytes, so it may move to the temporary folder.
    """
    name = f"daemon-{hashlib.blake2b(os.fsencode(data_folder()), digest_size=4).hexdigest()}.sock"
    session = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    is_usable = session.is_absolute() and session.is_dir() and os.access(session, os.W_OK)
    for folder in (session / _NAME if is_usable else None, data_folder() / "run"):
        if folder is not None and len(os.fsencode(folder)) < 80:
            return _private(folder) / name
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return _private(Path(tempfile.gettempdir()) / f"{_NAME}-{user}") / name


def expanded(path: str | Path) -> Path:
    """`path` with the home that a ~ stands for, if there is one."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path's raises for a user that is not there


def _private(folder: Path) -> Path:
    """The folder, made 0700. LongsearchError where it cannot be, or is somebody else's, as a temporary one could be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "set XDG_DATA_HOME to a folder that you may write"
        raise LongsearchError(f"{folder} cannot be made: {error.strerror}", hint) from error
    status = folder.stat()
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise LongsearchError(f"{folder} belongs to another user", "remove it, or set XDG_DATA_HOME elsewhere")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder
