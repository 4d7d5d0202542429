"""Which model this person uses, and the encoder that runs it."""

import logging
import os
from typing import TYPE_CHECKING

from app.paths import calibration_path, expanded

if TYPE_CHECKING:
    from engine.inference.cutter import PassageCutter
    from engine.inference.encoder import Encoder
    from engine.models.identity import ModelIdentity
    from engine.store.session import Session

log = logging.getLogger("longsearch.encoders")

CALIBRATE_FROM_TOKENS = 200_000
"""To be embedded: half a minute's work at least, against the 3 seconds it takes to measure how to do it fast."""

MODEL_VARIABLE = "LONGSEARCH_MODEL"


def chosen_model() -> str:
    """`bundled`, or what the environment says: a model's folder, or the name of one that was downloaded."""
    name = os.environ.get(MODEL_VARIABLE, "").strip() or "bundled"
    folder = expanded(name)
    return os.path.abspath(folder) if os.path.isdir(folder) and name != "bundled" else name  # noqa: PTH100, PTH112


def open_encoder() -> "Encoder":
    """Load the chosen model (a second or two). Raises ModelError."""
    from engine.inference.encoder import Encoder

    return Encoder.open(chosen_model())


def open_cutter() -> "PassageCutter":
    """Open the chosen model's tokenizer and passage rules, without its weights (0.1 s). Raises ModelError."""
    from engine.inference.cutter import PassageCutter

    return PassageCutter.open(chosen_model())


def chosen_identity() -> "ModelIdentity":
    """Of the chosen model, which is not loaded for it (0.1 s). Raises ModelError."""
    from engine.models.identity import identify

    return identify(chosen_model())


def tune(encoder: "Encoder", session: "Session") -> None:
    """Let the encoder read in slices of the size that is fastest here; measured where much is to be read."""
    from engine.inference.calibration import calibrated_size

    progress = session.progress()
    may_measure = progress.n_tokens - progress.n_tokens_embedded >= CALIBRATE_FROM_TOKENS
    try:
        size = calibrated_size(encoder, calibration_path(), may_measure)
    except OSError as error:  # a cache that cannot be written is no reason not to index
        log.warning("how fast this machine reads is not remembered: %s", error)
        return
    encoder.vertical_size = size or encoder.vertical_size
