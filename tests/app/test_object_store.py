"""An object store is indexed like a folder: at home and by workers, here with fsspec's store in memory."""

import json
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from longsearch.app.cli import main
from longsearch.app.cluster.worker import Worker
from longsearch.app.daemon import daemon_control
from longsearch.app.folders.indexes import known_roots, roots_to_keep
from longsearch.app.paths import find_index, index_path, shown_path, stand_in, url_of
from longsearch.app.viewing import viewer
from longsearch.app.viewing.printed_pages import PrintedPages
from longsearch.engine.errors import ExtractionError, LongsearchError, TimedOutError
from longsearch.engine.index.opening import open_index
from longsearch.engine.page_image import PageQuestion
from longsearch.engine.store import files, vectors
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer.extract.pool import ExtractorPool
from longsearch.indexer.sources.objects import ObjectStore
from tests.app.homes import SAMPLES
from tests.app.pool_here import PoolHere, without_ray
from tests.engine.tiny_models import save_embedder

URL = "memory://bucket/papers"
PLACES = pytest.mark.parametrize("place", [(), ("--on", "ray")], ids=["at home", "by workers"])
Bucket = Any


@pytest.fixture
def pools(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[PoolHere]:
    monkeypatch.setenv("LONGSEARCH_MODEL", str(save_embedder(home / "model", "mean")))
    return without_ray(monkeypatch)


@pytest.fixture
def bucket(pools: list[PoolHere]) -> Iterator[Bucket]:
    """A store of two documents, one in a folder."""
    bucket = fsspec.filesystem("memory")
    bucket.pipe("/bucket/papers/tides.md", (SAMPLES / "tides.md").read_bytes())
    bucket.pipe("/bucket/papers/music/violin.md", (SAMPLES / "violin.md").read_bytes())
    yield bucket
    bucket.store.clear()


def index(*options: str) -> int:
    return main(["index", "-q", *options, URL])


def reports() -> dict[str, tuple[FileStatus, str]]:
    with open_index(index_path(stand_in(URL))) as session:
        return {file.path: (file.status, file.reason) for file in session.files()}


def contents(root: Path) -> dict[str, tuple[bytes, Any, Any]]:
    """Hash, passages' vectors and document vector of each file, by its name."""
    with open_index(index_path(root)) as index:
        found = {}
        for file in index.files():
            id_ = files.document_of(index.db, file.path)
            assert id_ is not None
            content_hash = index.db.execute("SELECT hash FROM contents WHERE id = ?", (id_,)).get
            found[Path(file.path).name] = (
                content_hash,
                vectors.of_passages(index.db, id_),
                vectors.of_document(index.db, id_),
            )
        return found


@PLACES
def test_it_has_the_hashes_and_vectors_of_a_folder_with_the_same_files(
    bucket: Bucket, root: Path, place: tuple[str, ...]
) -> None:
    assert main(["index", "-q", str(root)]) == 0
    assert index(*place) == 0
    here, there = contents(root), contents(stand_in(URL))
    assert here.keys() == there.keys() == {"tides.md", "violin.md"}
    for name, (content_hash, passages, document) in here.items():
        assert there[name][0] == content_hash
        np.testing.assert_allclose((there[name][1] * passages).sum(-1), 1, atol=1e-5)  # a code may be off by one
        np.testing.assert_allclose((there[name][2] * document).sum(-1), 1, atol=1e-5)  # a code may be off by one
    assert not list(stand_in(URL).iterdir())


@PLACES
def test_the_next_run_reads_what_has_changed_and_forgets_what_is_gone(
    bucket: Bucket, pools: list[PoolHere], place: tuple[str, ...]
) -> None:
    index(*place)
    read: list[str] = []
    fetch = ObjectStore.fetch

    def noted(store: ObjectStore, path: Path, local: Path) -> bytes:
        read.append(path.name)
        return fetch(store, path, local)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ObjectStore, "fetch", noted)
        index(*place)
        assert read == []
        bucket.pipe("/bucket/papers/tides.md", b"Another text of the same name.")
        bucket.rm("/bucket/papers/music/violin.md")
        index(*place)
    assert read == ["tides.md"]
    assert set(reports()) == {"tides.md"}
    assert len(contents(stand_in(URL))["tides.md"][1]) == 1


