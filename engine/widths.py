"""The notation of a model's widths: `1`, `1/2`, `0.5`, or one fraction for each layer: `1,1/2,1/2,1`. Knows no models.

A width is the fraction of a MatMamba model's heads that is run (`engine.models.matmamba`).
"""

from argparse import ArgumentTypeError

from longsearch.engine.late_patterns import late_pattern

Width = float | tuple[float, ...]
"""One fraction for all layers, or one for each layer (Mix'n'Match)."""

WISHES = ("auto", "1", "1/2", "1/4", "1/8")
"""The widths that a person may ask for when documents are indexed."""

_FRACTION = late_pattern(r"[0-9]{1,6}/[0-9]{1,6}|[0-9]{0,6}\.?[0-9]{1,12}")
_LARGEST_DENOMINATOR = 1024


def parse_width(text: str) -> Width:
    """Read a width from the command line; for argparse. Raises ArgumentTypeError, which says how to write one."""
    fractions = tuple(_fraction(part.strip(), text) for part in text.split(","))
    return fractions if len(fractions) > 1 else fractions[0]


def parse_wish(text: str) -> float | None:
    """Read the width that a person asks for, one of `WISHES`; None for `auto`. Raises ArgumentTypeError."""
    try:
        name = "auto" if text == "auto" else as_fractions(parse_width(text))
    except ArgumentTypeError:
        name = ""
    if name not in WISHES:
        raise ArgumentTypeError("must be auto, 1, 1/2, 1/4 or 1/8")
    return None if name == "auto" else _fraction(name, name)


def _fraction(part: str, text: str) -> float:
    above, _, below = part.partition("/")
    value = float(above) / (float(below or 1) or float("inf")) if _FRACTION.fullmatch(part) else 0.0
    if not 0 < value <= 1:
        said = f"{part!r} in {text!r}" if part != text else repr(text)
        raise ArgumentTypeError(
            f"{said} is not a fraction above 0 and at most 1; write 0.5, 1/2, or one for each layer: 1,1/2,1/2,1"
        )
    return value


def as_decimals(width: Width) -> str:
    """Write a width with decimals: 0.5, or 1,0.5,0.5,1. `parse_width` reads it."""
    return ",".join(f"{fraction:g}" for fraction in per_layer(width))


def as_fractions(width: Width) -> str:
    """Write a width with fractions: 1/2, or 1,1/2,1/2,1. `parse_width` reads it."""
    return ",".join(_as_fraction(fraction) for fraction in per_layer(width))


def _as_fraction(value: float) -> str:
    # by hand, because `fractions` takes milliseconds to import, which every command would wait for
    for below in range(1, _LARGEST_DENOMINATOR + 1):
        if abs(value - (above := round(value * below)) / below) < 1e-6:
            return f"{above}/{below}" if below > 1 else f"{above}"
    return f"{value:g}"


def per_layer(width: Width) -> tuple[float, ...]:
    """Return the fraction of each layer, or the only one for all layers."""
    return width if isinstance(width, tuple) else (width,)


def mean_width(width: Width) -> float:
    """Return the mean of the layers' fractions."""
    fractions = per_layer(width)
    return sum(fractions) / len(fractions)
