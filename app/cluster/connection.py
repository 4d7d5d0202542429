"""Connects to a Ray cluster, or starts one on this machine that only this machine can reach.

Ray's usage statistics are off, and so is its dashboard. Knows no worker and no index.
"""

import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from longsearch.engine.errors import LongsearchError, install_hint

LOCAL = "ray"
CLIENT = "ray://"
_LOOPBACK = "127.0.0.1"
_OBJECT_STORE_BYTES = 512 * 2**20
"""The memory for texts and results under way, in a Ray of this machine alone."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What the machines of a cluster have."""

    cores: tuple[float, ...]
    """The cores of each machine."""
    gpus: tuple[float, ...]
    """The GPUs of each machine."""


def check_address(text: str) -> str:
    """Return `text` if it names a cluster: `ray`, or `ray://HOST:PORT`. Raises ValueError."""
    host, _, port = text.removeprefix(CLIENT).rpartition(":")
    if text != LOCAL and not (text.startswith(CLIENT) and host and port.isdigit()):
        raise ValueError(text)
    return text


@contextmanager
def connected(address: str) -> Iterator[Resources]:
    """Connect this process to Ray while the block runs. Raises LongsearchError if Ray is missing or does not answer.

    `ray`: the cluster that RAY_ADDRESS names, to which this machine belongs; else a Ray of this machine's own, which
    ends with the block. `ray://HOST:PORT`: a cluster to which this machine need not belong, by Ray's client server.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before the import, which reads it
    try:
        import ray
    except ImportError as error:
        raise LongsearchError("indexing on many machines needs Ray", install_hint("cluster")) from error
    logging.getLogger("ray").setLevel(logging.CRITICAL)  # what goes wrong is an exception, and is said in our words
    own_folder = "" if address != LOCAL or os.environ.get("RAY_ADDRESS") else tempfile.mkdtemp(prefix="longsearch-")
    options: dict[str, object] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address != LOCAL:
        options = {"address": address}
    elif not own_folder:
        options["address"] = os.environ["RAY_ADDRESS"]
    else:
        options |= {"address": "local", "include_dashboard": False, "_node_ip_address": _LOOPBACK}
        options |= {"_temp_dir": own_folder, "object_store_memory": _OBJECT_STORE_BYTES}
    try:
        try:
            with warnings.catch_warnings(action="ignore"):
                ray.init(**options)
        except Exception as error:  # Ray raises Exception itself where a node does not start
            raise _cannot_connect(address, error) from error
        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        yield Resources(tuple(own.get("CPU", 0.0) for own in alive), tuple(own.get("GPU", 0.0) for own in alive))
    finally:
        ray.shutdown()
        if own_folder:
            shutil.rmtree(own_folder, ignore_errors=True)


def _cannot_connect(address: str, error: Exception) -> LongsearchError:
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    if address == LOCAL and not os.environ.get("RAY_ADDRESS"):
        return LongsearchError(f"Ray cannot be started: {reason}", "a busy machine may be too slow: try it again")
    return LongsearchError(
        f"no Ray cluster answers at {os.environ['RAY_ADDRESS'] if address == LOCAL else address}: {reason}",
        "its head needs `ray start --head`, and ray://HOST:PORT its client server (port 10001), with the same Ray and"
        " Python as here",
    )
