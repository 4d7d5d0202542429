"""The process that draws pages: like `indexer.extract.child`, but at the usual priority, because somebody waits.

It may be killed at any moment. It does not decide about time limits: `renderer` does.
"""

import os
from collections.abc import Iterator

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.child import COMMAND as COMMAND_OF_READER
from longsearch.indexer.extract.child import OUT_OF_MEMORY_STATUS, take_over_standard_streams
from longsearch.indexer.extract.wire.limits import PAGE_TIMEOUT_S
from longsearch.indexer.extract.wire.protocol import (
    HEADER,
    DrawRequest,
    Ended,
    Failed,
    Message,
    Started,
    body_length,
    decode_draw_request,
    encode,
)
from longsearch.indexer.extract.wire.sandbox import end_if_stuck, limit_resources

COMMAND = (*COMMAND_OF_READER[:-1], __name__)
"""The command that starts this process."""


def main() -> None:
    """Serve requests until standard input ends."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # each thread would take 32 MB of the address space
    requests, answers = take_over_standard_streams()
    limit_resources()
    try:
        while header := requests.read(HEADER.size):
            request = decode_draw_request(requests.read(body_length(header)))
            end_if_stuck(PAGE_TIMEOUT_S)
            for message in answer(request):
                answers.write(encode(message))
                answers.flush()
            end_if_stuck(0)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)
    except BrokenPipeError:  # the parent is gone
        os._exit(0)


def answer(request: DrawRequest) -> Iterator[Message]:
    """Yield the messages that answer `request`; the last one is `Ended` or `Failed`."""
    from longsearch.indexer.extract.printed.drawing import draw

    yield Started()
    try:
        yield draw(request)
        yield Ended()
    except ExtractionError as error:
        yield Failed(error.message, error.hint)
    except OSError as error:
        yield Failed(f"cannot be opened: {error.strerror or error}", "check that it is there and that you may read it")
