"""The daemon notes by itself which new documents answer a saved search."""

from pathlib import Path

import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.evidence.saving import save
from longsearch.app.folders.listing import indexed_folders
from longsearch.app.models.query_vectors import from_daemon
from longsearch.app.user_data.saved import SavedSearch, SavedSearches
from longsearch.engine.types.results import SearchMode
from tests.app.app_helpers import current, wait_until


def news(name: str) -> list[str]:
    return [Path(one.path).name for one in SavedSearches().named(name).news]


@pytest.mark.usefixtures("daemon")
def test_the_daemon_notes_a_new_document_that_answers_a_saved_search(root: Path) -> None:
    backend = AppBackend(root)
    assert backend.start() == ""
    wait_until(lambda: current(backend) == {"tides.md", "violin.md"})
    search = SavedSearch("Valves", "valve coolant", SearchMode.WORDS)
    save(search, indexed_folders(), from_daemon)
    (root / "other.md").write_text("# Bread\n\nIt rises over night.\n")
    (root / "pump.md").write_text("# The pump\n\nThe valve stayed open, and the coolant was lost.\n")
    wait_until(lambda: news("Valves") == ["pump.md"])
    SavedSearches().look("Valves")
    (root / "third.md").write_text("# A third\n\nAnother valve let its coolant out.\n")
    wait_until(lambda: news("Valves") == ["third.md"])
