"""Shows a number of days as Excel shows dates, times and durations. Pure functions; knows no other numbers."""

from datetime import datetime, timedelta

from longsearch.indexer.extract.readers.office.excel.date_names import names_of

_MAX_DAYS = 2_958_466
"""Days from 1900 to the year 9999."""


def moment(value: float, is_1904: bool = False) -> datetime | None:
    """Return the time that a number of days means; None if it means none."""
    days = value + (1462 if is_1904 else 0)
    if not 0 <= days < _MAX_DAYS:
        return None
    first = datetime(1899, 12, 31 if days < 60 else 30)  # Excel counts a 29th of February 1900
    seconds = round(days * 86_400_000) / 1000
    return first + timedelta(seconds=seconds)


def shown_date(value: float, tokens: list[tuple[str, str]], is_1904: bool) -> str:
    """Show a date or a time; "" if the number means none. Beside a date without its year or day stands the whole date.

    `tokens`: (kind, word) of each part of the format.
    """
    time = moment(value, is_1904)
    elapsed = any(word.startswith("[") for kind, word in tokens if kind == "date")
    if time is None and not elapsed:
        return ""
    words = [word.lower() if word not in ("AM/PM", "A/P") else word for kind, word in tokens if kind == "date"]
    n_fraction = max((len(word.partition(".")[2]) for word in words if word.startswith("s")), default=0)
    if time is not None:
        time = _rounded(time, n_fraction)
    is_12_hours = any(word in ("AM/PM", "A/P") for word in words)
    language = next((word for kind, word in tokens if kind == "language"), "en")
    shown: list[str] = []
    for place, (kind, word) in enumerate(tokens):
        if kind == "language":
            continue
        if kind == "date" and word.startswith("["):
            shown.append(_elapsed(value, word))
        elif kind == "date" and time is not None:
            shown.append(_part(time, word, is_12_hours, _is_minute(tokens, place), language))
        elif kind == "general":
            shown.append(str(value))
        elif kind != "digits":
            shown.append(word)
    text = "".join(shown).strip()
    return text if time is None else _with_date(text, time, words)


def _rounded(time: datetime, n_fraction: int) -> datetime:
    """Round a time to what is shown, so that 11:59:59.9996 becomes 12:00:00."""
    step = 10 ** (6 - min(n_fraction, 6))
    return time + timedelta(microseconds=-time.microsecond % step if time.microsecond % step * 2 >= step
                            else -(time.microsecond % step))  # fmt: skip


def _with_date(text: str, time: datetime, words: list[str]) -> str:
    years = any(word.startswith(("yyy", "e")) for word in words)
    is_time = all(word.startswith(("h", "m", "s", "[", "A")) for word in words)
    months = any(word.startswith("m") for word in words) and not is_time
    days = any(word in ("d", "dd") for word in words)
    is_date = years or days or any(word.startswith(("y", "d")) for word in words) or months
    if not is_date or (years and months and days):
        return text
    return f"{text} ({time.date()})"


def _is_minute(tokens: list[tuple[str, str]], place: int) -> bool:
    """Return whether an m behind hours or before seconds means minutes."""
    words = [(index, word.lower()) for index, (kind, word) in enumerate(tokens) if kind == "date"]
    own = next(index for index, (at, _) in enumerate(words) if at == place)
    before = words[own - 1][1] if own else ""
    after = words[own + 1][1] if own + 1 < len(words) else ""
    return before.lstrip("[").startswith("h") or after.lstrip("[").startswith("s")


def _elapsed(value: float, word: str) -> str:
    unit = {"h": 3600, "m": 60, "s": 1}[word[1]]
    seconds = round(abs(value) * 86_400)
    return ("-" if value < 0 else "") + str(seconds // unit).zfill(len(word) - 2)


def _part(time: datetime, word: str, is_12_hours: bool, is_minute: bool, language: str) -> str:
    name = word if word in ("AM/PM", "A/P") else word.lower()
    n = len(name)
    match name[0]:
        case "y":
            return f"{time.year:04}" if n > 2 else f"{time.year % 100:02}"
        case "m" if is_minute:
            return f"{time.minute:0{min(n, 2)}}"
        case "m":
            long, short = names_of(language)[time.month - 1]
            return str(time.month).zfill(min(n, 2)) if n < 3 else short if n == 3 else long if n == 4 else long[0]
        case "d":
            long, short = names_of(language)[12 + time.weekday()]
            return str(time.day).zfill(n) if n < 3 else short if n == 3 else long
        case "h":
            return str((time.hour % 12 or 12) if is_12_hours else time.hour).zfill(min(n, 2))
        case "s":
            seconds, _, fraction = name.partition(".")
            digits = f"{time.microsecond:06}"[: len(fraction)]
            return str(time.second).zfill(min(len(seconds), 2)) + (f".{digits}" if fraction else "")
        case "A":
            return ("AM" if time.hour < 12 else "PM")[: 2 if n > 3 else 1]
        case "e":
            return str(time.year)
    return ""
