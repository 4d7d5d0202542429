"""Chooses the user's model and opens it."""

import logging
import os
from typing import TYPE_CHECKING

from app.paths import calibration_path, expanded
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.inference.cutter import PassageCutter
    from engine.inference.encoder import Encoder
    from engine.models.identity import ModelIdentity

log = logging.getLogger("longsearch.encoders")

CALIBRATE_FROM_TOKENS = 200_000
"""Tokens left to embed from which a calibration pays: they take half a minute or more, and a calibration takes 3 s."""

MODEL_VARIABLE = "LONGSEARCH_MODEL"


def chosen_model() -> str:
    """Return the model named in the environment (a folder, or the name of a downloaded model), or else `bundled`."""
    name = os.environ.get(MODEL_VARIABLE, "").strip() or "bundled"
    folder = expanded(name)
    return os.path.abspath(folder) if os.path.isdir(folder) and name != "bundled" else name  # noqa: PTH100, PTH112


def open_encoder() -> "Encoder":
    """Load the chosen model (1 to 2 s). Raises ModelError."""
    from engine.inference.encoder import Encoder

    return Encoder.open(chosen_model())


def open_cutter() -> "PassageCutter":
    """Open the chosen model's tokenizer and passage rules, without its weights (0.1 s). Raises ModelError."""
    from engine.inference.cutter import PassageCutter

    return PassageCutter.open(chosen_model())


def chosen_identity() -> "ModelIdentity":
    """Read the identity of the chosen model from its files, without loading it (0.1 s). Raises ModelError."""
    from engine.models.identity import identify

    return identify(chosen_model())


def tune(encoder: "Encoder", store: Store) -> None:
    """Set the encoder's V to the size that is fastest on this machine. Measures it only if much is left to embed."""
    from engine.inference.calibration import calibrated_size

    progress = store.progress()
    may_measure = progress.n_tokens - progress.n_tokens_embedded >= CALIBRATE_FROM_TOKENS
    try:
        size = calibrated_size(encoder, calibration_path(), may_measure)
    except OSError as error:  # without the cache indexing works too
        log.warning("the calibration of this machine cannot be cached: %s", error)
        return
    encoder.vertical_size = size or encoder.vertical_size
