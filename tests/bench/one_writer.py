"""How many passages a second the one process writes that holds an index: `python tests/bench/one_writer.py`.

It is what bounds the number of workers that `longsearch index --on ray` can feed, since workers extract texts and
compute vectors, and this process stores both. Documents are invented (`invented_index`) and made before the clock
starts, each in a transaction of its own, as indexing does it. Times are processor time of one core.
"""

import argparse
import hashlib
import tempfile
import time
from pathlib import Path

import numpy as np
from invented_index import DIM, Inventor

from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage

_TOKENS = 150  # of a passage


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--in", dest="folder", type=Path, help="where the index is made, and removed")
    options = parser.parse_args()
    inventor = Inventor()
    made = [inventor.document() for _ in range(options.documents)]
    spans = [_spans(texts) for texts, *_ in made]
    n_passages = sum(len(texts) for texts, *_ in made)
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        Store.open(Path(folder) / "index.sqlite", root=Path(folder)) as store,
    ):
        store.use_model("invented", DIM)
        began = time.process_time()
        ids = []
        for number, ((texts, *_), places) in enumerate(zip(made, spans, strict=True)):
            file = FileStamp(f"{number}.md", places[-1].stop, 1, number + 1)
            document = DocumentText("\n".join(texts), (), f"Document {number}")
            ids.append(store.add_document(file, hashlib.sha256(b"%d" % number).digest(), document, places))
        words_s = time.process_time() - began
        began = time.process_time()
        for id_, (texts, vectors, whole, excerpts) in zip(ids, made, strict=True):
            with store.changing():
                store.add_vectors(id_, 0, vectors, _TOKENS * len(texts), None, excerpts)
                store.finish_embedding(id_, whole, _TOKENS * len(texts))
        vectors_s = time.process_time() - began
        began = time.process_time()
        store.tidy()
        tidy_s = time.process_time() - began
    whole_s = words_s + vectors_s + tidy_s
    for what, seconds in (("texts and words", words_s), ("vectors", vectors_s), ("segments", tidy_s), ("all", whole_s)):
        rate = n_passages / max(seconds, 1e-9)
        print(f"{what:16} {1e6 * seconds / n_passages:7.0f} µs a passage, {rate:9,.0f} passages a second")
    print(f"{n_passages:,} passages of {_TOKENS} tokens in {len(made):,} documents")


def _spans(texts: list[str]) -> list[Passage]:
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
    return [Passage(start, start + len(text), _TOKENS) for start, text in zip(starts, texts, strict=False)]


if __name__ == "__main__":
    main()
