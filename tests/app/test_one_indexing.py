"""The four ways to index a folder leave the same index, calibrated, with the same news: they share one recipe."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import longsearch.app.indexing.recipe as recipe
from longsearch.app.cli import main
from longsearch.app.daemon import daemon_control
from longsearch.app.daemon.daemon import Daemon
from longsearch.app.indexing.calibration import calibrate_and_note_news
from longsearch.app.models.folder_models import FolderModel, choose_model, finish_change, folder_model
from longsearch.app.paths import data_folder, index_path
from longsearch.app.user_data.saved import SavedSearch, SavedSearches
from longsearch.engine.index.opening import open_index
from longsearch.engine.search import calibration, chance
from longsearch.engine.store import files
from longsearch.engine.store.store import Store
from longsearch.engine.types.results import SearchMode
from tests.app.app_helpers import running, status, wait_until
from tests.app.pool_here import without_ray
from tests.engine.tiny_models import save_embedder

N_FILES = 10
SUBJECTS = ("tides", "violins", "bread", "bees", "glaciers", "looms", "harbours")


def by_command(root: Path) -> None:
    assert main(["index", "-q", str(root)]) == 0


def by_cluster(root: Path) -> None:
    assert main(["index", "-q", "--on", "ray", str(root)]) == 0


def by_daemon(root: Path) -> None:
    with running(Daemon(tick_s=0.01)):
        daemon_control.watch(root)
        wait_until(lambda: not status()["roots"][0]["busy"])
        assert status()["roots"][0]["problem"] == ""


Door = Callable[[Path], None]


@pytest.fixture
def models(home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two tiny models. The first is the default."""
    first = save_embedder(home / "first", "mean")
    monkeypatch.setenv("LONGSEARCH_MODEL", str(first))
    return str(first), str(save_embedder(home / "second", "mean", seed=3, dim=8))


@pytest.fixture
def many(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with enough short documents for an index that can be calibrated, when few are enough."""
    monkeypatch.setattr(calibration, "LEAST_PASSAGES", 6)
    monkeypatch.setattr(chance, "N_QUERIES", 8)
    for made in (chance.random_queries, chance.made_up_queries):
        monkeypatch.setattr(chance, made.__name__, partial(made, n=8))
    root = home / "many"
    root.mkdir()
    for number in range(N_FILES):
        write(root, number)
    return root


def write(root: Path, number: int, more: str = "") -> None:
    subject = SUBJECTS[number % len(SUBJECTS)]
    (root / f"{number}.md").write_text(f"# {subject}\n\nNote {number} is about {subject}. {more}\n", "utf-8")


def forget_everything(root: Path) -> None:
    """Leave no index, no search and no added file."""
    for path in (data_folder() / "indexes").iterdir():
        path.unlink()
    (data_folder() / "saved.json").unlink(missing_ok=True)
    (root / f"{N_FILES}.md").unlink(missing_ok=True)


def state(root: Path) -> dict[str, Any]:
    """What an index holds, how it is calibrated and what is new in it."""
    with open_index(index_path(root)) as index:
        known, progress = index.background, index.progress()
        assert known is not None
        return {
            "model": index.model,
            "files": {path: (file.failed, file.stamp.size) for path, file in files.catalogue(index.db).items()},
            "read": (progress.n_current, progress.n_waiting, progress.n_tokens, progress.n_tokens_embedded),
            "calibrated with": known.n_passages,
            "scores": {kind: tuple(scores) for kind, scores in known.scores.items()},
            "news": [(new.path, new.level) for one in SavedSearches().all() for new in one.news],
        }


def indexed_twice(root: Path, door: Door) -> dict[str, Any]:
    """Index a folder, save a search, add an answer to it, index again; return the state of the index."""
    door(root)
    SavedSearches().save(SavedSearch("Bees", "bees hive", SearchMode.WORDS), [str(root)])
    door(root)
    write(root, N_FILES, "The bees left their hive.")
    door(root)
    found = state(root)
    forget_everything(root)
    return found


@pytest.mark.parametrize("changes_model", [False, True], ids=["same model", "another model"])
def test_the_command_the_daemon_and_a_cluster_leave_the_same_index_calibration_and_news(
    models: tuple[str, str], many: Path, monkeypatch: pytest.MonkeyPatch, changes_model: bool
) -> None:
    without_ray(monkeypatch)
    concluded: list[str] = []

    def conclude(store: Store, *rest: Any) -> None:
        concluded.append(store.path.name)
        calibrate_and_note_news(store, *rest)

    def finish(root: Path, folder: FolderModel) -> None:
        assert folder.next_path is not None
        with open_index(folder.next_path) as index:
            assert index.background is not None, "it is calibrated before it is put in use"
        finish_change(root, folder)

    monkeypatch.setattr(recipe, "calibrate_and_note_news", conclude)
    monkeypatch.setattr(recipe, "finish_change", finish)

    def after_change(door: Door) -> Door:
        """Have the folder read with the first model, and then again with the second by this door."""

        def change(root: Path) -> None:
            if not index_path(root).exists():
                by_command(root)
                choose_model(root, models[1])
                assert folder_model(root).next_path is not None
                door(root)
                assert folder_model(root) == FolderModel(models[1], is_own=True)
            door(root)

        return change

    found, scores = [], []
    for n, door in enumerate((by_command, by_daemon, by_cluster), 1):
        found.append(indexed_twice(many, after_change(door) if changes_model else door))
        scores.append(
            {(kind, at): score for kind, all_ in found[-1].pop("scores").items() for at, score in enumerate(all_)}
        )
        assert len(concluded) >= (5 if changes_model else 3) * n
    assert found[0] == found[1] == found[2]
    assert scores[1:] == [pytest.approx(scores[0], abs=1e-3)] * 2
    assert [path for path, _ in found[0]["news"]] == [str(many / f"{N_FILES}.md")]
