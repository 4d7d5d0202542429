"""Query vectors: from the daemon's model if a daemon runs, else from a model opened in this process."""

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longsearch.app import rpc
from longsearch.app.models.encoders import chosen_model, open_query_encoder
from longsearch.app.paths import socket_path

if TYPE_CHECKING:
    from longsearch.engine.inference.opening import AnyEncoder
    from longsearch.engine.inference.query_encoder import QueryEncoder

ENCODE_TIMEOUT_S = 60.0  # the daemon may need to load torch and the model first
PATIENCE_S = 2.0
"""Seconds after which a search makes its vectors itself, where it can: the daemon reads documents at low priority."""
HURRY_S = 0.2
"""The same once this process has had to make one: its model is open then, and the daemon is busy."""
_made_here: set[str | None] = set()
"""The models with which the app has made vectors itself."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, and the model that made it."""

    vector: NDArray[np.float32]
    """(dim,), unit length."""
    fingerprint: str
    """The model's fingerprint: only vectors with the same fingerprint can be compared."""
    took_ms: float = 0.0
    """How long the model took, without the time to load it."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object for the socket."""
        vector = base64.b64encode(self.vector.tobytes()).decode()
        return {"vector": vector, "fingerprint": self.fingerprint, "took_ms": self.took_ms}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "QueryVector":
        """Read what `to_json` returned."""
        vector = np.frombuffer(base64.b64decode(raw["vector"]), np.float32)
        return cls(vector, raw["fingerprint"], raw.get("took_ms", 0.0))


def from_daemon(
    text: str,
    instruction: str | None,
    cancelled: Callable[[], bool] = lambda: False,
    steps: int | None = None,
    model: str | None = None,
    timeout_s: float = ENCODE_TIMEOUT_S,
) -> QueryVector:
    """Ask the daemon. Raises DaemonUnreachableError if none answers in time, or if the call is `cancelled`.

    `steps` is the number of soft tokens of a generative model, as in `Encoder.encode_query`. `model`: the name of the
    model of the folder that is searched; None for the daemon's own.
    """
    asked = {"text": text, "instruction": instruction, "steps": steps}
    if model is not None:  # a daemon of an older longsearch knows only its own
        asked["model"] = model
    return QueryVector.from_json(rpc.call(socket_path(), "encode", timeout_s, cancelled, **asked))


def from_here(
    text: str,
    instruction: str | None,
    open_model: "Callable[..., QueryEncoder | AnyEncoder]" = open_query_encoder,
    steps: int | None = None,
    model: str | None = None,
) -> QueryVector:
    """Make the vector in this process. `open_model` opens the model, or returns one that is open."""
    encoder = open_model() if model is None else open_model(model)
    began = time.perf_counter()
    vector = encoder.encode_query(text, instruction, steps)
    return QueryVector(vector, encoder.fingerprint, (time.perf_counter() - began) * 1000)


def from_anywhere(
    text: str,
    instruction: str | None,
    open_model: "Callable[..., QueryEncoder | AnyEncoder]" = open_query_encoder,
    steps: int | None = None,
    model: str | None = None,
    timeout_s: float = PATIENCE_S,
) -> QueryVector:
    """Ask the daemon; if none answers in time, make the vector here."""
    try:
        return from_daemon(text, instruction, steps=steps, model=model, timeout_s=timeout_s)
    except rpc.DaemonUnreachableError:
        return from_here(text, instruction, open_model, steps, model)


def without_torch(
    text: str,
    instruction: str | None,
    cancelled: Callable[[], bool] = lambda: False,
    steps: int | None = None,
    model: str | None = None,
    timeout_s: float = PATIENCE_S,
) -> QueryVector:
    """Ask the daemon; if none answers in time, make the vector here if that needs no torch, else wait for the daemon.

    For the app, which opens at once and stays small. Raises DaemonUnreachableError as `from_daemon` does.
    """
    try:
        patience_s = min(HURRY_S, timeout_s) if model in _made_here else timeout_s
        return from_daemon(text, instruction, cancelled, steps, model, patience_s)
    except rpc.DaemonUnreachableError:
        if cancelled():
            raise
    if encoder := _light(model):
        _made_here.add(model)
        return from_here(text, instruction, lambda *_: encoder, steps, model)
    return from_daemon(text, instruction, cancelled, steps, model)


@lru_cache(maxsize=2)
def _light(model: str | None) -> "QueryEncoder | None":
    from longsearch.engine.inference.query_encoder import QueryEncoder

    return QueryEncoder.open(model or chosen_model())
