"""Decides when to retry a file that could not be read and has not changed. Pure.

Knows no file: the error says how many retries are worth their cost (`ExtractionError.n_retries`).
"""

FIRST_S = 60.0
LONGEST_S = 6 * 3600.0


def retry_at(n_failures: int, n_retries: int, now_s: float) -> float | None:
    """Return when to retry a file that has failed `n_failures` times in a row; None after `n_retries` retries.

    The first retry comes after a minute. Each further wait is twice as long, up to six hours. Times are in seconds
    since 1970.
    """
    if n_failures > n_retries:
        return None
    doublings = min(n_failures - 1, 30)
    return now_s + min(FIRST_S * 2.0**doublings, LONGEST_S)


def is_due(retry_at_s: float | None, now_s: float) -> bool:
    """Return whether to retry now.

    A time further ahead than the longest wait is due too: it was set before the clock was put back.
    """
    return retry_at_s is not None and not now_s < retry_at_s <= now_s + LONGEST_S


def wait_s(retry_at: float | None, now_s: float) -> float | None:
    """Return the seconds until a retry that is due at `retry_at`; None if there is none."""
    return None if retry_at is None else max(FIRST_S, retry_at - now_s)
