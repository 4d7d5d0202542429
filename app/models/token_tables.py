"""The token table of a folder's model, by which the sentences that answer are chosen."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.models.folder_models import folder_model
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.engine.answers.token_table import TokenTable


def token_table(root: Path) -> "TokenTable | None":
    """Return the table of a root's model; None if the model is not here, or if only torch can read it."""
    return _opened(folder_model(root).model)


@lru_cache(maxsize=2)
def _opened(model: str) -> "TokenTable | None":
    from longsearch.engine.answers.token_table import TokenTable

    try:
        return TokenTable.open(model)
    except LongsearchError:
        return None