@PLACES
def test_a_renamed_object_is_read_again_and_not_embedded_again(
    bucket: Bucket, pools: list[PoolHere], place: tuple[str, ...]
) -> None:
    index(*place)
    bucket.mv("/bucket/papers/tides.md", "/bucket/papers/sea.md")
    index(*place)
    assert set(reports()) == {"sea.md", "music/violin.md"}
    assert not pools or pools[-1].made["begin"] == 0


@PLACES
def test_a_copy_of_a_known_object_is_linked_even_if_its_text_cannot_be_read_now(
    bucket: Bucket, pools: list[PoolHere], monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...]
) -> None:
    def refuse(self: ExtractorPool, paths: Iterable[Path], *_: object) -> Generator[tuple[Path, ExtractionError]]:
        yield from ((path, TimedOutError("took too long")) for path in paths)

    index(*place)
    bucket.cp("/bucket/papers/tides.md", "/bucket/papers/sea.md")
    bucket.pipe("/bucket/papers/new.md", b"A text that nobody has read.")
    monkeypatch.setattr(ExtractorPool, "extract_all", refuse)
    index(*place)
    assert reports()["sea.md"][0] is FileStatus.CURRENT
    assert reports()["new.md"] == (FileStatus.FAILED, "took too long")


@PLACES
def test_an_object_that_cannot_be_fetched_is_reported_and_read_by_a_later_run(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...]
) -> None:
    get_file = type(bucket).get_file

    def refuse(self: Any, name: str, local: str, **options: Any) -> Any:
        if name.endswith("tides.md"):
            raise ConnectionError("the store hung up")
        if name.endswith("violin.md"):
            raise FileNotFoundError(name)  # it went after it was listed
        return get_file(self, name, local, **options)

    bucket.pipe("/bucket/papers/lease.txt", (SAMPLES / "lease.txt").read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr(type(bucket), "get_file", refuse)
        assert index(*place) == 0
    found = reports()
    assert found["tides.md"] == (FileStatus.FAILED, "cannot be fetched: the store hung up")
    assert found["lease.txt"][0] is FileStatus.CURRENT
    assert "music/violin.md" not in found
    assert index("--retry-failed", *place) == 0
    assert {status for status, _ in reports().values()} == {FileStatus.CURRENT}
    assert len(reports()) == 3


def test_ignored_hidden_and_odd_names_are_left_out(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (
        "old/a.txt",
        "music/b.txt",
        "music/deep/c.txt",
        ".git/d.txt",
        "node_modules/e.txt",
        "x/../f.txt",
        "deep/g.md",
    ):
        bucket.store[f"/bucket/papers/{name}"] = bucket.store["/bucket/papers/tides.md"]
    bucket.pipe("/bucket/papers/.longsearchignore", b"old/\n")
    bucket.pipe("/bucket/papers/music/.longsearchignore", b"*.txt\n")
    bucket.pipe("/bucket/papers/deep/.longsearchignore", b"****\n*a*b*c*d\n")
    index()
    assert set(reports()) == {"tides.md", "music/violin.md", "deep/g.md"}
    said = capsys.readouterr().err
    assert "x/../f.txt: no path of a file" in said
    assert "deep/.longsearchignore: not used" in said


def test_hits_have_their_address_and_a_part_of_the_store_can_be_searched(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    index()
    capsys.readouterr()
    assert main(["search", "--mode", "words", "violin", URL]) == 0
    assert f"     {URL}/music/violin.md\n" in capsys.readouterr().out
    assert main(["search", "--mode", "words", "--json", "violin", f"{URL}/music"]) == 0
    assert [hit["path"] for hit in json.loads(capsys.readouterr().out)["results"]] == [f"{URL}/music/violin.md"]
    assert main(["search", "--mode", "words", "tide", f"{URL}/music"]) == 1
    assert find_index(f"{URL}/music") == (stand_in(URL), "music")


def test_a_file_is_downloaded_when_it_is_opened_and_the_copy_goes_with_the_next_run(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGSEARCH_VIEWER", "true {path}")
    index()
    path = stand_in(URL) / "music" / "violin.md"
    question = PageQuestion.__new__(PageQuestion)
    object.__setattr__(question, "path", str(path))
    with pytest.raises(LongsearchError, match="lies in an object store"):
        PrintedPages().draw(question)
    assert viewer.open_in_viewer(str(path), None).said == "opened with true"
    assert path.read_bytes() == (SAMPLES / "violin.md").read_bytes()
    assert [entry.name for entry in path.parent.iterdir()] == ["violin.md"]
    assert path.parent.stat().st_mode & 0o077 == 0
    index()
    assert not path.exists()
    bucket.rm("/bucket/papers/music/violin.md")
    with pytest.raises(LongsearchError, match=f"{URL}/music/violin.md is gone"):
        viewer.open_in_viewer(str(path), None)


def test_copies_of_a_forgotten_store_are_deleted_with_its_index(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    index()
    (stand_in(URL) / "copy.md").write_text("a file that was opened")
    assert main(["folders", "forget", URL, "--delete", "--yes"]) == 0
    assert not stand_in(URL).exists()
    assert known_roots() == []


def test_the_daemon_never_reads_a_store(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    index()
    root = stand_in(URL)
    assert known_roots() == [root]
    assert roots_to_keep() == []
    monkeypatch.setattr(daemon_control, "ensure_daemon", dict)
    assert daemon_control.watch(root) == f"nobody watches an object store: longsearch index {URL}"
    with pytest.raises(LongsearchError) as raised:
        daemon_control.retry(root)
    assert raised.value.hint == f"longsearch index --retry-failed {URL}"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://nothing/here", "there is nothing at memory://nothing/here"),
        ("nosuch://bucket/papers", "nosuch://bucket/papers cannot be read: Protocol not known"),
        ("memory://", "no address of an object store"),
        ("memory://bucket/../other", "no address of an object store"),
        ("zip://a.md::memory://bucket/a.zip", "no address of an object store"),
        ("ftp://ada:secret@host/papers", "holds a password"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused(
    bucket: Bucket, url: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", "-q", url]) == 3
    said = capsys.readouterr().err
    assert message in said
    assert "secret" not in said
    assert known_roots() == []


def test_a_store_that_is_not_indexed_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "tide", URL]) == 3
    assert f"{URL} is not indexed" in capsys.readouterr().err


def test_a_store_that_seems_to_be_empty_loses_nothing(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    index()
    bucket.rm("/bucket/papers", recursive=True)
    bucket.mkdir("/bucket/papers")
    assert index() == 0
    assert "treated as offline" in capsys.readouterr().err
    assert set(reports()) == {"tides.md", "music/violin.md"}


def test_a_list_may_name_addresses(bucket: Bucket, home: Path) -> None:
    (home / "list").write_text(f"{URL}/music/violin.md\n")
    assert index("--files", str(home / "list")) == 0
    assert set(reports()) == {"music/violin.md"}


def test_a_worker_that_does_not_reach_the_store_says_so(bucket: Bucket, pools: list[PoolHere]) -> None:
    index("--on", "ray")
    bucket.store.clear()
    bucket.pseudo_dirs.clear()
    with pytest.raises(LongsearchError, match="there is nothing at"):
        Worker(pools[0].worker._job).start()


@pytest.mark.parametrize("url", ["s3://bucket", "s3://bucket/a b/ü", "gs://b/x", "file:///srv/papers"])
def test_an_address_and_the_folder_that_stands_for_it_name_each_other(home: Path, url: str) -> None:
    assert url_of(stand_in(url)) == url
    assert url_of(stand_in(url) / "a" / "b.pdf") == shown_path(stand_in(url) / "a" / "b.pdf") == f"{url}/a/b.pdf"
    assert stand_in(f"{url}/") == stand_in(url)
    assert url_of(home) == ""
