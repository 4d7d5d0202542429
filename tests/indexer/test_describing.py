"""Documents of an older index get their titles and metadata from the heads of their files, without a new vector."""

import os

import pytest

from longsearch.indexer import plan
from tests.indexer.pdf_writing import lines_of, write_pdf
from tests.indexer.pipeline_bench import Bench


def forget_metadata(bench: Bench) -> None:
    """Make the index look as if an older longsearch had written it."""
    with bench.store.changing() as db:
        db.execute("DELETE FROM metadata")
        db.execute("UPDATE contents SET metadata_version = 0, title = 'an old title', title_is_name = 0")


def described(bench: Bench) -> set[tuple[str, str, str]]:
    hits = bench.hits("steel")
    return {(value.field, value.value, value.source) for hit in hits for value in hit.metadata}


def test_an_old_index_is_described_at_the_next_sweep_and_nothing_is_embedded_again(bench: Bench) -> None:
    (bench.root / "note.md").write_text("---\ntitle: On steel\nauthor: Ann Lee\ndate: 2021-05-17\n---\nsteel words\n")
    pages = [[*lines_of("Bridges of Steel", size=20), *lines_of("Ann Lee wrote of steel.", top=600)]]
    pages += [lines_of(f"steel on page {number}") for number in range(2, 12)]
    write_pdf(bench.root / "paper.pdf", pages)
    bench.run()
    before, read = described(bench), bench.encoder.tokens_read
    assert {("author", "Ann Lee", "front matter"), ("title", "Bridges of Steel", "largest type")} <= before
    forget_metadata(bench)
    bench.run()
    assert described(bench) == before
    assert bench.encoder.tokens_read == read
    titles = {hit.title for hit in bench.hits("steel")}
    assert titles == {"On steel", "Bridges of Steel"}


def test_a_file_that_cannot_be_read_now_keeps_its_title_and_is_not_tried_for_ever(bench: Bench) -> None:
    path = bench.root / "note.md"
    path.write_text("# On steel\n\nsteel words\n")
    bench.run()
    forget_metadata(bench)
    stamp = path.stat()
    path.write_bytes(b"\0" * stamp.st_size)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    bench.run()
    assert bench.store.undescribed() == []
    assert [hit.title for hit in bench.hits("steel")] == ["an old title"]


def test_describing_stops_when_asked_and_goes_on_at_the_next_sweep(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_LONGEST_TICK_NS", 0)  # no file of an older index has changed just now
    for number in range(4):
        (bench.root / f"{number}.md").write_text(f"# Note {number}\n\nsteel words {number}\n")
    bench.run()
    forget_metadata(bench)
    calls = iter([False] * 3)
    bench.pipeline(should_stop=lambda: next(calls, True)).read()
    assert 0 < len(bench.store.undescribed()) < 4
    bench.run()
    assert bench.store.undescribed() == []
