"""Runs a Mamba2 at part of its width: the first heads of every layer (MatMamba, Shukla et al., arXiv 2410.06718).

A width keeps a fraction of a layer's heads:

    in_proj     their rows of z, x and dt; all rows of B and C
    conv1d      their channels of x; all channels of B and C
    A, D, dt bias, norm weight, columns of out_proj    those of the heads
    MLP         the same fraction of its channels (MatFormer, Devvrit et al., arXiv 2310.07707)

All widths share the weights, and the vectors of all widths share one space. Knows no text, training or files.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State, empty_state
from longsearch.engine.models.probes import Probes
from longsearch.engine.models.weights import ALWAYS_FLOAT32
from longsearch.engine.models.without_torch.heads import heads_of, kept_parts


def slice_parameters(parameters: Mapping[str, Tensor], config: Mamba2Config, heads: Sequence[int]) -> dict[str, Tensor]:
    """Return the parameters of the model whose layers keep their first `heads`. Gradients reach the full parameters."""
    sliced = dict(parameters)
    for layer, kept in enumerate(heads):
        if kept == config.n_heads:
            continue
        prefix = f"layers.{layer}."
        for name, dim, pieces in kept_parts(config, kept):
            if (full := parameters.get(prefix + name)) is not None:
                parts = [full.narrow(dim, start, length) for start, length in pieces]
                sliced[prefix + name] = parts[0] if len(parts) == 1 else torch.cat(parts, dim)
    return sliced


def at_width(model: nn.Module, width: float | Sequence[float]) -> Mamba2:
    """Return a model of its own at `width`. It shares the embedding with `model`; other weights are copies.

    Raises ModelError as `heads_of` does, and for families other than Mamba2.
    """
    if not isinstance(model, Mamba2):
        raise ModelError("this model cannot be run at part of its width", "only MatMamba models have widths")
    heads = heads_of(model.config, width)
    with torch.device("meta"):
        narrow = Mamba2(model.config, heads)
    parameters = slice_parameters(model.state_dict(), model.config, heads)
    narrow.load_state_dict({name: tensor.contiguous() for name, tensor in parameters.items()}, assign=True)
    narrow.block_size = model.block_size
    return narrow.train(model.training).requires_grad_(False)


class NestedMamba2:
    """Runs one full model at any of its widths, for training: gradients reach the full weights."""

    def __init__(self, model: Mamba2, dtype: torch.dtype = torch.float32) -> None:
        """Matrix products run in `dtype`; the weights of `model` keep their own dtype."""
        self.model = model
        self.dtype = dtype
        self._shells: dict[tuple[int, ...], _Step] = {}

    def step(
        self, embedded: Tensor, state: Mamba2State | None, width: float | Sequence[float], probes: Probes | None = None
    ) -> tuple[Tensor, Mamba2State]:
        """Read a slice at `width`, as `Mamba2.step_embedded` does. None is the state before the first token."""
        config = self.model.config
        heads = heads_of(config, width)
        if heads not in self._shells:
            with torch.device("meta"):
                self._shells[heads] = _Step(Mamba2(config, heads))
        shell = self._shells[heads]
        shell.model.block_size = self.model.block_size
        cast = {f"model.{name}": self._cast(name, p) for name, p in self.parameters(width).items()}
        if state is None:
            state = empty_state(config, heads, embedded.shape[0], embedded)
        hidden, state = functional_call(shell, cast, (embedded, state, probes))
        return hidden, state

    def parameters(self, width: float | Sequence[float]) -> dict[str, Tensor]:
        """Return the parameters of the layers at `width`, by name, in the dtype in which they are trained."""
        trained = {name: p for name, p in self.model.named_parameters() if not name.startswith("embeddings.")}
        return slice_parameters(trained, self.model.config, heads_of(self.model.config, width))

    def _cast(self, name: str, parameter: Tensor) -> Tensor:
        return parameter if name.endswith(ALWAYS_FLOAT32) else parameter.to(self.dtype)


class _Step(nn.Module):
    """Makes `functional_call`, which calls `forward`, run `step_embedded`."""

    def __init__(self, model: Mamba2) -> None:
        super().__init__()
        self.model = model

    def forward(self, embedded: Tensor, state: Mamba2State, probes: Probes | None) -> tuple[Tensor, Mamba2State]:
        return self.model.step_embedded(embedded, state, probes)
