"""Reads quantities in a text: numbers with their units, such as "12.5 cm", "3 million" or "40-60 kg". Pure.

In the index a quantity is one more word: its kind, and its value in one unit for each kind, so that words compare as
values do. A range, such as `>=40 kg`, is then the beginnings of those words that lie in it.

A table of units, not pint: to open pint's takes half a second of a process, and it knows no money.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from longsearch.engine.late_patterns import late_pattern

POINT = "\ue001"
"""Begins the word of a quantity, and is the decimal point of other words: FTS5 takes this private sign for a letter."""
TIMES = {
    "thousand": 1e3,
    **dict.fromkeys(("million", "millions", "millionen", "millones", "milioni", "mio", "mn"), 1e6),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "milliard", "milliards", "mrd", "bn"), 1e9),
    **dict.fromkeys(("trillion", "trillions", "tn"), 1e12),
    **dict.fromkeys(("lakh", "lakhs"), 1e5),
    **dict.fromkeys(("crore", "crores"), 1e7),
}
_TIMES_OF_MONEY = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "B": 1e9}
_KINDS = {
    "m": "nm 1e-9, µm 1e-6 micron um, mm 1e-3 millimeter millimetre, cm .01 centimeter centimetre zentimeter, dm .1,"
    " m 1 meter metre mètre metro, km 1e3 kilometer kilometre kilomètre kilómetro, in .0254 inch inches zoll,"
    " ft .3048 foot feet, yd .9144 yard, mi 1609.344 mile",
    "a": "mm² 1e-6 mm2, cm² 1e-4 cm2, m² 1 m2 sqm squaremeter squaremetre quadratmeter, km² 1e6 km2 squarekilometer"
    " squarekilometre quadratkilometer, ft² .09290304 sqft squarefoot squarefeet, mi² 2589988.11 squaremile,"
    " ha 1e4 hectare hektar, acre 4046.856",
    "v": "µl 1e-6, ml 1e-3 milliliter millilitre cc, cl .01, dl .1, l 1 liter litre litro, m³ 1e3 m3, cm³ 1e-3 cm3,"
    " gal 3.785411784 gallon, qt .946352946 quart, cup .2365882365 cups, tbsp .0147867648 tablespoon,"
    " tsp .0049289216 teaspoon",
    "g": "µg 1e-6 microgram, mg 1e-3 milligram, g 1 gram gramme gramm gramo, kg 1e3 kilogram kilogramme kilogramm"
    " kilogramo kilo, t 1e6 tonne tonnen tonelada, lb 453.59237 lbs pound, oz 28.349523 ounce",
    "s": "ns 1e-9 nanosecond, µs 1e-6 microsecond usec, ms 1e-3 millisecond millis msec, s 1 second sec sekunde"
    " sekunden seconde segundo, min 60 minute minuten minuto, h 3600 hour hr stunde stunden heure hora,"
    " d 86400 day tag tage tagen jour día dias, wk 604800 week woche wochen semaine semana,"
    " mo 2629800 month monat monate monaten mois meses, yr 31557600 year jahr jahre jahren ans années años",
    "c": "m/s 1, km/h .277777778 kph kmh, mph .44704",
    "k": "°C 1 degreecelsius degreescelsius, °F .555555556 degreefahrenheit degreesfahrenheit, K 1 kelvin",
    "f": "Hz 1 hertz, kHz 1e3, MHz 1e6, GHz 1e9",
    "u": "mV 1e-3 millivolt, V 1 volt, kV 1e3 kilovolt",
    "i": "µA 1e-6, mA 1e-3 milliampere milliamp, A 1 ampere amp",
    "w": "mW 1e-3 milliwatt, W 1 watt, kW 1e3 kilowatt, MW 1e6 megawatt, GW 1e9 gigawatt",
    "j": "J 1 joule, kJ 1e3 kilojoule, MJ 1e6 megajoule, Wh 3600, kWh 3.6e6, MWh 3.6e9, cal 4.184 calorie, kcal 4184",
    "n": "mN 1e-3, N 1 newton, kN 1e3",
    "p": "Pa 1 pascal, hPa 100, kPa 1e3, MPa 1e6, GPa 1e9, mbar 100, bar 1e5, psi 6894.757, mmHg 133.3224",
    "b": "bit .125, B 1 byte, kB 1e3 kilobyte, MB 1e6 megabyte, GB 1e9 gigabyte, TB 1e12 terabyte, PB 1e15 petabyte,"
    " KiB 1024, MiB 1048576, GiB 1073741824, TiB 1099511627776",
    "r": "kbit/s 125 kbps, Mbit/s 125e3 Mbps Mbit/sec Mb/s, Gbit/s 125e6 Gbps Gbit/sec Gb/s, MB/s 1e6, GB/s 1e9",
    "q": "% 1 percent prozent, ‰ .1",
    "e": "€ 1 EUR euro", "d": "$ 1 USD dollar", "l": "£ 1 GBP", "h": "₹ 1 INR Rs rupee", "t": "¥ 1 JPY yen",
    "z": "CHF 1", "o": "mmol 1e-3, mol 1 mole",
    "x": "dB 1 decibel", "y": "rpm 1",
}  # fmt: skip
"""The letter of a kind -> each of its units, what one is in the unit of the kind, and its names."""
_ZERO = {"°C": 273.15, "°F": 459.67}
"""What a temperature gets added before its unit is changed: kinds are compared from absolute zero."""


def _units() -> tuple[dict[str, tuple[str, float]], dict[str, str], dict[str, str]]:
    """Return (unit -> its kind and size, spelling -> unit, spelling in small letters -> unit if no other has it)."""
    factors, exact, loose = dict[str, tuple[str, float]](), dict[str, str](), dict[str, str]()
    for kind, listed in _KINDS.items():
        for unit, factor, *names in map(str.split, listed.split(", ")):
            factors[unit] = kind, float(factor)
            exact |= dict.fromkeys((unit, *names, *(f"{name}s" for name in names if len(name) > 3)), unit)
    for spelling, unit in exact.items():
        small = spelling.casefold()
        loose[small] = unit if loose.get(small, unit) == unit and len(small) > 1 else ""
    return factors, exact, loose


_FACTORS, _EXACT, _LOOSE = _units()


@lru_cache(maxsize=1024)
def _unit(typed: str) -> str:
    """The usual sign of a unit; "" for what is no unit."""
    word = "".join(typed.split())
    return _EXACT.get(word) or _LOOSE.get(word.casefold(), "")


GAP = "[ \u00a0\u2007\u2009\u202f]"
"""A space between the groups of a number's digits, of any kind."""
TIMES_WORDS = f"(?=[tmblcTMBLC])(?:{'|'.join(sorted(TIMES, key=len, reverse=True))})"
_DIGITS = rf"\d*(?:(?<=\d)[.,'’]\d+|(?<=\d){GAP}\d{{3}}(?!\d))*"
_MONEY = "€$£₹¥"
_CODES = "USD|EUR|GBP|INR|JPY|CHF"
_MONEY_BEFORE = rf"(?<=[{_MONEY}].)|(?<=[{_MONEY}]\s.)|(?<=\b(?:{_CODES})\s.)|(?<=\bRs\s.)|(?<=\bRs\.\s.)"
_POWER = r"(?:[eE]|\s?[×x]\s?10\^|(?<=\b10)\^)[-+\u2212]?\d{1,2}(?!\d)"
_PARTS = "¼½¾⅓⅔⅛⅜⅝⅞"
_PART = rf"\s?[{_PARTS}]|(?:\s\d)?/(?:2|3|4|8|16)(?!\d)"
_UNIT = (
    rf"degrees?\s[CF][a-z]+|per\s?cent|sq(?:uare)?\s[a-z]+|°\s?[CF]|[%‰{_MONEY}]|[^\W\d_]+(?:/[a-z]+|[²³]|(?<=m)[23])?"
)
QUANTITY = late_pattern(
    rf"(?P<low>[.\d](?<![\w.,/^].)(?<!\w-.)(?:(?<=\d)|(?=\d))(?P<money>{_MONEY_BEFORE})?{_DIGITS})"
    rf"(?P<power>{_POWER})?(?P<part>{_PART})?"
    rf"(?:\s?(?:-|\u2013|to|bis|à)\s?(?P<high>\d{_DIGITS}))?(?:\s?(?P<times>(?i:{TIMES_WORDS}))(?!\w)\.?)?"
    rf"(?:(?=(?:\s?[×x]\s?\d{_DIGITS}){{1,2}}\s?(?P<shared>[nµcmd]?m|inch(?:es)?|ft|feet)(?![\w/²³]))"
    rf"|(?P<gap>[\s\u2011-]?)(?P<unit>{_UNIT})(?![\w/]))?(?!\w|[.,]\d)"
)
"""A number, or a range of two, with the word behind it, which may be a unit; or with the length behind 12 × 20 cm."""
NEEDS = late_pattern(
    rf"[0{_PARTS}{_MONEY}](?:(?<![{_MONEY}])(?:[\s-]?[^\W\d_]| ?[%‰{_MONEY}°])|(?<=[{_MONEY}]) ?0)|A(?:AA|s\.?) 0"
)
"""What the shape of a text has in which a quantity has a unit (see `written_forms`)."""
_YEAR = late_pattern(r"(?:1[5-9]|20)\d0")
RANGE = late_pattern(
    rf"(?:(?P<sign>[~≈]|[<>]=?|[≤≥])\s?)?(?:(?P<money>[{_MONEY}])\s?)?"
    rf"(?P<low>[-\u2212]?[.\d]{_DIGITS})(?P<power>{_POWER})?(?:\.\.(?P=money)?(?P<high>[-\u2212]?[.\d]{_DIGITS}))?"
    rf"(?:\s?(?P<times>(?i:{TIMES_WORDS}))(?!\w))?"
    rf"(?(money)(?P<short>[{''.join(_TIMES_OF_MONEY)}])?(?![.,]\d)|\s?(?P<unit>{_UNIT}))(?![\w/])"
)
ANY_RANGE = r"(?=[~≈<>≤≥]|\S*\.\.)" + re.sub(r"\?P<(?!money)\w+>", "?:", RANGE.pattern)
"""`RANGE` as a part of another expression."""
_WHOLE = late_pattern(r"(\d{1,9})\.\.(\d{1,9})")
MOST_WHOLE = 200
"""Numbers in a range without a unit. The index holds no values of bare numbers, so each is looked up as a word."""
_ABOUT = 0.05
"""How far a value may be from that of `~120 mm`, as a share of it."""
_N_DIGITS = 6  # of a word: two of the exponent, which is above 0 for all that is measured, and four of the value


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
    readings: tuple[float, ...]
    """All that its ends may mean: 1.234 is above a thousand or below two."""

    def words(self) -> Iterator[str]:
        """Yield the words of the index that stand for its values; none for a bare number."""
        for value in self.readings if self.unit else ():
            yield f"{POINT}{_FACTORS[self.unit][0]}{_key(_in_base(value, self.unit))}"


