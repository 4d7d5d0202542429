"""Whether longsearch may remember queries, and restore what was in view."""

import os
from collections.abc import Mapping

_OFF = frozenset({"0", "no", "off", "false"})


def remembers_queries(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether queries are kept in the history."""
    return environment.get("LONGSEARCH_HISTORY", "").strip().lower() not in _OFF


def restores_state(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the app starts with what was in view when it was left."""
    return environment.get("LONGSEARCH_RESTORE", "").strip().lower() not in _OFF
