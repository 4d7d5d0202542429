"""Names colours as people do. Pure."""

import colorsys

_HUES = ((0.045, "red"), (0.11, "orange"), (0.2, "yellow"), (0.46, "green"), (0.7, "blue"), (0.8, "purple"))
_PINK, _RED = 0.95, "red"
_PLAIN = 0.15
"""The saturation below which a colour has no name but gray."""


def color_name(color: str) -> str:
    """Return what people call a colour such as "#ffd400"."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    if saturation < _PLAIN or value < _PLAIN:
        return "gray" if 0.2 < value < 0.95 else ("white" if value > 0.5 else "black")
    if hue >= _PINK:
        return _RED if saturation > 0.6 else "pink"
    return next((name for most, name in _HUES if hue < most), "pink")
