"""The store returns the text that it was given, whole or a passage at a time."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import StoreError
from longsearch.engine.index.opening import open_index
from longsearch.engine.store import documents, manifest, session, texts
from longsearch.engine.store.manifest import Kind, Listed
from longsearch.engine.store.session import SharedTransaction
from longsearch.engine.store.store import Store
from longsearch.engine.store.texts import PART_CHARS
from longsearch.engine.types.documents import DocumentText, Heading, Passage
from longsearch.engine.types.progress import FileStatus
from tests.engine.store.store_helpers import DIM, add, document, embed, open_store, record, vectors_of_passages


def test_a_document_comes_back_as_it_was(store: Store) -> None:
    text = DocumentText("One.\fTwo \ud800 \0 é", (0, 5), "A title", (Heading(1, "One", 0), Heading(2, "T\udcff", 5)))
    document_id = store.add_document(record("a.pdf"), b"hash", text, [Passage(0, 4, 2), Passage(5, 14, 3)])
    assert store.text(document_id) == text
    assert store.passages(document_id) == [Passage(0, 4, 2), Passage(5, 14, 3)]


def test_a_passage_across_parts_is_read_whole(store: Store) -> None:
    whole = "".join(f"{number:07d} " for number in range(PART_CHARS // 4))
    borders = [0, PART_CHARS - 5, PART_CHARS, PART_CHARS + 1, 2 * PART_CHARS - 1, len(whole)]
    passages = [Passage(start, stop, 1) for start, stop in pairwise(borders)]
    passages += [Passage(3, len(whole) - 3, 1), Passage(PART_CHARS, PART_CHARS, 0)]
    document_id = store.add_document(record("a.pdf"), b"hash", DocumentText(whole, (), ""), passages)
    spans = [(passage.start, passage.stop) for passage in passages]
    with store.reading() as db:
        assert texts.spans(db, document_id, spans) == [whole[start:stop] for start, stop in spans]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.text(alphabet=st.characters(), max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_text_can_be_stored(store: Store, text: str, start: int, stop: int) -> None:
    start, stop = sorted((min(start, len(text)), min(stop, len(text))))
    kept = DocumentText(text, (), text[:20])
    document_id = store.add_document(record("a.pdf"), text.encode("utf-8", "surrogatepass"), kept, [])
    assert store.text(document_id).text == text
    with store.reading() as db:
        assert texts.spans(db, document_id, [(start, stop)]) == [text[start:stop]]


def test_a_passage_is_on_the_page_that_holds_its_middle(store: Store) -> None:
    text = DocumentText("x" * 100, (0, 50), "")
    document_id = store.add_document(record("a.pdf"), b"h", text, [Passage(0, 98, 1), Passage(40, 62, 1)])
    with store.reading() as db:
        pages = [row[0] for row in db.execute("SELECT page FROM passages WHERE content_id = ?", (document_id,))]
    assert pages == [1, 2]


def test_a_file_with_new_bytes_but_the_same_text_keeps_its_vectors(store: Store) -> None:
    """For example, someone highlights a line in a PDF."""
    document_id = add(store, "a.pdf", "a")
    vectors = embed(store, document_id)
    highlighted = (record("a.pdf", size=11), b"with a highlight", *document("a")[1:])
    assert store.add_document(*highlighted, "A page was not read", "!") == document_id
    assert np.array_equal(vectors_of_passages(store, document_id), vectors)
    assert store.pending() == []
    assert store.files()[0].status is FileStatus.PARTIAL
    assert store.link(record("copy.pdf"), b"with a highlight")
    assert not store.link(record("old copy.pdf"), document("a")[0])


def test_new_bytes_do_not_change_the_document_of_a_copy(store: Store) -> None:
    document_id = add(store, "a.pdf", "a")
    assert store.link(record("copy.pdf"), document("a")[0])
    _, text, passages = document("a")
    assert store.add_document(record("a.pdf", size=11), b"with a highlight", text, passages) != document_id
    assert store.link(record("third.pdf"), document("a")[0])


def test_a_document_without_passages_is_complete_at_once(tmp_path: Path) -> None:
    with open_store(tmp_path / "without a model.db") as store:
        add(store, "empty.txt", "empty", n_passages=0)
        assert store.files()[0].status is FileStatus.CURRENT
        assert store.pending() == []
        store.use_model("model-a", DIM)
        assert store.pending() == []


def test_reading_an_unknown_document_raises_an_error_with_a_hint(store: Store) -> None:
    with pytest.raises(StoreError, match="no longer in the index") as caught:
        store.text(4711)
    assert caught.value.hint
    assert store.passages(4711) == []


def test_an_error_in_the_middle_of_adding_a_document_leaves_no_trace(store: Store) -> None:
    content_hash, text, passages = document("a")
    broken = [*passages, None]
    with pytest.raises(AttributeError):
        store.add_document(record("a.pdf"), content_hash, text, broken)  # type: ignore[arg-type]
    assert store.catalogue() == {}


def test_documents_that_share_a_transaction_are_seen_together_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=lambda: now))

    def n_seen() -> int:
        with open_index(store.path) as index:
            return index.progress().n_files

    with SharedTransaction(store) as shared:
        for number in range(2):
            shared.begin()
            add(store, f"{number}.txt", f"words {number}")
            shared.commit_if_due()
        assert n_seen() == 0
        now = 1.0
        shared.commit_if_due()
        assert n_seen() == 2
        shared.begin()
        add(store, "2.txt", "words 2")
        shared.close()
        assert n_seen() == 3
    with pytest.raises(KeyError), SharedTransaction(store) as shared:
        shared.begin()
        add(store, "3.txt", "words 3")
        raise KeyError
    assert n_seen() == 3


def test_the_words_of_a_document_without_a_title_are_indexed_once(store: Store) -> None:
    with store.changing() as db:
        manifest.list_segments(db, Kind.WORDS, [Listed(1, "token", 1)])
    document_id = add(store, "a letter.txt", "")
    with store.reading() as db:
        assert documents.outline(db, document_id).title == "a letter"
        assert not len(manifest.read(db, Kind.WORDS).outdated)
