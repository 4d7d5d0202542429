"""When the fastest slice size of this machine is measured."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longsearch.app.indexing.opening import CALIBRATE_FROM_TOKENS, tune


def store_with(n_tokens: int, n_done: int = 0) -> Any:
    return SimpleNamespace(progress=lambda: SimpleNamespace(n_tokens=n_tokens, n_tokens_embedded=n_done))


@pytest.fixture
def asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    asked: list[bool] = []

    def calibrated_size(encoder: Any, cache: Path, may_measure: bool) -> int | None:
        assert home in cache.parents
        asked.append(may_measure)
        return 512 if may_measure else None

    monkeypatch.setattr("longsearch.engine.inference.calibration.calibrated_size", calibrated_size)
    return asked


def test_speed_is_measured_only_if_much_is_to_be_read(asked: list[bool]) -> None:
    encoder: Any = SimpleNamespace(vertical_size=1024)
    tune(encoder, store_with(CALIBRATE_FROM_TOKENS - 1))
    tune(encoder, store_with(10 * CALIBRATE_FROM_TOKENS, 10 * CALIBRATE_FROM_TOKENS - 1))
    assert asked == [False, False]
    assert encoder.vertical_size == 1024
    tune(encoder, store_with(CALIBRATE_FROM_TOKENS))
    assert encoder.vertical_size == 512


def test_an_unwritable_cache_does_not_stop_indexing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("longsearch.engine.inference.calibration.calibrated_size", fail)
    encoder: Any = SimpleNamespace(vertical_size=1024)
    tune(encoder, store_with(10**6))
    assert encoder.vertical_size == 1024
