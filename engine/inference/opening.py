"""Opens the encoder that can read with a model here: `Encoder`, or without torch `NumpyEncoder`. Loads neither."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Union

from longsearch.engine.errors import ModelError, install_hint
from longsearch.engine.widths import Width

if TYPE_CHECKING:
    from longsearch.engine.inference.encoder import Encoder
    from longsearch.engine.inference.numpy_encoder import NumpyEncoder

AnyEncoder = Union["Encoder", "NumpyEncoder"]
"""A loaded model that reads documents and queries."""


def has_torch() -> bool:
    """Return whether torch is installed."""
    return find_spec("torch") is not None


def require_torch(what: str) -> None:
    """Raise ModelError if torch is not installed, which `what` needs."""
    if not has_torch():
        raise ModelError(f"{what} needs torch, which is not installed", install_hint("torch"))


def open_encoder(
    model: str | Path = "bundled",
    device: str = "auto",
    dtype: str = "auto",
    width: Width = 1.0,
    measured: Path | None = None,
) -> AnyEncoder:
    """Load a model, named as for `Encoder.open`, with torch if it is installed. Raises ModelError.

    `measured` is the file that keeps the speeds of the number formats; without one none is measured.
    """
    if has_torch():
        from longsearch.engine.inference.calibration import measured_formats
        from longsearch.engine.inference.encoder import Encoder

        speeds = None
        if measured and dtype == "auto" and device in ("auto", "cpu"):
            speeds = measured_formats(model, measured)
        return Encoder.open(model, device, dtype, width=width, speeds=speeds)
    from longsearch.engine.inference.numpy_encoder import NumpyEncoder

    if device.startswith("cuda"):
        raise ModelError("a GPU needs torch", install_hint("torch"))
    if not isinstance(width, float | int):
        raise ModelError("a width for each layer needs torch", install_hint("torch"))
    return NumpyEncoder.open(model, dtype).at(width)
