"""Decides how many workers a cluster gets, and what each reserves. Pure."""

from dataclasses import dataclass

from longsearch.app.cluster.connection import Resources
from longsearch.engine.errors import LongsearchError

USUAL_CORES = 4
"""Cores of a worker without a GPU. More workers read more at once; each holds a model (368 MB for the bundled one)."""


@dataclass(frozen=True, slots=True)
class Share:
    """The workers of a cluster."""

    n_workers: int
    cores: int
    """Of each."""
    gpus: int
    """Of each: 0 or 1."""


def share(resources: Resources, cores: int | None) -> Share:
    """Give each GPU a worker, or, in a cluster without any, each `cores` cores (None: four, or all of a small machine).

    Raises LongsearchError if no machine has as many cores as a worker is to have.
    """
    if any(resources.gpus):
        n_gpus = int(sum(resources.gpus))
        smallest = min(int(c // g) for c, g in zip(resources.cores, resources.gpus, strict=True) if g >= 1)
        return Share(n_gpus, min(cores or USUAL_CORES, max(smallest, 1)), 1)
    most = int(max(resources.cores, default=0.0))
    wanted = cores or max(1, min([USUAL_CORES, *(int(own) for own in resources.cores if own >= 1)]))
    n_workers = sum(int(own // wanted) for own in resources.cores)
    if not n_workers:
        hint = f"the largest machine has {most}" if most else "start Ray with --num-cpus"
        raise LongsearchError(f"no machine of the cluster has {wanted} cores for a worker", hint)
    return Share(n_workers, wanted, 0)