@dataclass(frozen=True, slots=True)
class Amounts:
    """The values of one kind from `low` to `high`, both included, as keys of the index."""

    kind: str
    low: int
    high: int

    def begins(self) -> list[str]:
        """The beginnings of the words of the index that stand for these values; of a few digits where that is all."""
        return [f"{POINT}{self.kind}{digits}" for digits in _covering(self.low, self.high, "")]

    def has(self, quantity: Quantity) -> bool:
        """Whether one of the values that the text may mean is among these."""
        keys = (word.removeprefix(POINT) for word in quantity.words())
        return any(key[0] == self.kind and self.low <= int(key[1:]) <= self.high for key in keys)


def quantities(text: str, start: int = 0, stop: int = sys.maxsize) -> Iterator[Quantity]:
    """Return the quantities of a text between `start` and `stop`, in order."""
    return filter(None, map(quantity, QUANTITY.finditer(text, start, stop)))


def words(found: re.Match[str]) -> Iterator[str]:
    """Return the words of the index for what `QUANTITY` found: none without a unit, which is told first and quickly."""
    read = quantity(found) if found["money"] is not None or _unit(found["unit"] or found["shared"] or "") else None
    return read.words() if read else iter(())


def quantity(found: re.Match[str]) -> Quantity | None:
    """Return the quantity that `QUANTITY` found; None if its word belongs to the number and is no unit: 3rd, 12b."""
    before, typed, is_glued = found.string[found.start() - 1 : found.start()], found["unit"] or "", not found["gap"]
    unit, times = _unit(typed or found["shared"] or ""), _times(found)
    money = "" if found["money"] is None else _money(found.string[max(0, found.start() - 4) : found.start()])
    if money and is_glued and typed in _TIMES_OF_MONEY:
        unit, times = money, _TIMES_OF_MONEY[typed]
    elif (typed == "in" and not is_glued) or (unit == "s" and is_glued and _YEAR.fullmatch(found["low"])):
        unit = ""
    if typed and not unit and is_glued and times == 1:
        return None
    times *= -1 if before in ("-", "\u2212") else 1
    lows = [times * _with_part(one, found["part"] or "") for one in readings(found["low"])]
    highs = [times * one for one in readings(found["high"] or "")]
    if not lows:
        return None
    stop = found.end() if unit or not typed else found.start("gap")
    values = tuple(dict.fromkeys(lows + highs))
    return Quantity(lows[0], (highs or lows)[0], unit or money, found.start(), stop, values)


