"""An index of invented documents: sentences of a real text in new orders, and clustered vectors. Needs no model.

Words have the frequencies that they have in the text. Vectors are as the bundled model's on real texts: a query's
nearest passage has a cosine of about 0.65, and two passages on different subjects have one of about 0.07.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measuring import REPOSITORY
from numpy.typing import NDArray

from longsearch.engine.store.excerpts import packed
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage

DIM = 384
_MEAN_PASSAGES = 20
_SENTENCES, _EXCERPTS = 6, 5  # of a passage
_DOCUMENTS_PER_TRANSACTION = 1_000
_TYPES = ("pdf", "pdf", "pdf", "md", "md", "txt", "docx", "html")
_FOLDERS = ("papers", "contracts", "notes", "reports", "letters", "manuals", "lectures", "minutes")
_QUERY_WORDS = (1, 2, 2, 3, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, and its vector (dim,)."""

    text: str
    vector: NDArray[np.float32]


class Inventor:
    """Draws documents and queries; the same seed draws the same."""

    def __init__(self, seed: int = 0) -> None:
        self._sentences = sentences()
        self._random = np.random.default_rng(seed)
        self._common = self._directions(1)[0] * 0.26
        self._subjects = self._directions(2_000)

    def document(self) -> tuple[list[str], NDArray[np.float32], NDArray[np.float32], list[bytes]]:
        """The passages of a document, their vectors, the document's vector and the passages' excerpts."""
        n = 1 + int(self._random.geometric(1 / _MEAN_PASSAGES))
        drawn = self._random.integers(0, len(self._sentences), (n, _SENTENCES))
        texts = [" ".join(self._sentences[number] for number in row) for row in drawn.tolist()]
        subject = self._subjects[self._random.integers(len(self._subjects))]
        whole = unit(self._common + 0.6 * subject + 0.5 * self._directions(1)[0])
        vectors = unit(0.8 * whole + 0.6 * self._directions(n))
        near = unit(0.85 * np.repeat(vectors, _EXCERPTS, axis=0) + 0.5 * self._directions(n * _EXCERPTS))
        starts, of_passages = np.arange(_EXCERPTS) * 150, zip(np.split(near, n), vectors, strict=True)
        return texts, vectors, whole, [packed(starts, own, of_passage) for own, of_passage in of_passages]

    def questions(self, n: int) -> Iterator[Question]:
        """Some consecutive words of a sentence, with a vector near to that of one subject."""
        for number in range(n):
            words: list[str] = []
            while not words:
                words = re.findall(r"[^\W_]+", self._sentences[self._random.integers(len(self._sentences))])
            length = _QUERY_WORDS[number % len(_QUERY_WORDS)]
            first = int(self._random.integers(max(1, len(words) - length)))
            subject = self._subjects[self._random.integers(len(self._subjects))]
            yield Question(
                " ".join(words[first : first + length]),
                unit(self._common + 0.55 * subject + 0.5 * self._directions(1)[0]),
            )

    def choose(self, names: tuple[str, ...]) -> str:
        """One of the names."""
        return names[self._random.integers(len(names))]

    def _directions(self, n: int) -> NDArray[np.float32]:
        return unit(self._random.standard_normal((n, DIM), np.float32))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors at length 1."""
    made: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return made.astype(np.float32)


def sentences() -> list[str]:
    """The sentences of our samples and docs."""
    paths = sorted((REPOSITORY / "assets" / "samples").iterdir()) + sorted((REPOSITORY / "docs").glob("*.md"))
    texts = (path.read_text("utf-8") for path in paths)
    return [one for text in texts for one in re.split(r"(?<=[.!?])\s+", text) if 20 < len(one) < 400]


def build(path: Path, n_passages: int) -> None:
    """Write an index with this many passages, or a few more, through the store."""
    inventor = Inventor()
    with Store.open(path, root=path.parent / "invented") as store:
        store.use_model("invented", DIM)
        n_done = n_files = 0
        while n_done < n_passages:
            with store.changing():
                for _ in range(_DOCUMENTS_PER_TRANSACTION):
                    n_done += _add(store, inventor, n_files)
                    n_files += 1
                    if n_done >= n_passages:
                        break
        store.tidy()


def _add(store: Store, inventor: Inventor, number: int) -> int:
    """Add one document; return the number of its passages."""
    texts, vectors, whole, excerpts = inventor.document()
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
    places = [Passage(start, start + len(text), 150) for start, text in zip(starts, texts, strict=False)]
    kind, folder = inventor.choose(_TYPES), f"{inventor.choose(_FOLDERS)}/{number % 97}"
    words = " ".join(texts[0].split()[:4])
    document = DocumentText("\n".join(texts), tuple(starts[:-1:3]), words)
    digest = hashlib.sha256(b"%d" % number).digest()
    file = FileStamp(f"{folder}/document {number}.{kind}", starts[-1], 1, number + 1)
    document_id = store.add_document(file, digest, document, places)
    n_tokens = 150 * len(texts)
    store.add_vectors(document_id, 0, vectors, n_tokens, None, excerpts)
    store.finish_embedding(document_id, whole, n_tokens)
    return len(texts)
