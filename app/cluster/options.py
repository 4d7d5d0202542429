"""The options of `longsearch index` for a cluster, and what they start. Imports no Ray before it is asked for."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from longsearch.engine.errors import LongsearchError
from longsearch.engine.widths import parse_wish

if TYPE_CHECKING:
    from longsearch.app.indexing.recipe import Job
    from longsearch.indexer.pipeline import ReadSummary


def add_cluster_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch index` that hand the work to a cluster."""
    parser.add_argument(
        "--on",
        metavar="CLUSTER",
        type=_address,
        help="read texts and compute vectors on many machines with Ray: ray for the cluster of RAY_ADDRESS, or for this"
        " machine's GPUs or cores; ray://HOST:PORT for another cluster. See docs/cluster.md",
    )
    parser.add_argument(
        "--worker-cores",
        metavar="N",
        type=_positive,
        help="with --on: processor cores of each worker (default: 4); a cluster with GPUs has a worker for each GPU",
    )


def on_cluster(root: Path, options: Namespace, job: "Job") -> "ReadSummary":
    """Do a job with the workers of the cluster that the options name. Raises LongsearchError if that cannot be."""
    from longsearch.app.cluster.running import index_on_cluster
    from longsearch.app.folders.indexes import IndexLockedError

    width = None if options.width is None else parse_wish(options.width)
    try:
        return index_on_cluster(root, job, options.on, options.worker_cores, width).summary
    except IndexLockedError as error:
        hint = "stop the daemon first (longsearch daemon stop): only one process can index a folder"
        raise LongsearchError(error.message, hint) from error


def _address(text: str) -> str:
    """Return the name of a cluster."""
    from longsearch.app.cluster.connection import check_address

    try:
        return check_address(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no cluster: give ray or ray://HOST:PORT") from error


def _positive(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of cores")
    return int(text)
