"""The process that draws pages: like `indexer.extract.child`, but at the usual priority, because somebody waits.

It may be killed at any moment. It does not decide about time limits: `renderer` does.
"""

import os
from collections.abc import Iterator

from longsearch.indexer.extract.child import COMMAND as COMMAND_OF_READER
from longsearch.indexer.extract.child import enter_jail, serve, source_of, with_end
from longsearch.indexer.extract.wire.limits import PAGE_TIMEOUT_S
from longsearch.indexer.extract.wire.network import leave_network
from longsearch.indexer.extract.wire.protocol import DrawRequest, Message, Started, decode_draw_request
from longsearch.indexer.extract.wire.sandbox import limit_resources

COMMAND = (*COMMAND_OF_READER[:-1], __name__)
"""The command that starts this process."""


def main() -> None:
    """Serve requests until standard input ends."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # each thread would take 32 MB of the address space
    leave_network()
    enter_jail()
    serve(limit_resources, decode_draw_request, lambda _: PAGE_TIMEOUT_S, answer)


def answer(request: DrawRequest) -> Iterator[Message]:
    """Yield the messages that answer `request`; the last one is `Ended` or `Failed`."""
    return with_end(_drawn(request))


def _drawn(request: DrawRequest) -> Iterator[Message]:
    from longsearch.indexer.extract.printed.drawing import draw

    yield Started()
    yield draw(source_of(request), request)