def _money(before: str) -> str:
    """The currency that stands before an amount: its sign, or its name as in Rs. 5 and EUR 5."""
    word = before.split()[-1]
    return word[-1] if word[-1] in _MONEY else _unit(word.rstrip("."))


def _times(found: re.Match[str]) -> float:
    """What a number is multiplied by, as in 3 million, 1.5e6 and 1.5 × 10^6. 10^6 is 10, and five times ten more."""
    power = (found["power"] or "").replace("\u2212", "-")
    exponent = int(re.split(r"[eE^]", power)[-1] or 0) - power.startswith("^")
    return TIMES.get((found["times"] or "").casefold(), 1.0) * 10.0**exponent


def _with_part(whole: float, part: str) -> float:
    """A number with its fraction: 1½ and 2 1/2; 1/2 has no whole number before it."""
    over, slash, under = part.partition("/")
    if not slash:
        return whole + (unicodedata.numeric(part.strip()) if part else 0)
    return whole + int(over) / int(under) if over else whole / int(under)


def readings(typed: str) -> list[float]:
    """Return the values that a number may have, the English one first."""
    return [float(f"{whole or 0}.{part or 0}") for whole, part in parts(typed)]


def parts(typed: str) -> list[tuple[str, str]]:
    """Return how a number may be read, the English way first: (whole part, decimal places). 1.234 has two ways."""
    if not typed or typed.isdecimal():
        return [(typed, "")] if typed else []
    groups, signs = re.split(r"\D", typed), re.findall(r"\D", typed)
    *before, last = groups
    is_grouped = len(groups[0]) <= 3 and all(len(group) in (2, 3) for group in before[1:])
    if len(set(signs)) == 2 and signs.count(signs[-1]) == 1 and is_grouped:
        return [("".join(before), last)]
    found = []
    if len(set(signs)) == 1:
        if is_grouped and len(last) == 3 and groups[0] not in ("", "0"):
            found.append(("".join(groups), ""))
        if len(groups) == 2 and signs[0] in ".,٫" and (len(last) != 3 or last.strip("0")):
            found.insert(0 if signs[0] == "." else len(found), (groups[0], last))
    return found


