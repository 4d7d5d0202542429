"""Which model the user has chosen, and the encoder that runs it."""

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from longsearch.app.paths import expanded, speed_path
from longsearch.app.settings.reading import current
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.engine.inference.cutter import PassageCutter
    from longsearch.engine.inference.opening import AnyEncoder
    from longsearch.engine.inference.query_encoder import QueryEncoder
    from longsearch.engine.models.identity import ModelIdentity

log = logging.getLogger("longsearch.encoders")

_ALIASES = {"english": "bundled"}


def chosen_model() -> str:
    """Return the model of folders without one of their own: the one that the settings name, or `bundled`."""
    return resolved(current().model)


def resolved(name: str) -> str:
    """Return the name of a model as indexes keep it: of one that ships with longsearch, a folder, or one on the hub."""
    name = _ALIASES.get(name, name)
    folder = expanded(name)
    if name == "bundled" or not os.path.isdir(folder):  # noqa: PTH112
        return name
    from longsearch.engine.models.hub import SHIPPED

    return name if name in SHIPPED else os.path.abspath(folder)  # noqa: PTH100


def open_encoder(model: str | None = None) -> "AnyEncoder":
    """Load a model, or else the chosen one (1 to 2 s), in the number format of the settings. Raises ModelError.

    Raises LongsearchError if LONGSEARCH_DTYPE names no number format.
    """
    from longsearch.engine.inference import opening

    measured = None
    with suppress(LongsearchError):  # without a home folder nothing is kept
        measured = speed_path()
    return opening.open_encoder(model or chosen_model(), dtype=current("dtype").dtype, measured=measured)


def open_query_encoder(model: str | None = None) -> "QueryEncoder | AnyEncoder":
    """Open what encodes the queries of a model: without torch (0.2 s) if it can be. Raises ModelError."""
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(model or chosen_model()) or open_encoder(model)


def open_numpy_queries(cutter: "PassageCutter", model: str | None = None) -> "QueryEncoder | None":
    """As `open_query_encoder`, but None if torch is needed. `cutter` lends its tokenizer."""
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(model or chosen_model(), cutter.tokenizer)


def open_cutter(model: str | None = None) -> "PassageCutter":
    """Open a model's tokenizer and passage rules, without its weights (0.1 s). Raises ModelError."""
    from longsearch.engine.inference.cutter import PassageCutter

    return PassageCutter.open(model or chosen_model())


def chosen_identity(model: str | None = None) -> "ModelIdentity":
    """Return the identity of a model without loading it (0.1 s). Raises ModelError."""
    from longsearch.engine.models.identity import identify

    return identify(model or chosen_model())
