"""The files of an object store, such as s3://bucket/papers, by fsspec. Imports it only when a store is opened.

A folder of this machine stands for the store, so that each object has a path: the index is that of this folder, which
may be empty. An object is known by its name, size, time and tag (ETag), and its bytes by their hash once they are read.
"""

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from longsearch.engine.errors import ExtractionError, GoneError, LongsearchError, TemporaryError
from longsearch.engine.store.records import FileStamp
from longsearch.indexer.extract.formats import is_readable, reader_version
from longsearch.indexer.extract.other_formats import most_frequent, suffix_of
from longsearch.indexer.ignore import IGNORE_FILE, IgnoreRules, is_leftover, is_skipped, parse_rules
from longsearch.indexer.sources.source import hash_file
from longsearch.indexer.walk import Listing, WalkProblem

INSTALL_HINT = "pip install 'longsearch[cluster]', and what fsspec needs for this store, such as s3fs or gcsfs"
_TAGS = ("ETag", "etag", "generation", "md5Hash", "content_md5")
"""What stores call the mark that changes with an object's bytes."""
_TIMES = ("LastModified", "mtime", "updated", "last_modified", "modified", "created")
_HINT = "check the address, the network, and the credentials of this store"


class ObjectStore:
    """A `Source` in an object store. For one thread."""

    def __init__(self, url: str, root: Path) -> None:
        """`root` stands for the store. Raises LongsearchError if there is no driver for such a store."""
        self.url, self._root = url, root
        with _explained(url):
            try:
                from fsspec.core import url_to_fs

                self._fs, self._base = url_to_fs(url, use_listings_cache=False)
            except (ImportError, ValueError) as error:  # ValueError: fsspec knows no such scheme
                raise LongsearchError(f"{url} cannot be read: {_first_line(error)}", INSTALL_HINT) from error
        self._sizes: dict[str, int] = {}

    def check_there(self) -> None:
        """Raise LongsearchError if nothing is there, or nobody answers."""
        with _explained(self.url):
            if not self._fs.exists(self._base):
                raise LongsearchError(f"there is nothing at {self.url}", _HINT)

    def listing(self) -> Listing:
        """See `Source`. Lists all names at once: an object store knows no folders."""
        problems: list[WalkProblem] = []
        with _explained(self.url):
            self._fs.invalidate_cache()
            found: dict[str, Any] = self._fs.find(self._base, detail=True)
        if not found:
            self.check_there()
        inside = {name[len(self._base) :].lstrip("/"): info for name, info in found.items()}
        named = {path: info for path, info in inside.items() if _is_path(path)}
        if left_out := sorted(inside.keys() - named.keys()):
            problems.append(WalkProblem(left_out[0], f"no path of a file ({len(left_out):,} such names are left out)"))
        rules = _Rules(self._ignore_files(named, problems), problems)
        wanted = [path for path in sorted(named) if rules.admit(path) and not named[path].get("islink")]
        files = {path: _stamp(path, named[path]) for path in wanted if is_readable(path)}
        passed_over = most_frequent(Counter(suffix_of(path) for path in wanted if path not in files))
        self._sizes = {path: stamp.size for path, stamp in files.items()}
        return Listing(files, {}, problems, is_steady=True, passed_over=passed_over)

    def _ignore_files(self, named: Mapping[str, Any], problems: list[WalkProblem]) -> dict[str, bytes]:
        found = {}
        for path in (path for path in named if posixpath.basename(path) == IGNORE_FILE):
            try:
                with _explained(self.url):
                    found[posixpath.dirname(path)] = self._fs.cat_file(f"{self._base}/{path}")
            except (OSError, LongsearchError) as error:
                problems.append(WalkProblem(path, _first_line(error)))
        return found

    def size_of(self, path: Path) -> int:
        """See `Source`. Known of the last listing; 0 for others."""
        return self._sizes.get(self._name(path), 0)

    def hash_of(self, path: Path) -> bytes | None:
        """See `Source`."""
        return None

    def fetch(self, path: Path, local: Path) -> bytes:
        """Download a file, and return the hash of its bytes. Raises ExtractionError, such as GoneError."""
        with _explained(f"{self.url}/{self._name(path)}"):
            try:
                self._fs.get_file(f"{self._base}/{self._name(path)}", str(local))
            except FileNotFoundError as error:
                raise GoneError("the object is gone") from error
            except OSError as error:
                raise TemporaryError(f"cannot be fetched: {_first_line(error)}", _HINT) from error
            return hash_file(local)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


class _Rules:
    """Which objects are skipped, by their names and by ignore files; as `walk` does it for the folders of a disk."""

    def __init__(self, ignore_files: Mapping[str, bytes], problems: list[WalkProblem]) -> None:
        self._ignore_files, self._problems = ignore_files, problems
        self._known: dict[str, tuple[bool, IgnoreRules | None]] = {}

    def admit(self, path: str) -> bool:
        """Return whether to read the object."""
        is_in, rules = self._of_folder(posixpath.dirname(path))
        name = posixpath.basename(path)
        is_skippable = is_skipped(name) or is_leftover(name)
        return is_in and not is_skippable and (rules is None or not rules.ignores(path))

    def _of_folder(self, folder: str) -> tuple[bool, IgnoreRules | None]:
        """Return whether the walk would enter a folder, and the rules in it."""
        if folder not in self._known:
            is_in, rules = self._of_folder(posixpath.dirname(folder)) if folder else (True, None)
            if folder:
                skipped = is_skipped(posixpath.basename(folder)) or (rules is not None and rules.ignores(folder + "/"))
                is_in = is_in and not skipped
            if is_in and folder in self._ignore_files:
                try:
                    rules = parse_rules(self._ignore_files[folder], folder, rules)
                except LongsearchError as error:
                    self._problems.append(WalkProblem(posixpath.join(folder, IGNORE_FILE), error.message))
            self._known[folder] = is_in, rules
        return self._known[folder]


def _is_path(name: str) -> bool:
    """Return whether an object's name can be that of a file: none of its parts is empty, "." or ".."."""
    return "\0" not in name and not {"", ".", ".."}.intersection(name.split("/"))


def _stamp(path: str, info: Mapping[str, Any]) -> FileStamp:
    """The stamp of an object. The tag stands in for the inode, with the name: no two objects count as one moved."""
    tag = next((str(info[name]) for name in _TAGS if info.get(name) is not None), "")
    digest = hashlib.blake2b(f"{path}\0{tag}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
    size, number = int(info.get("size") or 0), int.from_bytes(digest) or 1
    return FileStamp(path, size, _changed_ns(info), number, reader_version=reader_version(path))


def _changed_ns(info: Mapping[str, Any]) -> int:
    """When an object was last changed, in nanoseconds since 1970; 0 if its store does not say."""
    value = next((info[name] for name in _TIMES if info.get(name) is not None), 0)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0
    seconds = value.timestamp() if isinstance(value, datetime) else value
    return int(seconds * 1e9) if isinstance(seconds, int | float) else 0


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn what a store's driver raises into a LongsearchError; FileNotFoundError stays what it is."""
    try:
        yield
    except (FileNotFoundError, LongsearchError, ExtractionError):
        raise
    except Exception as error:  # each driver has errors of its own
        raise TemporaryError(f"{url} cannot be read: {_first_line(error)}", _HINT) from error


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
