"""A folder in use: files are added, grow, change, move, are copied and deleted, all drawn from one seed."""

import os
import random
import shutil
from pathlib import Path

from tests.indexer.pdf_writing import lines_of, write_pdf

_WORDS = ("apple", "river", "glacier", "contract", "tenant", "violin", "signal", "memory", "orchard", "tide", "cache")


class RestlessFolder:
    """Files under `root`; every step is drawn from `seed`."""

    def __init__(self, root: Path, seed: int, n_words: int = 60) -> None:
        self.root = root
        self._random = random.Random(seed)
        self._n_words = n_words
        self._n_made = 0
        root.mkdir()
        for _ in range(8):
            self.create()

    def work(self, n_steps: int) -> None:
        """Do some random steps of work."""
        kinds = [self.create, self.create, self.grow, self.change, self.rename, self.copy, self.touch, self.delete]
        for _ in range(n_steps):
            self._random.choice(kinds)()
        self.create()  # so there is always something to index

    def create(self) -> None:
        self._n_made += 1
        folder = self.root / self._random.choice(["", "a", "a/b", "c"])
        folder.mkdir(parents=True, exist_ok=True)
        if self._random.random() < 0.25:
            pages = [lines_of(self._prose(12).replace(". ", ".\n")) for _ in range(3)]
            write_pdf(folder / f"{self._n_made}.pdf", pages, title=f"Paper {self._n_made}")
        else:
            suffix = self._random.choice(["txt", "md"])
            (folder / f"{self._n_made}.{suffix}").write_text(self._prose(self._n_words))

    def grow(self) -> None:
        """Add text at the end, as in a journal."""
        if path := self._any(".txt", ".md"):
            path.write_text(f"{path.read_text()} {self._prose(20)}")

    def change(self) -> None:
        if path := self._any(".txt", ".md"):
            path.write_text(self._prose(self._n_words))

    def rename(self) -> None:
        if path := self._any():
            self._n_made += 1
            path.rename(self._any_folder() / f"renamed{self._n_made}{path.suffix}")

    def copy(self) -> None:
        if path := self._any():
            self._n_made += 1
            shutil.copy(path, self._any_folder() / f"copy{self._n_made}{path.suffix}")

    def touch(self) -> None:
        if path := self._any():
            os.utime(path, ns=(1, self._random.randrange(10**18)))

    def delete(self) -> None:
        if len(self._files()) > 4 and (path := self._any()):
            path.unlink()

    def _files(self) -> list[Path]:
        return sorted(path for path in self.root.rglob("*") if path.is_file())

    def _any(self, *suffixes: str) -> Path | None:
        files = [path for path in self._files() if not suffixes or path.suffix in suffixes]
        return self._random.choice(files) if files else None

    def _any_folder(self) -> Path:
        return self._random.choice([self.root, *sorted(path for path in self.root.rglob("*") if path.is_dir())])

    def _prose(self, n_words: int) -> str:
        words = self._random.choices(_WORDS, k=self._random.randint(n_words // 2, n_words * 2))
        return " ".join(f"{word}{'.' if place % 9 == 8 else ''}" for place, word in enumerate(words))
