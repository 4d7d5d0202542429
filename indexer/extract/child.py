"""The process that reads files: requests come in on its standard input, messages go out on its standard output.

It may be killed at any moment, and nothing is lost but the page at hand. Loads the library of a format when the first
file of it comes. Decides nothing about time, retries or what a failure means: that is `reader`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engine.errors import ExtractionError
from indexer.extract.formats import Format
from indexer.extract.messages import HEADER, Ended, Failed, Message, Request, decode_request, encode
from indexer.extract.sandbox import end_if_stuck, limit_this_process

OUT_OF_MEMORY_STATUS = 77
"""Exit status after a MemoryError: the address space is full of holes by then, so the process starts anew."""


def main() -> None:
    """Serve requests until standard input ends."""
    requests, answers = _take_over_standard_streams()
    limit_this_process()
    try:
        while header := requests.read(HEADER.size):
            request = decode_request(requests.read(*HEADER.unpack(header)))
            end_if_stuck(True)
            for message in answer(request):
                answers.write(encode(message))
                answers.flush()
            end_if_stuck(False)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)
    except BrokenPipeError:  # the parent is gone
        os._exit(0)


def _take_over_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes on descriptors of their own; 0, 1 and 2 lead nowhere, whatever a library writes to them."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return requests, answers


def answer(request: Request) -> Iterator[Message]:
    """What `request` is answered, ended by `Ended` or `Failed`."""
    try:
        yield from _read(request)
        yield Ended()
    except ExtractionError as error:
        yield Failed(error.message, error.hint)
    except OSError as error:
        yield Failed(f"cannot be opened: {error.strerror or error}", "check that it is there and that you may read it")


def _read(request: Request) -> Iterator[Message]:
    path = Path(request.path)
    match Format(request.format):
        case Format.PDF:
            from indexer.extract import pdf

            yield from pdf.read(path, request.first_page, request.pdfium)
        case Format.MARKDOWN:
            from indexer.extract import markdown_text

            yield markdown_text.read(path)
        case Format.HTML:
            from indexer.extract import html_text

            yield html_text.read(path)
        case Format.PLAIN:
            from indexer.extract import plain_text

            yield plain_text.read(path)


if __name__ == "__main__":
    main()
