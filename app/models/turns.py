"""The models of a process, of which one at a time is in memory: folders with different models take turns.

Whoever needs a model that is not in memory unloads the other. A person's query comes first: indexing with another model
rests until nobody has searched for a while, because each turn costs a second of loading.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from longsearch.app.models.encoders import chosen_identity, chosen_model, open_cutter, open_encoder, open_numpy_queries
from longsearch.app.models.folder_models import folder_model
from longsearch.app.models.resident import ResidentModel

MODEL_IDLE_S = 300.0
"""An unused model is unloaded after this time. Loading it again takes a second, and then the first query waits."""
TURN_S = 20.0
"""How long a model that answered a query keeps its turn."""


class Models:
    """Makes a `ResidentModel` for each name when it is first needed. Safe to use from any thread."""

    def __init__(self, default: ResidentModel | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """`default` is the model that the settings name now. When they name another one, that is the default."""
        self._clock = clock
        self._lock = threading.RLock()
        self._models: dict[str, ResidentModel] = {}
        self._asked: tuple[str, float] | None = None
        first = default or ResidentModel()
        self.widths = first.widths
        """The widths of all models of the process."""
        self._add(chosen_model(), first)

    @property
    def default(self) -> ResidentModel:
        """The model that the settings name."""
        return self.of(None)

    @property
    def in_memory(self) -> str:
        """The name of the model whose weights are in memory, or ""."""
        return next((name for name, model in list(self._models.items()) if model.is_loaded), "")

    def of(self, name: str | None) -> ResidentModel:
        """Return the model of this name; None for the default. Loads nothing."""
        with self._lock:
            name = name or chosen_model()
            if name not in self._models:
                own = (partial(open_encoder, name), partial(chosen_identity, name), partial(open_cutter, name))
                queries = partial(open_numpy_queries, model=name)
                self._add(name, ResidentModel(*own, self._clock, self.widths, queries))
            return self._models[name]

    def for_query(self, name: str | None) -> ResidentModel:
        """Return the model of this name, and give it the turn, unless its queries need no weights in memory."""
        with self._lock:
            model = self.of(name)
            if model.queries_need_torch:
                self._asked = name or chosen_model(), self._clock()
            return model

    def must_wait(self, root: Path) -> bool:
        """Whether work on a folder must wait, because a query has just needed another model than the folder's."""
        if self._asked is None:
            return False
        (name, at), folder = self._asked, folder_model(root)
        return name != (folder.next_model or folder.model) and self._clock() - at < TURN_S

    def unload_if_idle(self, idle_s: float) -> None:
        """Unload the model in memory if it was not used for `idle_s`."""
        for model in list(self._models.values()):
            model.unload_if_idle(idle_s)

    def status(self) -> dict[str, Any]:
        """The models as the daemon's status lists them."""
        name = self.in_memory
        return {
            "loaded": bool(name),
            "name": chosen_model(),
            "in_memory": name or None,
            "fingerprint": self.default.known_fingerprint,
            "widths": self.of(name or None).widths_in_use(),
        }

    def _add(self, name: str, model: ResidentModel) -> None:
        model.make_room = partial(self._make_room, name)
        self._models[name] = model

    def _make_room(self, name: str) -> None:
        """Unload all models but this one, which is about to be loaded. Holds no lock while another is being loaded."""
        for other, model in list(self._models.items()):
            if other != name:
                model.unload()
