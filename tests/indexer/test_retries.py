"""When a failed file is retried."""

from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ExtractionError, TemporaryError, TimedOutError
from longsearch.indexer.retries import FIRST_S, LONGEST_S, is_due, retry_at


def test_the_wait_is_a_minute_and_doubles_up_to_six_hours() -> None:
    waits = [retry_at(n, TemporaryError.n_retries, 1000.0) for n in range(1, 12)]
    assert [wait - 1000 for wait in waits if wait][:4] == [60, 120, 240, 480]
    assert waits[9] == waits[10] == 1000 + LONGEST_S


def test_an_error_that_only_a_change_of_the_file_can_mend_is_not_retried() -> None:
    assert retry_at(1, ExtractionError.n_retries, 0.0) is None
    assert not is_due(None, 1e12)


def test_a_timeout_is_retried_three_times() -> None:
    assert [retry_at(n, TimedOutError.n_retries, 0.0) is None for n in (1, 2, 3, 4)] == [False, False, False, True]


@given(st.integers(1, 10_000), st.floats(0, 4e9))
def test_a_retry_is_due_after_one_minute_to_six_hours(n_failures: int, now_s: float) -> None:
    at = retry_at(n_failures, TemporaryError.n_retries, now_s)
    assert at is not None
    assert not is_due(at, now_s + FIRST_S - 1)
    assert is_due(at, now_s + LONGEST_S)


def test_a_clock_that_was_set_back_does_not_delay_retries() -> None:
    at = retry_at(1, TemporaryError.n_retries, 2e9)
    assert is_due(at, 1e9)
