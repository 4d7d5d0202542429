"""Counts, quantities and durations in words, as the command line and the terminal app print them. Pure."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 document`, `1,204 documents`. `plural` is for nouns that take no -s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def quantity(count: int) -> str:
    """`count` in at most five characters: 950, 12.4k, 310k, 3.1M."""
    for unit, size in (("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)):
        if count >= size:
            value = count / size
            return f"{value:.1f}{unit}" if value < 99.95 else f"{value:.0f}{unit}"
    return str(count)


def duration(seconds: float) -> str:
    """`seconds` in at most two units, from seconds to days: 40 s, 5 min, 2 h 10 min, 3 d."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def so_far(n_done: int, n_all: int, what: str, took_s: float) -> str:
    """Say how many of all are done and, after ten seconds, about how long the rest takes."""
    rest = f", about {duration(took_s / n_done * (n_all - n_done))} left" if took_s > 10 and n_done < n_all else ""
    return f"{n_done:,} of {n_all:,} {what}{rest}"
