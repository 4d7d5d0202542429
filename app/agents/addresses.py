"""The address of a document: `longsearch://documents/FOLDER/PATH`, the key by which agents name it.

FOLDER is the name of an indexed folder, PATH the file's path in it, both percent-encoded byte by byte, so that every
file name has an address. An address is only looked up in an index. It never becomes a path that is opened.
"""

import os
from urllib.parse import quote, unquote_to_bytes

from longsearch.engine.errors import LongsearchError

PREFIX = "longsearch://documents/"
_HINT = "name a document as a search gives it: its address, or its absolute path"
_MAX_CHARACTERS = 16_384  # a path of 4,096 bytes, each percent-encoded, and the name of the folder


def address(folder: str, path: str) -> str:
    """Return the address of the file at `path`, relative to the indexed folder called `folder`."""
    return f"{PREFIX}{quote(folder, safe='')}/{quote(os.fsencode(path))}"


def parsed(text: str) -> tuple[str, str]:
    """Return the folder's name and the path of an address. Raises LongsearchError for anything else."""
    folder, slash, path = text.removeprefix(PREFIX).partition("/")
    if not text.startswith(PREFIX) or not slash or len(text) > _MAX_CHARACTERS:
        raise LongsearchError("this is not the address of a document", _HINT)
    name, decoded = unquote_to_bytes(folder).decode("utf-8", "replace"), os.fsdecode(unquote_to_bytes(path))
    if decoded.startswith("/"):
        raise LongsearchError("the path in an address is relative to its folder", _HINT)
    check_path(decoded)
    return name, decoded


def check_path(path: str) -> None:
    """Raise LongsearchError for a path that no file of an index can have: with `..`, `.`, an empty part or NUL."""
    parts = path.split("/")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:  # JSON can hold half of a surrogate pair
        raise LongsearchError("the path holds a character that no file name can have", _HINT) from error
    if len(path) > _MAX_CHARACTERS or "\0" in path or {"..", "."} & set(parts) or "" in parts[1:]:
        raise LongsearchError("the path is not in its plain form: it holds .., ., // or a NUL", _HINT)
