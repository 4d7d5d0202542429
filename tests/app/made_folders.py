"""Folders with indexes that were made without a model: each document is one sentence, with a vector of four numbers."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage

MODEL = "model-a"


def toward(*weights: float) -> np.ndarray:
    """Return the unit vector in this direction."""
    vector = np.zeros(4, np.float32)
    vector[: len(weights)] = weights
    return vector / np.linalg.norm(vector)


def make_folder(
    root: Path, texts: Mapping[str, str], directions: Sequence[np.ndarray] = (), model: str = MODEL, drive: bool = False
) -> Path:
    """Make the folder and its index; with directions, give each text a vector of this model. Returns the folder."""
    root.mkdir(parents=True, exist_ok=True)
    with Store.open(index_path(root), root=root) as store:
        if directions:
            store.use_model(model, 4)
        for number, (name, text) in enumerate(texts.items()):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            stamp = FileStamp(name, len(text), 1, number + 1)
            document = DocumentText(text, (), "")
            known = store.add_document(
                stamp, hashlib.sha256(text.encode()).digest(), document, [Passage(0, len(text), 5)]
            )
            if directions:
                store.add_vectors(known, 0, directions[number][None], 5, None)
                store.finish_embedding(known, directions[number], 5)
        if drive:
            store.remember_drives([""])
    return root


def vector_source(vector: np.ndarray, model: str = MODEL):
    """Return a source of query vectors that always gives this one."""
    return lambda text, instruction: QueryVector(vector, model, 2.0)
