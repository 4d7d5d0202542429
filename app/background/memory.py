"""How much memory this process uses."""


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    import psutil  # takes 30 ms: only the daemon's status needs it

    return int(psutil.Process().memory_info().rss)
