"""Which heads of each layer a width keeps, and which parts of the weights belong to them. Pure: sizes in, parts out.

`engine.models.matmamba` says what a width is.
"""

from collections.abc import Sequence
from dataclasses import replace

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config


def heads_of(config: Mamba2Config, width: float | Sequence[float]) -> tuple[int, ...]:
    """Return how many heads each layer keeps at `width`: one fraction for all layers, or one for each (Mix'n'Match).

    Raises ModelError if a fraction is outside (0, 1], does not divide the heads or the MLP's channels, or if there are
    not as many fractions as layers. Raises it too for models with several groups of B and C or of the gated norm: the
    last heads of such a model cannot be cut off.
    """
    widths = [width] * config.n_layers if isinstance(width, float | int) else list(width)
    if len(widths) != config.n_layers or not all(0 < w <= 1 for w in widths):
        raise ModelError(f"widths {widths} do not fit {config.n_layers} layers", "a width is a fraction such as 0.5")
    if all(w == 1 for w in widths):
        return (config.n_heads,) * config.n_layers
    if config.n_groups != 1 or config.gated_norm_groups not in (0, 1):
        raise ModelError("this model cannot be run at part of its width", "only models with one group have widths")
    return tuple(_whole_heads(config, w) for w in widths)


def _whole_heads(config: Mamba2Config, width: float) -> int:
    """Return the heads of one layer at `width`. Raises ModelError, with the nearest widths, if they are not whole."""
    exact, d_mlp = width * config.n_heads, config.d_mlp or 0
    possible = [n for n in range(1, config.n_heads + 1) if d_mlp * n % config.n_heads == 0]
    if round(exact) in possible and abs(exact - round(exact)) < 0.02:  # a third may be given as 0.333
        return round(exact)
    nearest = [n for n in possible if n < exact][-1:] + [n for n in possible if n > exact][:1]
    usable = " or ".join(f"{n / config.n_heads:.4g} ({n} of {config.n_heads} heads)" for n in nearest)
    of = f"{config.n_heads} heads" + (f" and {d_mlp} MLP channels" if d_mlp else "")
    raise ModelError(f"width {width:g} does not divide this model's {of} evenly", f"use {usable}")


def check_trained(width: float | Sequence[float], trained: Sequence[float]) -> None:
    """Raise ModelError if any layer would be narrower than the narrowest width that the model was trained at.

    A model that was trained at full width alone does not order its heads by importance, so its first heads are another
    model with another vector space. Widths between trained widths are allowed (MatMamba, section 3.4).
    """
    widths = [width] if isinstance(width, float | int) else width
    least = min(trained)
    if any(w < least for w in widths):
        lowest = "its full width alone" if least == 1 else f"widths down to {least:g}"
        hint = "only MatMamba models can be narrower" if least == 1 else f"use a width from {least:g} to 1"
        raise ModelError(f"this model was trained at {lowest}, not at width {min(widths):g}", hint)


def at_heads(config: Mamba2Config, heads: int) -> Mamba2Config:
    """Return the config of a layer with `heads` heads. Its MLP, if it has one, is narrower by the same ratio."""
    d_mlp = None if config.d_mlp is None else max(1, config.d_mlp * heads // config.n_heads)
    return replace(config, n_heads=heads, d_mlp=d_mlp)


def kept_parts(config: Mamba2Config, kept: int) -> list[tuple[str, int, list[tuple[int, int]]]]:
    """Return which parts of its tensors a layer with `kept` heads keeps: (tensor, dimension, parts as (start, length)).

    in_proj is [z, x, B, C, dt], conv1d is [x, B, C].
    """
    channels, mlp = kept * config.head_dim, [(0, at_heads(config, kept).d_mlp or 0)]
    full, BC = config.d_inner, 2 * config.n_groups * config.d_state
    rows = [(0, channels), (full, channels), (2 * full, BC), (2 * full + BC, kept)]
    convolved = [(0, channels), (full, BC)]
    return [
        ("mixer.in_proj.weight", 0, rows),
        ("mixer.in_proj.bias", 0, rows),
        ("mixer.conv1d.weight", 0, convolved),
        ("mixer.conv1d.bias", 0, convolved),
        ("mixer.dt_bias", 0, [(0, kept)]),
        ("mixer.A_log", 0, [(0, kept)]),
        ("mixer.D", 0, [(0, kept)]),
        ("mixer.norm.weight", 0, [(0, channels)]),
        ("mixer.out_proj.weight", 1, [(0, channels)]),
        ("mlp.up.weight", 0, mlp),
        ("mlp.up.bias", 0, mlp),
        ("mlp.down.weight", 1, mlp),
    ]
