"""Downloads a file of an object store for the person who opens it. The next run of index removes such copies."""

import os
import shutil
import tempfile
from pathlib import Path

from longsearch.app.paths import stand_in, url_of
from longsearch.engine.errors import GoneError, LongsearchError


def download(path: str) -> None:
    """Bring a file of an object store here, unless it is here already; do nothing for a file of this machine.

    `path`: that of the file here. Raises LongsearchError if it cannot be downloaded.
    """
    url = url_of(path)
    if not url or Path(path).exists():
        return
    from longsearch.indexer.sources.objects import ObjectStore

    place = Path(path)
    store = ObjectStore(url.rpartition("/")[0], place.parent)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as folder:
        local = Path(folder) / place.name
        try:
            store.fetch(place, local)
        except GoneError as error:
            hint = "it leaves the results when the store is indexed again"
            raise LongsearchError(f"{url} is gone", hint) from error
        os.replace(local, place)  # noqa: PTH105 - no file half downloaded is opened


def begin_store(url: str) -> None:
    """Make the folder that stands for an object store, empty: copies from earlier may be old by now.

    Raises LongsearchError if there is no such store.
    """
    from longsearch.indexer.sources.objects import ObjectStore

    root = stand_in(url)
    ObjectStore(url_of(root), root).check_there()
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True, mode=0o700)
