"""Small JSON files of measurements. A missing or damaged file is read as empty, because measuring again is cheap."""

import json
import os
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

CHECKSUM = "checksum"


def load_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, without its checksum; {} if the file is missing or damaged."""
    try:
        values = json.loads(path.read_text("utf-8"))
        return checked(values) if isinstance(values, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def load_kept(path: Path) -> Mapping[str, Any]:
    """Return the same as `load_object`. While the file stays the same, a process reads it once."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return _loaded(path, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=64)
def _loaded(path: Path, *_state: int) -> Mapping[str, Any]:
    return load_object(path)


def checked(values: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its checksum. Raises ValueError if that does not fit; an older longsearch wrote none."""
    rest = {key: value for key, value in values.items() if key != CHECKSUM}
    if CHECKSUM in values:
        is_right = values[CHECKSUM] == checksum_of(rest)
    else:  # damage in its name would let the object pass for an old one
        is_right = not any(len(key) == len(CHECKSUM) and _is_like_one(value) for key, value in rest.items())
    if not is_right:
        raise ValueError("its checksum does not fit")
    return rest


def _is_like_one(value: Any) -> bool:
    return isinstance(value, str) and len(value) == len(checksum_of({}))


def checksum_of(values: dict[str, Any]) -> str:
    """Return the checksum of an object: of its JSON with sorted keys."""
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"


def replace_object(path: Path, values: dict[str, Any], is_durable: bool = False) -> None:
    """Replace the file by a JSON object, as `replace_bytes`."""
    replace_bytes(path, json.dumps(values, indent=1).encode(), is_durable)


def replace_bytes(path: Path, data: bytes, is_durable: bool = False, mode: int = 0o600) -> None:
    """Replace the file atomically; only its owner can read it, unless `mode` says otherwise. Raises OSError.

    `is_durable`: once this returns, the new file outlives a power cut.
    """
    new = path.with_name(f".longsearch-{os.urandom(8).hex()}")  # the file's own name may be as long as names may be
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(new, flags, mode), "wb") as file:
            file.write(data)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
        if is_durable and os.name != "nt":  # Windows cannot open a folder
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
