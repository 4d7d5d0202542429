"""Small JSON files of measurements. A missing or damaged file is read as empty, because measuring again is cheap."""

import json
import os
import tempfile
import zlib
from pathlib import Path
from typing import Any

CHECKSUM = "checksum"


def load_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, without its checksum; {} if the file is missing or damaged."""
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    has_one = CHECKSUM in values
    return {} if has_one and values.pop(CHECKSUM) != checksum_of(values) else values


def checksum_of(values: dict[str, Any]) -> str:
    """Return the checksum of an object: of its JSON with sorted keys."""
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"


def replace_object(path: Path, values: dict[str, Any], is_durable: bool = False) -> None:
    """Replace the file by a JSON object, as `replace_text`."""
    replace_text(path, json.dumps(values, indent=1), is_durable)


def replace_text(path: Path, text: str, is_durable: bool = False) -> None:
    """Replace the file atomically. Only its owner can read it, as with every file of mkstemp. Raises OSError.

    `is_durable`: once this returns, the new file outlives a power cut.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        Path(name).replace(path)
        if is_durable and os.name != "nt":  # Windows cannot open a folder
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