def amounts(text: str) -> Amounts | None:
    """Read `>=40 kg`, `~120 mm`, `40..60 kg` or `>=$5M`; None for anything else."""
    found = RANGE.fullmatch(text.strip())
    unit = found["money"] or _unit(found["unit"]) if found else ""
    if not found or not unit or not (found["sign"] or found["high"]) or (found["sign"] and found["high"]):
        return None
    times = _times(found) * _TIMES_OF_MONEY.get(found["short"] or "", 1.0)
    ends = [end for name in ("low", "high") for end in _signed(found[name] or "")]
    if len(ends) != 1 + bool(found["high"]):
        return None
    sign = (found["sign"] or "").replace("≤", "<=").replace("≥", ">=")
    ends = [ends[0] * (1 - _ABOUT), ends[0] * (1 + _ABOUT)] if sign in ("~", "≈") else ends
    kind, keys = _FACTORS[unit][0], sorted(int(_key(_in_base(times * end, unit))) for end in ends)
    if len(keys) > 1:
        return Amounts(kind, *keys)
    first, last = (keys[0], 10**_N_DIGITS - 1) if sign[0] == ">" else (0, keys[0])
    return Amounts(kind, first + (sign == ">"), last - (sign == "<"))


def whole_numbers(text: str) -> tuple[str, ...]:
    """Return the numbers that `1990..2000` stands for; () for too many, and for anything else."""
    first, last = map(int, found.groups()) if (found := _WHOLE.fullmatch(text)) else (0, -1)
    return tuple(map(str, range(first, last + 1))) if last - first < MOST_WHOLE else ()


def _signed(typed: str) -> list[float]:
    """Return the first reading of a number that may have a sign, if it has any."""
    number = typed.lstrip("-\u2212")
    return [one if number == typed else -one for one in readings(number)[:1]]


def _in_base(value: float, unit: str) -> float:
    """Return the value in the unit of its kind."""
    return (value + _ZERO.get(unit, 0.0)) * _FACTORS[unit][1]


def _key(value: float) -> str:
    """Return six digits, which sort as the values do: the exponent and four places. All values up to zero share one."""
    if not 1e-40 < value < 1e40:
        return "0" * _N_DIGITS if value < 1 else "9" * _N_DIGITS
    digits, exponent = f"{float(f'{value:.9e}'):.3e}".split("e")  # rounded twice: 12 * .01 is not .12
    return f"{int(exponent) + 50}{digits.replace('.', '')}"


def _covering(low: int, high: int, begin: str) -> Iterator[str]:
    """Yield the fewest beginnings that all keys from `low` to `high`, and no others, have."""
    first, last = int(begin.ljust(_N_DIGITS, "0")), int(begin.ljust(_N_DIGITS, "9"))
    if low <= first and last <= high:
        yield begin
    elif first <= high and low <= last:
        for digit in "0123456789":
            yield from _covering(low, high, begin + digit)
