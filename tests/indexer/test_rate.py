"""The speed of work over the last seconds."""

import pytest

from longsearch.indexer.rate import Rate


def test_a_rate_covers_only_the_last_seconds() -> None:
    now = [0.0]
    rate = Rate(clock=lambda: now[0])
    assert rate.per_s() == 0
    for _ in range(10):
        now[0] += 1
        rate.add(100)
    assert rate.per_s() == pytest.approx(100)
    for _ in range(60):
        now[0] += 1
        rate.add(10)
    assert rate.per_s() == pytest.approx(10)
