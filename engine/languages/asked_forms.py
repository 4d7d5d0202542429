"""Finds in a query what can be spelt in several ways, and its other spellings or the form that they share. Pure.

`1.234,56`, `1,234.56` and `1 234.56` are one number, `15:00` and `3 pm` one time of day, and an address is pasted with
or without `https://www.` and what a search engine adds to it. The word index cuts all of them at their signs, so each
is a phrase of the same groups, or of all digits in one: the query asks for these, and the index grows by nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from longsearch.engine.languages.written_forms import BORDER, LONGEST, Written, is_mixed, written
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.quantities import GAP, TIMES, TIMES_WORDS, parts, readings

_PLAIN_WORD = late_pattern(r"(?<!\S)[^\W_]{1,12}(?!\S)")
_SIGNED_WORD = late_pattern(r"(?<!\S)[^\W_]+(?:[-\u2010-\u2015./_][^\W_]+)+(?!\S)")
_NUMBER = late_pattern(
    rf"(?P<number>(?<![\w.,'’])\d+(?:[.,'’٫٬]\d+|{GAP}\d{{3}}(?!\d))*(?!\w)|(?<![\w.,])[.,]\d+(?![\w.,]))"
    rf"(?:\s(?P<times>(?i:{TIMES_WORDS}))(?!\w))?"
)
_YEAR = late_pattern(r"(?:19|20)\d\d")
_ADDRESS = late_pattern(r"(?<!\S)(?:https?://|mailto:|www\.)[^\s\"<>]*[^\W_]", re.I)
_BEFORE_ADDRESS = late_pattern(r"(?:https?://|mailto:)?(?:www\.)?", re.I)
_TIME = late_pattern(
    r"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4])(?:[:h](?P<minute>[0-5]\d))?(?:\s?(?P<half>[ap])\.?m(?!\w)|(?![\w:.,]\d))",
    re.I,
)
MAY_BE_SPELT = late_pattern(rf"\d|{_ADDRESS.pattern}", re.I)
"""What a text must have for `asked` to find anything."""


def spelt(text: str) -> list[Written]:
    """Return the dates, numbers and identifiers in a part of a query."""
    found = _written(text)
    return found + _numbers(text, found)


def asked(text: str) -> list[Written]:
    """Return what `spelt` finds in a query, where case means nothing, and its words joined and split at digits.

    So `iso 9001` and `7xk 440 b` find ISO9001 and 7XK-440-B, and `iso9001` finds ISO 9001.
    """
    found = _written("".join(c.upper() if len(c.upper()) == 1 else c for c in text))
    signed, words = (
        [word for word in pattern.finditer(text) if all(not one.covers(word.start()) for one in found)]
        for pattern in (_SIGNED_WORD, _PLAIN_WORD)
    )
    places = [word.span() for word in signed]
    others: list[Written] = []
    for number, first in enumerate(words):
        if len(split := BORDER.sub(" ", first[0])) > len(first[0]):
            others.append(Written(*first.span(), (split.lower(),)))
        places += [(first.start(), last.end()) for last in words[number + 1 : number + 4]]
    for start, stop in places:
        whole = "".join(filter(str.isalnum, text[start:stop])).lower()
        if len(whole) <= LONGEST and is_mixed(whole):
            others.append(Written(start, stop, (whole,)))
    addresses = (one for one in _ADDRESS.finditer(text) if not any(known.has(text, *one.span()) for known in found))
    others += (Written(*one.span(), tuple(_of_address(one[0]))) for one in addresses)
    times = (one for one in _TIME.finditer(text) if one["minute"] or one["half"])
    others += (Written(*one.span(), tuple(dict.fromkeys(_of_time(one)))) for one in times)
    quantities = (one for one in written(text) if one.is_quantity)  # a unit in capitals is another: mW, MW
    return [*found, *_numbers(text, found), *others, *quantities]


def _of_address(typed: str) -> Iterator[str]:
    """Yield an address without what stands before it or behind it, and the number that it ends in."""
    bare = re.split("[?#]", typed[_BEFORE_ADDRESS.match(typed).end() :])[0].rstrip("/")  # type: ignore[union-attr]
    yield bare
    if sum(map(str.isdecimal, last := bare.rpartition("/")[2])) >= 4:
        yield last
        yield BORDER.sub(" ", last)


def _of_time(found: re.Match[str]) -> Iterator[str]:
    """Yield the hour and the minute of a time of day, as a clock with 24 hours and one with 12 say them."""
    hour, minute = int(found["hour"]), found["minute"] or "00"
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"].lower() == "p")
    half, of_twelve = "pm" if 12 <= hour < 24 else "am", (hour - 1) % 12 + 1
    yield from (f"{hour} {minute}", f"{hour:02} {minute}")
    for begin in (f"{of_twelve} {minute}", *([f"{of_twelve}"] if minute == "00" else [])):
        yield from (f"{begin} {half}", f"{begin}{half}", f"{begin} {half[0]} m")


def _written(text: str) -> list[Written]:
    """Return what `written` finds but quantities; in a query a day is not its month."""
    return [
        replace(one, forms=tuple(form for form in one.forms if not _is_month(form, one.forms)))
        for one in written(text)
        if not one.is_quantity
    ]


def _numbers(text: str, found: Sequence[Written]) -> list[Written]:
    """Return the numbers of a text that are nothing else."""
    left = (number for number in _NUMBER.finditer(text) if all(not one.covers(number.start()) for one in found))
    spelt = ((number.span(), dict.fromkeys(_of_number(number["number"], number["times"] or ""))) for number in left)
    return [Written(*span, tuple(forms)) for span, forms in spelt if forms]


def _is_month(form: str, forms: tuple[str, ...]) -> bool:
    return len(form) == 6 and any(other.startswith(form) and len(other) == 8 for other in forms)


def _of_number(typed: str, times: str) -> Iterator[str]:
    """Yield the other spellings of a number: its digits in one and in groups, its decimal places with and without 0."""
    if times:
        for value in readings(typed):
            whole = f"{value * TIMES[times.casefold()]:.0f}"
            yield from (whole, *_grouped(whole))
        return
    if typed.isdecimal() and (len(typed) <= 3 or _YEAR.fullmatch(typed)):
        return
    for whole, part in parts(typed):
        whole = whole.lstrip("0") or "0"
        for size, word in ((1_000_000_000, "billion"), (1_000_000, "million")):
            if not part and int(whole) >= size and int(whole) % (size // 100) == 0:
                yield f"{int(whole) / size:.12g} {word}"
        places = dict.fromkeys((part, part.rstrip("0"), part.rstrip("0").ljust(2, "0"))) if part.strip("0") else [""]
        for digits in dict.fromkeys((whole, *_grouped(whole))):
            yield from (f"{digits} {end}".rstrip() for end in places)


def _grouped(digits: str) -> Iterator[str]:
    """Yield a whole number in groups of three, and as it is written in India."""
    if len(digits) > 3:
        yield f"{int(digits):,}".replace(",", " ")
        lakhs = re.sub(r"(?<=\d)(?=(?:\d\d)+$)", " ", digits[:-3])
        yield f"{lakhs} {digits[-3:]}"
