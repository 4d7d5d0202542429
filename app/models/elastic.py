"""Measures what `app.models.widths` decides by, and remembers what was chosen, for `longsearch status`."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.models.widths import (
    GAIN,
    LITTLE_TOKENS,
    Choice,
    Moment,
    choices_to_json,
    width_of_documents,
    width_of_queries,
)
from longsearch.app.paths import speed_path
from longsearch.engine.json_files import load_object, replace_object
from longsearch.indexer.process_priority import on_battery

if TYPE_CHECKING:
    from longsearch.engine.inference.opening import AnyEncoder

RECONSIDER_S = 30.0
"""A choice holds for this long, or until the document that it was made for is read."""
MEASURE_S = 1.0
REMEMBERED_QUERIES = 5
"""Queries are slow if so many in a row were slow: the first one after the loading always is."""


class ElasticWidth:
    """The widths of a process's model, from moment to moment. The methods are safe from any thread."""

    def __init__(
        self,
        asked: float | None = None,
        is_on_battery: Callable[[], bool] = on_battery,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`asked`: the width that the person asked for; None: choose."""
        self.asked = asked
        self._is_on_battery = is_on_battery
        self._clock = clock
        self._documents: Choice | None = None
        self._chosen_at = 0.0
        self._tokens_per_s: float | None = None
        self._queries_s: deque[float] = deque(maxlen=REMEMBERED_QUERIES)

    def for_documents(self, encoder: "AnyEncoder", n_tokens_waiting: Callable[[], int]) -> Choice:
        """Choose the width for documents that begin now; measure the speed first (1 s) if much waits to be read."""
        if self._documents is None or self._clock() - self._chosen_at > RECONSIDER_S:
            n_tokens = n_tokens_waiting()
            self._measure_if_needed(encoder, n_tokens)
            self._documents = self._choose_for_documents(encoder, n_tokens)
            self._chosen_at = self._clock()
        return self._documents

    def rest(self) -> None:
        """Note that nothing waits to be read any more."""
        self._documents = None

    def for_queries(self, widths: tuple[float, ...]) -> Choice:
        """Choose the width for a query to a model that has these."""
        query_s = min(self._queries_s) if len(self._queries_s) == REMEMBERED_QUERIES else None
        return width_of_queries(Moment(widths=widths, asked=self.asked, query_s=query_s))

    def note_query(self, width: float, seconds: float) -> None:
        """Remember how long the vector of a query took. The fastest of the last ones counts: other work adds time."""
        self._queries_s.append(seconds * GAIN.get(width, 1.0))

    def to_json(self, encoder: "AnyEncoder") -> dict[str, Any]:
        """Return both choices for the daemon's status."""
        documents = self._documents or self._choose_for_documents(encoder, 0)
        return choices_to_json(encoder.readout.widths, documents, self.for_queries(encoder.readout.widths))

    def _choose_for_documents(self, encoder: "AnyEncoder", n_tokens: int) -> Choice:
        moment = Moment(
            widths=encoder.readout.widths,
            asked=self.asked,
            is_on_gpu=encoder.hardware.device.startswith("cuda"),
            is_on_battery=self._is_on_battery(),
            n_tokens_waiting=n_tokens,
            tokens_per_s=self._tokens_per_s,
        )
        return width_of_documents(moment)

    def _measure_if_needed(self, encoder: "AnyEncoder", n_tokens: int) -> None:
        is_open = self.asked is None and len(encoder.readout.widths) > 1
        if is_open and self._tokens_per_s is None and n_tokens >= LITTLE_TOKENS:
            self._tokens_per_s = measured_speed(encoder)


def measured_speed(encoder: "AnyEncoder") -> float:
    """Measure the tokens per second at full width, for about a second, and keep the figure for `longsearch status`."""
    from longsearch.engine.inference.speed import document_rate

    tokens_per_s = document_rate(encoder, MEASURE_S)
    is_on_gpu = encoder.hardware.device.startswith("cuda")
    speeds = load_object(speed_path()) | {encoder.fingerprint: {"tokens_per_s": tokens_per_s, "is_on_gpu": is_on_gpu}}
    with suppress(OSError):  # indexing goes on without the file
        replace_object(speed_path(), speeds)
    return tokens_per_s


def chosen_without_model(
    model: str | Path, fingerprint: str, asked: float | None, n_tokens: int, is_on_battery: bool
) -> dict[str, Any]:
    """Return the choices, as `to_json` does, that a process which loads `model` would make now. Loads no model.

    `fingerprint`: that of the index; the speed is the one that was measured last. Raises ModelError.
    """
    from longsearch.engine.models.config import read_config
    from longsearch.engine.models.hub import locate

    known = load_object(speed_path()).get(fingerprint)
    speed: Mapping[str, Any] = known if isinstance(known, dict) else {}
    _, readout = read_config(locate(model).folder / "config.json")
    moment = Moment(
        readout.widths, asked, bool(speed.get("is_on_gpu")), is_on_battery, n_tokens, speed.get("tokens_per_s")
    )
    return choices_to_json(readout.widths, width_of_documents(moment), width_of_queries(moment))
