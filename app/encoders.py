"""Which model the user has chosen, and the encoder that runs it."""

import logging
import os
from typing import TYPE_CHECKING

from longsearch.app.paths import calibration_path, expanded
from longsearch.engine.errors import LongsearchError

if TYPE_CHECKING:
    from longsearch.engine.inference.cutter import PassageCutter
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.inference.query_encoder import QueryEncoder
    from longsearch.engine.models.identity import ModelIdentity
    from longsearch.engine.store.session import Session

log = logging.getLogger("longsearch.encoders")

CALIBRATE_FROM_TOKENS = 200_000
"""Measure the fastest slice size (3 s) only if at least this many tokens wait: half a minute of work or more."""

MODEL_VARIABLE = "LONGSEARCH_MODEL"
THINK_VARIABLE = "LONGSEARCH_THINK"
DTYPE_VARIABLE = "LONGSEARCH_DTYPE"


def chosen_model() -> str:
    """Return `bundled`, or the model that LONGSEARCH_MODEL names: a folder, or the name of a downloaded model."""
    name = os.environ.get(MODEL_VARIABLE, "").strip() or "bundled"
    folder = expanded(name)
    return os.path.abspath(folder) if os.path.isdir(folder) and name != "bundled" else name  # noqa: PTH100, PTH112


def open_encoder() -> "Encoder":
    """Load the chosen model (1 to 2 s), in the number format that LONGSEARCH_DTYPE asks for. Raises ModelError."""
    from longsearch.engine.inference.encoder import Encoder

    return Encoder.open(chosen_model(), dtype=os.environ.get(DTYPE_VARIABLE, "").strip() or "auto")


def open_query_encoder() -> "QueryEncoder | Encoder":
    """Open what encodes the queries of the chosen model: without torch (0.2 s) if it can be. Raises ModelError."""
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(chosen_model()) or open_encoder()


def open_numpy_queries(cutter: "PassageCutter") -> "QueryEncoder | None":
    """As `open_query_encoder`, but None if torch is needed. `cutter` lends its tokenizer."""
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(chosen_model(), cutter.tokenizer)


def open_cutter() -> "PassageCutter":
    """Open the chosen model's tokenizer and passage rules, without its weights (0.1 s). Raises ModelError."""
    from longsearch.engine.inference.cutter import PassageCutter

    return PassageCutter.open(chosen_model())


def chosen_identity() -> "ModelIdentity":
    """Return the identity of the chosen model without loading it (0.1 s). Raises ModelError."""
    from longsearch.engine.models.identity import identify

    return identify(chosen_model())


def thinking(steps: int | None) -> int | None:
    """Return the number of soft tokens of queries: `steps`, or what LONGSEARCH_THINK says, or None for the model's own.

    Raises LongsearchError if that is no number, or if the chosen model cannot think. Loads no weights (0.1 s).
    """
    said = os.environ.get(THINK_VARIABLE, "").strip()
    if steps is None and said:
        if not said.isdecimal():
            raise LongsearchError(f"{THINK_VARIABLE} is {said!r}", "give a number of soft tokens, such as 10")
        steps = int(said)
    if steps is not None:
        from longsearch.engine.models.config import check_thinking, read_config
        from longsearch.engine.models.hub import locate

        check_thinking(read_config(locate(chosen_model()).folder / "config.json")[1], steps)
    return steps


def tune(encoder: "Encoder", session: "Session") -> None:
    """Set the encoder's slice size (V) to the fastest on this machine; measure first if many tokens wait."""
    from longsearch.engine.inference.calibration import calibrated_size

    progress = session.progress()
    may_measure = progress.n_tokens - progress.n_tokens_embedded >= CALIBRATE_FROM_TOKENS
    try:
        size = calibrated_size(encoder, calibration_path(), may_measure)
    except OSError as error:  # indexing goes on without the cache
        log.warning("the fastest slice size was not saved: %s", error)
        return
    encoder.vertical_size = size or encoder.vertical_size
