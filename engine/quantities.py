"""Reads quantities in a text: numbers with their units, such as "12.5 cm", "3 million" or "40-60 kg". Pure.

A small table, not pint: units are only recognised and named, nothing is computed with them but thousands and millions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TIMES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_NAMED = {
    "ms": "milliseconds? millis msec", "s": "seconds? secs?", "min": "minutes? mins?", "h": "hours? hrs?",
    "d": "days?", "wk": "weeks?", "mo": "months?", "yr": "years?", "µs": "μs microseconds? usec",
    "ns": "nanoseconds?", "m": "met(?:er|re)s?", "cm": "centimet(?:er|re)s?", "mm": "millimet(?:er|re)s?",
    "km": "kilomet(?:er|re)s?", "in": "inch(?:es)?", "ft": "feet foot", "mi": "miles?", "kg": "kilograms? kilos?",
    "g": "grams?", "mg": "milligrams?", "t": "tonnes?", "lb": "pounds? lbs", "l": "lit(?:er|re)s? L", "ml": "mL",
    "%": "per\\s?cent percent", "°C": "degrees\\sCelsius", "°F": "degrees\\sFahrenheit", "K": "kelvins?",
    "Hz": "hertz", "kHz": "", "MHz": "", "GHz": "", "V": "volts?", "A": "amperes? amps?", "W": "watts?", "kW": "",
    "kWh": "", "J": "joules?", "kJ": "", "N": "newtons?", "Pa": "pascals?", "kPa": "", "MPa": "", "bar": "bars",
    "B": "bytes?", "kB": "KB kilobytes?", "MB": "megabytes?", "GB": "gigabytes?", "TB": "terabytes?",
    "bit": "bits", "Mbit/s": "Mbps Mbit/sec Mb/s", "Gbit/s": "Gbps Gbit/sec Gb/s", "€": "EUR euros?",
    "$": "USD dollars?", "£": "GBP", "mol": "moles?", "ha": "hectares?", "m²": "m2", "m³": "m3",
}  # fmt: skip
"""Unit -> its other spellings."""
_UNIT_OF = [(unit, [re.escape(unit), *other.split()]) for unit, other in _NAMED.items()]
_UNITS = "|".join(
    f"(?P<u{number}>{'|'.join(sorted(spellings, key=len, reverse=True))})"
    for number, (_, spellings) in sorted(enumerate(_UNIT_OF), key=lambda one: -max(map(len, one[1][1])))
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_QUANTITY = re.compile(
    rf"(?<![\w.,])(?<!\w-)(?P<sign>[-\u2212])?(?P<money>[€$£]\s?)?(?P<low>{_NUMBER})"
    rf"(?:\s?(?:-|\u2013|to)\s?(?P<high>{_NUMBER}))?(?:\s?(?P<times>{'|'.join(_TIMES)}))?"
    rf"(?:[\s-]?(?:{_UNITS})(?![\w/]))?(?!\w|[.,]\d)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text, with its unit."""

    low: float
    high: float
    """The same as `low`, unless the text gives a range."""
    unit: str
    """In its usual sign; "" for a bare number."""
    start: int
    stop: int


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the quantities of a text, in order."""
    for found in _QUANTITY.finditer(text):
        times = _TIMES.get(found["times"] or "", 1.0) * (-1 if found["sign"] else 1)
        low = float(found["low"].replace(",", "")) * times
        high = float(found["high"].replace(",", "")) * times if found["high"] else low
        unit = next((unit for number, (unit, _) in enumerate(_UNIT_OF) if found[f"u{number}"]), "")
        yield Quantity(low, high, unit or (found["money"] or "").strip(), *found.span())
