"""Reads weights without torch: the layers at one width, and the rows of some tokens.

The table of tokens is two thirds of the bundled model, and a query needs ten of its rows; a document needs the table.
It may be stored in 8 bits (`engine.models.embedding`). Knows no text.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.weight_files import weight_files
from longsearch.engine.models.without_torch.heads import at_heads, heads_of, kept_parts
from longsearch.engine.models.without_torch.query_model import Array, Layer

_TABLE, _TOKEN_WEIGHT, _PROJECTION = "embeddings.weight", "readout.token_log_weight", "readout.projection.weight"
_SCALES = _TABLE + ".scale"
_NUMPY_DTYPES = {"F16", "F32"}


class QueryWeights:
    """The open files of a checkpoint that `engine.models.without_torch.query_model` can run with the readout `mean`.

    The files stay open and mapped: if others replace them, these weights still have the fingerprint. Reading is safe
    from any thread.
    """

    def __init__(self, config: Mamba2Config, tensors: dict[str, Any]) -> None:
        """Call `open_query_weights`."""
        self.config = config
        self._tensors = tensors
        self.projection: Array = self._whole(_PROJECTION)
        """(dim, d_model)"""
        self.vocabulary_size = config.vocab_size
        self._token_weight: Array = np.exp(self._whole(_TOKEN_WEIGHT))
        self._scales: Array | None = self._whole(_SCALES) if _SCALES in tensors else None
        self._table: NDArray[Any] | None = None

    def load_table(self) -> None:
        """Read the whole table of tokens, as it is stored: a document needs most of its rows."""
        self._table = self._tensors[_TABLE][:]

    def layers(self, width: float, of: type[Layer] = Layer) -> list[Layer]:
        """Return the layers at `width`. Raises ModelError as `heads_of` does."""
        heads = heads_of(self.config, width)
        return [self._layer(i, n, of) for i, n in enumerate(heads)]

    def rows(self, ids: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return the embeddings (n, d_model) and the weights in the mean (n,) of the distinct tokens `ids`."""
        if self._table is not None:
            rows = self._table[ids].astype(np.float32)
        else:
            table = self._tensors[_TABLE]
            rows = np.concatenate([table[i : i + 1] for i in ids.tolist()]).astype(np.float32)
        if self._scales is not None:
            rows *= self._scales[ids][:, None]
        return rows, self._token_weight[ids]

    def _layer(self, number: int, heads: int, of: type[Layer]) -> Layer:
        config = self.config
        prefix = f"layers.{number}."
        kept = {name: (dim, parts) for name, dim, parts in kept_parts(config, heads)} if heads < config.n_heads else {}
        weights = {}
        for name in layer_shapes(config):
            dim, parts = kept.get(name, (0, None))
            stored = self._tensors[prefix + name]
            if parts is None:
                weights[name] = self._whole(prefix + name)
            else:
                slices = [slice(start, start + length) for start, length in parts]
                cut = [stored[part] if dim == 0 else stored[:, part] for part in slices]
                weights[name] = np.concatenate(cut, axis=dim).astype(np.float32)
        return of(at_heads(config, heads), weights)

    def _whole(self, name: str) -> Array:
        whole: Array = self._tensors[name][:].astype(np.float32)
        return whole


def open_query_weights(folder: Path, config: Mamba2Config) -> QueryWeights | None:
    """Open a checkpoint, or return None if its tensors have other names, shapes or formats than this module reads.

    Then `engine.models.weights.load_mamba2` reads it, or says what is wrong. Raises ModelError if a file is damaged.
    """
    try:
        tensors = dict(_tensors(weight_files(folder)))
    except (SafetensorError, OSError) as error:
        raise ModelError(f"cannot read {folder}: {error}", "copy the model again: a file is damaged") from error
    shapes = {name: tuple(tensor.get_shape()) for name, tensor in tensors.items()}
    expected = _shapes(config)
    expected[_PROJECTION] = (shapes.get(_PROJECTION, (0,))[0], config.d_model)
    dtypes = {name: tensor.get_dtype() for name, tensor in tensors.items()}
    if dtypes.get(_TABLE) == "I8" and shapes.get(_SCALES) == (config.vocab_size,):
        del dtypes[_TABLE]
        expected[_SCALES] = (config.vocab_size,)
    if shapes != expected or not set(dtypes.values()) <= _NUMPY_DTYPES:
        return None
    return QueryWeights(config, tensors)


def layer_shapes(config: Mamba2Config) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of a full layer."""
    c, d_mlp = config, config.d_mlp or 0
    return {
        "mixer.in_proj.weight": (c.d_inner + c.d_conv_channels + c.n_heads, c.d_model),
        "mixer.in_proj.bias": (c.d_inner + c.d_conv_channels + c.n_heads,),
        "mixer.conv1d.weight": (c.d_conv_channels, 1, c.d_conv),
        "mixer.conv1d.bias": (c.d_conv_channels,),
        "mixer.dt_bias": (c.n_heads,),
        "mixer.A_log": (c.n_heads,),
        "mixer.D": (c.n_heads,),
        "mixer.norm.weight": (c.d_inner,),
        "mixer.out_proj.weight": (c.d_model, c.d_inner),
        "mixer.out_proj.bias": (c.d_model,),
        "mixer_norm.weight": (c.d_model,),
        "mixer_norm.bias": (c.d_model,),
        "mlp.up.weight": (d_mlp, c.d_model),
        "mlp.up.bias": (d_mlp,),
        "mlp.down.weight": (c.d_model, d_mlp),
        "mlp.down.bias": (c.d_model,),
        "mlp_norm.weight": (c.d_model,),
        "mlp_norm.bias": (c.d_model,),
    }


def _shapes(config: Mamba2Config) -> dict[str, tuple[int, ...]]:
    """Return the shape of each tensor of the model but the projection, whose rows config.json may not say."""
    layers = {
        f"layers.{i}.{name}": shape for i in range(config.n_layers) for name, shape in layer_shapes(config).items()
    }
    return layers | {_TABLE: (config.vocab_size, config.d_model), _TOKEN_WEIGHT: (config.vocab_size,)}


def _tensors(files: Iterable[Path]) -> Iterable[tuple[str, Any]]:
    """Yield the tensors of a checkpoint, not yet read, under this package's names."""
    for path in files:
        file = safe_open(path, framework="numpy")
        for name in file.keys():  # noqa: SIM118 - safe_open has no __iter__
            yield name.removeprefix("backbone.").removeprefix("model."), file.get_slice(name)
