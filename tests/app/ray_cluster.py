"""A Ray cluster of several nodes on this machine, for tests. Nothing of it listens beyond loopback.

Ray gives the agents of a node 15 seconds to write down their ports, else the node dies (ray-project/ray#65983). On a
busy machine they need longer. So their ports are chosen, and written down, before the node starts.
"""

import inspect
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
_LOOPBACK = "127.0.0.1"
_OBJECT_STORE_BYTES = 80 * 2**20
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_enable_metrics_collection": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Nodes:
    """A cluster of a head and of named nodes, which come and go."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._named: dict[str, Any] = {}

    def add(self, name: str, cores: int = 1, gpus: int = 0) -> None:
        """Start a node, unless it runs. Ray believes that it has so many GPUs."""
        if name not in self._named:
            self._named[name] = self._cluster.add_node(**_options(cores), num_gpus=gpus)

    def kill(self, name: str) -> None:
        """End a node at once, with all that runs on it."""
        self._cluster.remove_node(self._named.pop(name), allow_graceful=False)

    def holds(self, name: str, pid: int) -> bool:
        """Return whether a process runs on a node: whether the node's raylet has started it."""
        raylet = self._named[name].all_processes["raylet"][0].process.pid if name in self._named else 0
        return raylet in {parent.pid for parent in psutil.Process(pid).parents()}


@contextmanager
def ray_cluster(head_cores: int = 1) -> Iterator[Nodes]:
    """Start a cluster of one node. RAY_ADDRESS names it while the block runs."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for name, value in _SETTINGS.items():
            patch.setenv(name, value)
        from ray._private import node, services
        from ray.cluster_utils import Cluster

        patch.setattr(services, "start_raylet", _with_known_ports(services.start_raylet))
        patch.setattr(services, "get_node_ip_address", lambda *_, **__: _LOOPBACK)
        patch.setattr(node.Node, "start_api_server", lambda *_, **__: None)  # a dashboard
        folder = tempfile.mkdtemp(prefix="ls-")  # not tmp_path: sockets lie in it, whose paths must be short
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        Path(folder, "ray").mkdir()  # where Ray notes the newest cluster
        patch.setenv("RAY_TMPDIR", folder)
        own = {"no_monitor": True, "include_dashboard": False, "temp_dir": folder}
        cluster = Cluster(initialize_head=True, head_node_args=_options(head_cores) | own)
        stack.callback(cluster.shutdown)
        patch.setenv("RAY_ADDRESS", cluster.address)
        yield Nodes(cluster)


def _options(cores: int) -> dict[str, Any]:
    own = {"num_cpus": cores, "object_store_memory": _OBJECT_STORE_BYTES, "node_ip_address": _LOOPBACK}
    return own | {"include_log_monitor": False} | _free_ports()


def _free_ports() -> dict[str, int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in _PORTS]
        for own in sockets:
            own.bind((_LOOPBACK, 0))
        return dict(zip(_PORTS, (own.getsockname()[1] for own in sockets), strict=True))


def _with_known_ports(start_raylet: Any) -> Any:
    def start(*given: Any, **named: Any) -> Any:
        told = inspect.signature(start_raylet).bind(*given, **named).arguments
        for port in _PORTS:
            Path(told["session_dir"], f"{port}_{told['node_id']}").write_text(str(told[port]))
        return start_raylet(*given, **named)

    return start
