"""Citation keys, collections and links come from `.bib` files and from Zotero, which are only read."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from longsearch.app.cli import main
from longsearch.app.evidence.references import Citations, citations, cited
from longsearch.app.evidence.user_data import StoredUserData
from longsearch.app.evidence.zotero import references_in_zotero
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.errors import LongsearchError
from longsearch.engine.types.results import DocumentHit, PassageHit
from tests.app.made_folders import make_folder

ZOTERO = """
CREATE TABLE items (itemID INTEGER PRIMARY KEY, libraryID INT, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, path TEXT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT, parentCollectionID INT, libraryID INT);
CREATE TABLE collectionItems (collectionID INT, itemID INT);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT);
INSERT INTO fields VALUES (1, 'title'), (2, 'DOI'), (3, 'extra'), (4, 'archiveID'), (5, 'citationKey'), (6, 'abstract');
INSERT INTO groups VALUES (77, 2);
INSERT INTO items VALUES (1, 1, 'AAAA'), (2, 1, 'FILE'), (3, 2, 'GGGG'), (4, 1, 'DELD'), (5, 2, 'GPDF'), (6, 1, 'NOTE');
INSERT INTO deletedItems VALUES (4);
INSERT INTO itemDataValues VALUES (1, 'The Cooling of Towers'), (2, '10.1000/A'), (3, 'tex.x: 1
Citation Key: leeExtra
more'), (4, 'Pumps of the World, Unite'), (5, 'arXiv:1706.03762 [cs]'), (6, 'pumpsOwn'), (7, 'A deleted document');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (3, 1, 4), (3, 4, 5), (3, 5, 6), (4, 1, 7);
INSERT INTO itemAttachments VALUES (2, 1, 0, 'application/pdf', 'storage:lee.pdf'),
    (5, 3, 2, 'application/pdf', '/linked/pumps.pdf'), (6, NULL, 2, 'text/html', 'attachments:x.html');
INSERT INTO collections VALUES (1, 'Towers', NULL, 1), (2, 'To read', NULL, 1);
INSERT INTO collectionItems VALUES (1, 1), (2, 1);
"""


@pytest.fixture
def zotero(tmp_path: Path) -> Path:
    path = tmp_path / "Zotero" / "zotero.sqlite"
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute(ZOTERO)
    db.close()
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def known(zotero: Path) -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Return key, collections and link of a passage of each document, by the title."""
    storage = zotero.parent / "storage" / "FILE" / "lee.pdf"
    passages = [
        Evidence("q", str(storage), "lee", page=7),
        Evidence("q", "/linked/pumps.pdf", "pumps", page=3),
        Evidence("q", "/x", "arxiv", arxiv="1706.03762"),
        Evidence("q", "/x", "A deleted document"),
    ]
    found = cited(passages, Citations("plain", (), zotero))
    return {one.title: (one.citekey, one.collections, one.link) for one in found}


EXPECTED = {
    "lee": ("leeExtra", ("To read", "Towers"), "zotero://open-pdf/library/items/FILE?page=7"),
    "pumps": ("pumpsOwn", (), "zotero://open-pdf/groups/77/items/GPDF?page=3"),
    "arxiv": ("pumpsOwn", (), "zotero://select/groups/77/items/GGGG"),
    "A deleted document": ("", (), ""),
}


def test_keys_collections_and_links_are_read_from_zotero_which_stays_as_it_is(zotero: Path) -> None:
    before, files = digest(zotero), set(zotero.parent.iterdir())
    assert known(zotero) == EXPECTED
    assert digest(zotero) == before
    assert set(zotero.parent.iterdir()) == files


def test_a_database_that_zotero_has_locked_is_copied(zotero: Path) -> None:
    other = apsw.Connection(str(zotero))
    other.execute("BEGIN EXCLUSIVE; UPDATE itemDataValues SET value = 'not committed' WHERE valueID = 6")
    try:
        assert known(zotero) == EXPECTED
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_keys_of_better_bibtex_come_from_its_database(zotero: Path) -> None:
    db = apsw.Connection(str(zotero.with_name("better-bibtex.sqlite")))
    db.execute("CREATE TABLE citationkey (itemID INT, itemKey TEXT, libraryID INT, citationKey TEXT)")
    db.execute("INSERT INTO citationkey VALUES (1, 'AAAA', 1, 'leeBetter'), (3, 'GGGG', 2, 'other')")
    db.close()
    keys = {title: key for title, (key, _, _) in known(zotero).items()}
    assert (keys["lee"], keys["pumps"]) == ("leeBetter", "pumpsOwn")


def test_a_database_that_changes_is_read_again(zotero: Path) -> None:
    assert known(zotero)["pumps"][0] == "pumpsOwn"
    db = apsw.Connection(str(zotero))
    db.execute("UPDATE itemDataValues SET value = 'a key of another length' WHERE valueID = 6")
    db.execute("CREATE TABLE more (x)")  # the file grows, however coarse its time is
    db.close()
    assert known(zotero)["pumps"][0] == "a key of another length"


@pytest.mark.parametrize("content", [b"", b"no database at all, only text", None])
def test_a_file_that_is_no_zotero_database_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "zotero.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LongsearchError, match=r"zotero\.sqlite cannot be read"):
        references_in_zotero(path)


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = make_folder(home / "papers", {"lee.md": "The towers lose water by evaporation, day and night."})
    bib = home / "library.bib"
    bib.write_text(f"@article{{leeBib, title = {{X}}, file = {{{root}/lee.md}}}}\n")
    monkeypatch.setenv("LONGSEARCH_BIB", str(bib))
    yield root


def test_an_export_and_a_copy_have_the_key_of_the_bib_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["basket", "add", "lose water by evaporation", str(folder)])
    assert main(["basket", "export", "--format", "bibtex"]) == 0
    assert "@misc{leeBib," in capsys.readouterr().out
    hit = DocumentHit(1, 1, f"{folder}/lee.md", "lee", 1.0, (PassageHit(2, "", 0, 5, "water", 1.0),), str(folder))
    user_data = StoredUserData(folder)
    for form, words in (
        ("pandoc", "[@leeBib, p. 2]"),
        ("latex", "\\cite[p.~2]{leeBib}"),
        ("org", "[cite:@leeBib p. 2]"),
    ):
        monkeypatch.setenv("LONGSEARCH_CITATION", form)
        assert words in user_data.quotation(hit, hit.passages[0])
    assert user_data.basket().passages[0].evidence.citekey == "leeBib"


def test_a_bib_file_that_is_gone_stops_no_look_at_the_basket(folder: Path, home: Path) -> None:
    main(["basket", "add", "lose water by evaporation", str(folder)])
    (home / "library.bib").unlink()
    view = StoredUserData(folder).basket()
    assert len(view.passages) == 1
    assert "library.bib cannot be read" in view.note
    assert main(["basket", "export"]) == 3


def test_the_settings_name_a_form_that_exists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert citations() == Citations("plain", (), None)
    monkeypatch.setenv("LONGSEARCH_CITATION", "pandoc")
    monkeypatch.setenv("LONGSEARCH_BIB", f"{tmp_path / 'a.bib'}{os.pathsep}{tmp_path / 'b.bib'}")
    monkeypatch.setenv("LONGSEARCH_ZOTERO", str(tmp_path))
    assert citations() == Citations("pandoc", (tmp_path / "a.bib", tmp_path / "b.bib"), tmp_path / "zotero.sqlite")
    monkeypatch.setenv("LONGSEARCH_CITATION", "word")
    with pytest.raises(LongsearchError, match="LONGSEARCH_CITATION"):
        citations()
