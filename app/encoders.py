"""Which model this person uses, and the encoder that runs it."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.inference import Encoder

MODEL_VARIABLE = "LONGSEARCH_MODEL"


def chosen_model() -> str:
    """`bundled`, or what the environment says: a model's folder, or the name of one that was downloaded."""
    return os.environ.get(MODEL_VARIABLE, "").strip() or "bundled"


def open_encoder() -> "Encoder":
    """Load the chosen model (a second or two). Raises ModelError."""
    from engine.inference import Encoder

    return Encoder.open(chosen_model())
