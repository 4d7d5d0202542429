"""Makes segments of words: from the texts of passages, or from two segments."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from longsearch.engine.store import documents, keywords
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import postings
from longsearch.engine.store.segments.files import Arrays, writing


class WordMaker:
    """Makes segments of the words of passages; the methods are those of `VectorMaker`."""

    kind = Kind.WORDS

    def count(self, db: apsw.Connection) -> int:
        """The number of passages with words."""
        return keywords.totals(db)[0]

    def all_ids(self, db: apsw.Connection) -> NDArray[np.int64]:
        """All passages with words, ascending."""
        return documents.all_passages(db)

    def write(self, db: apsw.Connection, index: Path, ids: NDArray[np.int64]) -> str:
        """Write a segment of these passages (ascending); return its token. Raises OSError on a full disk."""
        cut = keywords.tokenizer(db)
        document_ids: list[int] = []
        lengths: list[tuple[int, int]] = []

        def columns() -> Iterator[list[list[str]]]:
            for document_id, text, title in keywords.indexed_texts(db, ids):
                of_text, of_title = cut(text.encode()), cut(title.encode()) if title else []
                document_ids.append(document_id)
                lengths.append((len(of_text) + len(of_title), len(of_text)))
                yield [of_text, *[of_title] * keywords.TITLE_WEIGHT]

        terms, block = postings.from_tokens(columns())
        keywords.forget_words()
        passages = postings.Passages(
            ids, np.array(document_ids, np.int64), *np.array(lengths, np.int32).reshape(-1, 2).T
        )
        counted = postings.Counted.of(len(terms), passages.document_ids, lambda: iter([block]))
        return _write(index, passages, terms, counted)

    def merge(
        self, index: Path, segments: tuple[Arrays, Arrays], alive: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    ) -> str:
        """Write a segment of the living passages ((n,) of each) of two others; return its token. Raises OSError."""
        return _write(index, *postings.merged(*segments, alive))


def _write(index: Path, passages: postings.Passages, terms: list[bytes], counted: postings.Counted) -> str:
    with writing(index, Kind.WORDS, postings.shapes(passages, terms, counted)) as (token, writer):
        postings.write(writer, passages, terms, counted)
    return token
