"""Vectors kept from run to run: an array a file, named by a hash of all that it depends on."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from engine.arrays import Vectors


class Kept:
    """A folder of arrays, or none: then everything is computed every time."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def vectors(self, name: str, depends_on: Iterable[str], compute: Callable[[], Vectors]) -> Vectors:
        """The array kept under `name` and the texts it depends on; where there is none, what `compute` says.

        A file that is no array, cut short by a full disk, is written anew.
        """
        if self._folder is None:
            return compute()
        digest = hashlib.blake2b("\0".join(depends_on).encode("utf-8", "replace"), digest_size=12).hexdigest()
        path = self._folder / f"{name}-{digest}.npy"
        try:
            kept: Vectors = np.load(path, allow_pickle=False)
            return kept
        except (OSError, ValueError, EOFError):
            vectors = compute()
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part.npy")
        np.save(temporary, vectors)
        temporary.replace(path)
        return vectors
