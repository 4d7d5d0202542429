"""A document without a title of its own is named after its file."""

import pytest

from longsearch.engine.store.documents import title_of
from longsearch.engine.store.store import Store
from tests.engine.store.store_helpers import add, check_invariants, document, embed, record, search, vectors_of_passages


def found_by(store: Store, words: str) -> list[str]:
    return [hit.title for hit in search(store, words).hits]


def test_an_untitled_document_is_named_after_its_file_and_found_by_that_name(store: Store) -> None:
    document_id = add(store, "field notes.pdf", "")
    assert store.text(document_id).title == "field notes"
    assert found_by(store, "field") == ["field notes"]
    store.move([("field notes.pdf", record("sub/harvest.v2.pdf"))])
    assert store.text(document_id).title == "harvest.v2"
    assert (found_by(store, "field"), found_by(store, "harvest")) == ([], ["harvest.v2"])
    assert found_by(store, "apples") == ["harvest.v2"]


def test_an_untitled_document_in_several_files_is_named_after_the_first(store: Store) -> None:
    document_id = add(store, "m.pdf", "")
    titles = []
    for change in (
        lambda: store.link(record("z.pdf"), document("")[0]),
        lambda: store.link(record("a.pdf"), document("")[0]),
        lambda: store.forget(["a.pdf"]),
        lambda: add(store, "m.pdf", "other"),
        lambda: add(store, "k.pdf", "", 4),
    ):
        change()
        with store.reading() as db:
            titles += [title for (title,) in db.execute("SELECT title FROM contents WHERE title_is_name")]
        check_invariants(store)
    assert titles == ["m", "a", "m", "z", "k"]
    assert store.text(document_id + 2).title == "k"


def test_a_documents_own_title_survives_a_rename_of_its_file(store: Store) -> None:
    document_id = add(store, "Title of a.pdf", "a")
    store.move([("Title of a.pdf", record("b.pdf"))])
    assert store.text(document_id).title == "Title of a"


def test_an_untitled_document_that_is_read_again_keeps_its_vectors(store: Store) -> None:
    document_id = add(store, "a.pdf", "")
    vectors = embed(store, document_id)
    assert store.add_document(record("b.pdf"), *document("")) == document_id
    assert (vectors_of_passages(store, document_id) == vectors).all()


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/b/Two  words.tar.gz", "Two words.tar"),
        ("a.b/none", "none"),
        ("\x1b[31mred\udcff.txt", "\ufffd[31mred\ufffd"),
        ("u\u0308ber.md", "\u00fcber"),
        ("  .txt", "untitled"),
    ],
)
def test_a_title_from_a_file_name_is_printable_and_on_one_line(path: str, title: str) -> None:
    assert title_of(path) == title
