"""Indexes a folder with the workers of a Ray cluster. Opens and joins what the other modules of this room are."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.cluster.connection import Resources, connected
from longsearch.app.cluster.embedding import PACKET_DOCUMENTS, PACKET_TOKENS, RemoteEncoder
from longsearch.app.cluster.reading import RemoteExtractor
from longsearch.app.cluster.recognised import wish_of
from longsearch.app.cluster.work import WorkerJob
from longsearch.app.indexing.opening import open_pipeline
from longsearch.app.indexing.recipe import Job, OpenIndex, Outcome, index_folder
from longsearch.app.indexing.scans import recognition
from longsearch.app.models.turns import Models
from longsearch.app.models.widths import Moment, width_of_documents
from longsearch.app.paths import url_of
from longsearch.app.settings.reading import current, require_sound
from longsearch.engine import __version__
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import locate
from longsearch.indexer.embedding import SAVE_EVERY_S

if TYPE_CHECKING:
    from longsearch.app.cluster.ray_pool import RayPool
    from longsearch.app.models.resident import ResidentModel

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
    """Give each GPU a worker; in a cluster without GPUs, each `cores` cores (None: four, or all of a small machine).

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


_ENTRIES = 8
_PACKETS_PER_WORKER = 8
"""Packets that each worker gets between two looks at what waits; the last of them leave some workers idle."""


def index_on_cluster(root: Path, job: Job, address: str, cores: int | None, width: float | None) -> Outcome:
    """Do a job with the workers of a cluster, which read the texts and compute the vectors; as `index_folder`.

    `address`: `ray` or `ray://HOST:PORT`. `cores`: those of each worker; None: the usual number. `width`: that at which
    new documents are read; None: 1.
    """
    require_sound()
    job.announce("connecting to Ray")
    with connected(address) as resources:
        return index_folder(root, job, _Driver(Models(), share(resources, cores), width).opened)


class _Driver:
    """A cluster, and how it reads a folder."""

    def __init__(self, models: Models, shares: Share, width: float | None) -> None:
        self._models, self._share, self._asked_width = models, shares, width

    @contextmanager
    def opened(self, root: Path, job: Job, name: str, path: Path | None) -> Iterator[OpenIndex]:
        """Open an index as `app.indexing.recipe.Open` says. The pool of workers lives as long."""
        model = self._models.of(name)
        with _pool(self._worker_job(root, job, model, name), self._share, job.announce) as pool:
            encoder = RemoteEncoder(model, pool, self._width(name))
            extractor = partial(RemoteExtractor, pool, encoder)
            with open_pipeline(root, encoder, job.must_stop, job.ocr, path, extractor) as (pipeline, store):

                def embed() -> bool:
                    job.announce("waiting for the first vectors")
                    return pipeline.embed(self._n_together)

                deepen = partial(pipeline.deepen, self._n_together)
                yield OpenIndex(pipeline, store, model, embed, deepen, partial(_losses, pool))

    @property
    def _n_together(self) -> int:
        return self._share.n_workers * _PACKETS_PER_WORKER * PACKET_DOCUMENTS

    def _worker_job(self, root: Path, job: Job, model: "ResidentModel", name: str) -> WorkerJob:
        return WorkerJob(
            version=__version__,
            model=name,
            fingerprint=model.fingerprint,
            device="cuda" if self._share.gpus else "cpu",
            dtype=current("dtype").dtype,
            adapters=dict(current().adapters),
            root=root,
            url=url_of(root),
            entries=_some_entries(root),
            ocr=wish_of(recognition(root, job.ocr)),
            n_children=self._share.cores,
            stretch_tokens=PACKET_TOKENS,
            stretch_s=SAVE_EVERY_S,
        )

    def _width(self, name: str) -> float:
        """Return the width that was asked for, or 1: how fast this machine is says nothing of the cluster."""
        _, settings = read_config(locate(name).folder / "config.json")
        return width_of_documents(Moment(settings.widths, asked=self._asked_width or 1.0)).width


@contextmanager
def _pool(job: WorkerJob, shares: Share, announce: Callable[[str], None]) -> "Iterator[RayPool]":
    from longsearch.app.cluster.ray_pool import RayPool

    announce(f"starting {counted(shares.n_workers, 'worker')}")
    pool = RayPool(job, shares.n_workers, shares.cores, shares.gpus)
    try:
        pool.wait_for(1)
        yield pool
    finally:
        pool.close()


def _losses(pool: "RayPool") -> Iterator[str]:
    for machine, n_lost in pool.n_lost.items():
        yield f"{counted(n_lost, 'worker')} on {machine} ended before the time; others have read the rest"


def _some_entries(root: Path) -> tuple[str, ...]:
    with os.scandir(root) as entries:
        return tuple(entry.name for entry in itertools.islice(entries, _ENTRIES))
