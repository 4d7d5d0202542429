"""A file that ends its reader's process is not read again at each start, and the others are read."""

from typing import Any

import pytest

from longsearch.indexer.suspects import MOST_ENDS, Suspects
from tests.indexer.pipeline_bench import Bench


def sweep(bench: Bench, monkeypatch: pytest.MonkeyPatch, ends: Any) -> list[str]:
    """Sweep once; `ends` is raised while poison.txt is stored. Returns what was split, in turn."""
    split, asked = bench.encoder.split, []

    def poisoned(text: str) -> Any:
        asked.append(text.strip())
        if "poison" in text and ends:
            raise ends
        return split(text)

    with monkeypatch.context() as patched:
        patched.setattr(bench.encoder, "split", poisoned)
        try:
            bench.run()
        except (RuntimeError, KeyboardInterrupt):
            asked.append("ended")
    return asked


def test_a_file_that_ends_the_process_each_time_fails_and_the_others_are_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "poison", "z"):
        (bench.root / f"{name}.txt").write_text(f"{name} text\n")
    noted, defect = bench.store.path.with_suffix(".reading"), RuntimeError("a defect")
    assert sweep(bench, monkeypatch, defect)[-1] == "ended"
    for _ in range(MOST_ENDS - 1):
        assert noted.exists()
        assert [one for one in sweep(bench, monkeypatch, defect) if one != "a text"] == ["poison text", "ended"]
    assert "ended" not in sweep(bench, monkeypatch, defect)
    states = {file.path: file.reason for file in bench.store.files()}
    assert states == {"a.txt": "", "poison.txt": "ended longsearch each time it was read", "z.txt": ""}
    assert not noted.exists()
    assert sweep(bench, monkeypatch, defect) == []  # not before it changes
    (bench.root / "poison.txt").write_text("poison no more\n")
    assert sweep(bench, monkeypatch, None) == ["poison no more"]
    assert not any(file.reason for file in bench.store.files())


def test_a_person_who_stops_the_reading_makes_no_file_suspect(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.root / "poison.txt").write_text("poison text\n")
    assert sweep(bench, monkeypatch, KeyboardInterrupt()) == ["poison text", "ended"]
    assert not bench.store.path.with_suffix(".reading").exists()


def test_what_a_killed_process_was_reading_is_known_to_the_next(bench: Bench) -> None:
    killed, name = Suspects(bench.store.path), "odd \udcff name"
    killed.reading(["a", name])
    killed.was_read("a")
    killed.reading([name])  # and here it is killed
    after = Suspects(bench.store.path)
    assert (after.n_ends("a"), after.n_ends(name)) == (0, 1)
    after.among({"b"})
    assert after.n_ends(name) == 0
