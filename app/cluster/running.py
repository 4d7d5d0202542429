"""Indexes a folder with the workers of a Ray cluster. Opens and joins what the other modules of this room are."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.app.background.model_change import put_in_use, readable_files
from longsearch.app.calibrating import conclude
from longsearch.app.cluster.connection import Resources, connected
from longsearch.app.cluster.embedding import PACKET_DOCUMENTS, PACKET_TOKENS, RemoteEncoder
from longsearch.app.cluster.reading import RemoteExtractor
from longsearch.app.cluster.recognised import wish_of
from longsearch.app.cluster.sharing import Share, share
from longsearch.app.cluster.work import Job
from longsearch.app.library import open_pipeline
from longsearch.app.models.folder_models import FolderModel, folder_model
from longsearch.app.models.turns import Models
from longsearch.app.ocr.scans import recognition
from longsearch.app.paths import url_of
from longsearch.app.settings.reading import current, require_sound
from longsearch.app.widths import Moment, width_of_documents
from longsearch.engine import __version__
from longsearch.engine.amounts import counted
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import locate
from longsearch.engine.store.store import Store
from longsearch.indexer.embedding import SAVE_EVERY_S
from longsearch.indexer.pipeline import Pipeline, ReadSummary

if TYPE_CHECKING:
    from longsearch.app.cluster.ray_pool import RayPool
    from longsearch.app.models.resident import ResidentModel

_ENTRIES = 8
_PACKETS_PER_WORKER = 8
"""Packets that each worker gets between two looks at what waits; the last of them leave some workers idle."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person has asked for."""

    address: str
    """`ray` or `ray://HOST:PORT`."""
    cores: int | None = None
    """The cores of each worker; None: the usual number."""
    width: float | None = None
    """The width at which new documents are read; None: 1."""
    retry_failed: bool = False
    deepen: bool = False
    ocr: str | None = None
    """The languages of OCR for pages without text; None: only pages that were read before."""
    only: frozenset[str] | None = None
    """The paths of the files to look at, relative to the root; None: all."""


def index_on_cluster(root: Path, wish: Wish, announce: Callable[[str], None]) -> ReadSummary:
    """Bring the index of `root` in step with the disk. Raises IndexLockedError if another process indexes it.

    The workers of a cluster read the texts and compute the vectors. An interruption loses nothing that was stored, and
    the next run goes on from there.
    """
    require_sound()
    folder, models = folder_model(root), Models()
    announce("connecting to Ray")
    with connected(wish.address) as resources:
        driver = _Driver(root, wish, models, resources, announce)
        summary = driver.index(folder.model, None, wish.only, is_in_use=not folder.next_model)
        if folder.next_path is None:
            return summary
        return replace(summary, problems=(*summary.problems, *driver.change_model(folder)))


class _Driver:
    """A cluster, and the folder that it reads."""

    def __init__(
        self, root: Path, wish: Wish, models: Models, resources: Resources, announce: Callable[[str], None]
    ) -> None:
        self._root, self._wish, self._models, self._announce = root, wish, models, announce
        self._share = share(resources, wish.cores)

    def index(self, name: str, path: Path | None, only: frozenset[str] | None, is_in_use: bool) -> ReadSummary:
        """Read the folder, or only some of its files, with a model into an index.

        Without `is_in_use` only texts and words are brought in step: the index is about to be replaced.
        """
        model = self._models.of(name)
        with self._open(model, name, path) as (pipeline, store, pool):
            if self._wish.retry_failed:
                store.read_again()
            if self._wish.ocr is not None:
                store.ask_for_scans()
            self._announce("looking through the folder")
            summary = pipeline.read(only)
            if is_in_use:
                self._announce("waiting for the first vectors")
                pipeline.embed(self._n_together)
                if self._wish.deepen:
                    pipeline.deepen(self._n_together)
                conclude(store, model)
        return replace(summary, problems=(*summary.problems, *_losses(pool)))

    def change_model(self, folder: FolderModel) -> tuple[str, ...]:
        """Read the folder with its next model, and put that index in use. Returns why it must wait, if it must."""
        self._announce(f"reading the folder again with the model {folder.next_model}")
        wanted = readable_files(self._root)
        summary = self.index(folder.next_model, folder.next_path, None, is_in_use=True)
        return put_in_use(self._root, folder, wanted) or summary.problems

    @property
    def _n_together(self) -> int:
        return self._share.n_workers * _PACKETS_PER_WORKER * PACKET_DOCUMENTS

    @contextmanager
    def _open(
        self, model: "ResidentModel", name: str, path: Path | None
    ) -> "Iterator[tuple[Pipeline, Store, RayPool]]":
        with _pool(self._job(model, name), self._share, self._announce) as pool:
            encoder = RemoteEncoder(model, pool, self._width(name))
            extractor = partial(RemoteExtractor, pool, encoder)
            with open_pipeline(self._root, encoder, lambda: False, self._wish.ocr, path, extractor) as (
                pipeline,
                store,
            ):
                yield pipeline, store, pool

    def _job(self, model: "ResidentModel", name: str) -> Job:
        return Job(
            version=__version__,
            model=name,
            fingerprint=model.fingerprint,
            device="cuda" if self._share.gpus else "cpu",
            dtype=current("dtype").dtype,
            adapters=dict(current().adapters),
            root=self._root,
            url=url_of(self._root),
            entries=_some_entries(self._root),
            ocr=wish_of(recognition(self._root, self._wish.ocr)),
            n_children=self._share.cores,
            stretch_tokens=PACKET_TOKENS,
            stretch_s=SAVE_EVERY_S,
        )

    def _width(self, name: str) -> float:
        """Return the width that was asked for, or 1: how fast this machine is says nothing of the cluster."""
        _, settings = read_config(locate(name).folder / "config.json")
        return width_of_documents(Moment(settings.widths, asked=self._wish.width or 1.0)).width


@contextmanager
def _pool(job: Job, shares: Share, announce: Callable[[str], None]) -> "Iterator[RayPool]":
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
