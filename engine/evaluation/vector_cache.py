"""A cache of vectors on disk: one file for each array, named by a hash of everything that the array depends on."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from longsearch.engine.arrays import Vectors


class VectorCache:
    """A folder of arrays, or None, which caches nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def vectors(self, name: str, depends_on: Iterable[str], compute: Callable[[], Vectors]) -> Vectors:
        """Return the cached array for `name` and the texts it depends on, or compute and store it.

        A file that is no array, such as one cut short by a full disk, is replaced.
        """
        if self._folder is None:
            return compute()
        digest = hashlib.blake2b("\0".join(depends_on).encode("utf-8", "replace"), digest_size=12).hexdigest()
        path = self._folder / f"{name}-{digest}.npy"
        try:
            cached: Vectors = np.load(path, allow_pickle=False)
            return cached
        except (OSError, ValueError, EOFError):
            vectors = compute()
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part.npy")
        np.save(temporary, vectors)
        temporary.replace(path)
        return vectors
