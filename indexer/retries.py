"""When a file that could not be read is read again although it has not changed. Pure.

Knows no file: how often reading it again is worth its cost is said by the error (`ExtractionError.n_retries`).
"""

FIRST_S = 60.0
LONGEST_S = 6 * 3600.0


def retry_at(n_failures: int, n_retries: int, now_s: float) -> float | None:
    """When to read again a file that has failed `n_failures` times in a row: after a minute, then twice as long each
    time, six hours at most. None where `n_retries` have been made. Times in seconds since 1970.
    """
    if n_failures > n_retries:
        return None
    doublings = min(n_failures - 1, 30)
    return now_s + min(FIRST_S * 2.0**doublings, LONGEST_S)


def is_due(retry_at_s: float | None, now_s: float) -> bool:
    """Whether that time has come; one that lies further ahead than any wait was set by a clock that has gone back."""
    return retry_at_s is not None and not now_s < retry_at_s <= now_s + LONGEST_S
