"""A file of any name is walked, indexed, found and printed, and its name cannot harm the terminal."""

import os
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from longsearch.app.commands.results import to_json, to_text
from longsearch.app.commands.status import describe
from longsearch.engine.store.store import Store
from longsearch.engine.types.progress import FileStatus
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.pipeline import Pipeline
from tests.engine.store.store_helpers import check_invariants, search
from tests.indexer.extracting import OneChild
from tests.indexer.fake_encoder import FakeEncoder

_SUFFIX = b".txt"
_LONGEST = 255  # bytes in a name, on every common file system

_hostile = [
    b"\x1b[2J",
    b"\x1b]0;title\x07",
    b"\n",
    b"\r",
    b"\x7f",
    b"\x9b31m",
    "\u202e".encode(),
    b"\xed\xb3\xbf",
    b"%s",
]
_pieces = (
    st.binary(min_size=1, max_size=6)
    | st.sampled_from(_hostile)
    | st.text(max_size=4).map(lambda t: t.encode("utf-8", "replace"))
)


def _as_name(pieces: list[bytes]) -> bytes:
    """Return a name that a file system accepts and that is neither hidden nor skipped."""
    joined = b"".join(pieces).replace(b"\0", b"").replace(b"/", b"").lstrip(b".")
    return b"n" + joined[: _LONGEST - 1 - len(_SUFFIX)]


names = st.lists(_pieces, max_size=60).map(_as_name)


@pytest.fixture(scope="module")
def extractor() -> Iterator[OneChild]:
    with OneChild() as process:
        yield process


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(folder=names, stems=st.lists(names, min_size=1, max_size=4, unique_by=lambda name: name.lower()))
@example(folder=b"f", stems=[b"n" * (_LONGEST - len(_SUFFIX))])
@example(folder=b"\x1b[31mred", stems=[b"a\nb", b"a\xffb", "\u202etxt.exe".encode()])
def test_a_file_of_any_name_is_indexed_found_and_shown_safely(
    extractor: ExtractorProcess, folder: bytes, stems: list[bytes]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        paths = {os.fsdecode(folder + b"/" + stem + _SUFFIX): stem for stem in stems}
        (root / os.fsdecode(folder)).mkdir(parents=True)
        try:
            for number, path in enumerate(paths):
                (root / path).write_text(f"File number {number} speaks of apples.")
        except OSError:  # a file system that refuses the name: that of macOS accepts only UTF-8
            return
        with Store.open(Path(place) / "index.db", root=root) as store:
            pipeline = Pipeline(root, store, extractor, FakeEncoder())
            assert pipeline.read().n_read == len(paths)
            pipeline.embed()
            check_invariants(store)
            assert {file.path: file.status for file in store.files()} == dict.fromkeys(paths, FileStatus.CURRENT)
            assert pipeline.read().n_read == 0
            check_shown(store, root, set(paths))
            check_shown(store, root, set(paths), under=os.fsdecode(folder))


def check_shown(store: Store, root: Path, paths: set[str], under: str = "") -> None:
    """Check that every file is found under its true name, and that the output holds no control characters."""
    results = search(store, "apples", under=under)
    assert {os.path.relpath(hit.path, root) for hit in results.hits} == paths
    shown = [to_text(results, width=80), *map(describe, store.files())]
    for line in "\n".join(shown).split("\n"):
        assert all(unicodedata.category(character) not in ("Cc", "Cs", "Cf", "Zl", "Zp") for character in line)
    assert "\n".join(shown).encode("utf-8")
    assert all(os.path.exists(hit["path"]) for hit in to_json(results)["results"])
