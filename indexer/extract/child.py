"""The process that reads files: requests arrive on its standard input, messages leave on its standard output.

It may be killed at any moment; only the page it is reading is lost. It loads the library of a format when the first
file of that format arrives. It does not decide about time limits, retries or failures: `reader` does.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.dispatch import read_text
from longsearch.indexer.extract.formats import HOLDS_FILES, Format
from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire import handing, jail, progress
from longsearch.indexer.extract.wire.limits import DOCUMENT_TIMEOUT_S, MAILBOX_TIMES, OCR_DOCUMENT_TIMEOUT_S
from longsearch.indexer.extract.wire.network import leave_network
from longsearch.indexer.extract.wire.protocol import (
    HEADER,
    AnyRequest,
    Described,
    Ended,
    Failed,
    GoesOn,
    Message,
    Request,
    Started,
    body_length,
    decode_request,
    encode,
)
from longsearch.indexer.extract.wire.sandbox import end_if_stuck, limit_this_process

_Asked = TypeVar("_Asked")

IMPORT_ROOT = str(Path(sys.modules[__name__.partition(".")[0]].__path__[0]).absolute().parent)
"""The folder that holds our top-level package."""
_is_free = True  # until the first file that no command of the person reads
_PROGRAM = (
    "import sys; from importlib import import_module; sys.path.append(sys.argv[1]); import_module(sys.argv[2]).main()"
)
# The child starts in "/", so `-m` would not find a package that only the parent's sys.path leads to. -P and appending
# the path keep the standard library first: neither the current folder nor ours can replace one of its modules.
COMMAND = (sys.executable, "-P", "-c", _PROGRAM, IMPORT_ROOT, __name__)
"""The command that starts this process."""
OUT_OF_MEMORY_STATUS = 77
"""Exit status after a MemoryError: the address space is fragmented by then, so a new process must take over."""


def main() -> None:
    """Serve requests until standard input ends."""
    serve(limit_this_process, decode_request, _timeout_s, _answer_jailed)


def serve(
    limit: Callable[[], None],
    decode: Callable[[bytes], _Asked],
    timeout_s: Callable[[_Asked], float],
    answer: Callable[[_Asked], Iterator[Message]],
) -> None:
    """Answer requests from standard input until it ends. `limit` takes this process's rights away before the first.

    A request that takes longer than its `timeout_s` ends the process, and so does a lack of memory.
    """
    requests, answers = take_over_standard_streams()
    limit()

    def send(message: Message) -> None:
        answers.write(encode(message))
        answers.flush()

    progress.tell = lambda: send(GoesOn())
    try:
        while header := requests.read(HEADER.size):
            request = decode(requests.read(body_length(header)))
            end_if_stuck(timeout_s(request))
            for message in answer(request):
                send(message)
            end_if_stuck(0)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)
    except BrokenPipeError:  # the parent is gone
        os._exit(0)


def _timeout_s(request: Request) -> float:
    if request.ocr is not None and not request.ocr_known_only:
        return OCR_DOCUMENT_TIMEOUT_S
    is_mailbox = request.format == Format.MAILBOX
    return DOCUMENT_TIMEOUT_S * (MAILBOX_TIMES if is_mailbox else 1)


def take_over_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move the two pipes to new descriptors and point 0, 1 and 2 nowhere, so that no library can write to the pipes."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return requests, answers


def _answer_jailed(request: Request) -> Iterator[Message]:
    global _is_free
    if _is_free and request.format != Format.ADAPTED:  # the commands that a person names may ask a server
        _is_free = False
        leave_network()
        if request.is_handed:
            enter_jail(request.ocr_cache)
        elif _channel():  # a program opens the file by its path
            from longsearch.indexer.extract import tools

            enter_jail(request.path, writable=[str(tools.make_folder())])
    return answer(request)


def enter_jail(*readable: str, writable: Sequence[str] = ()) -> None:
    """Give up the right to open files, if the parent hands over those that are read."""
    if _channel():
        jail.enter(IMPORT_ROOT, sys.argv[4:], readable, writable)


def _channel() -> int:
    """Return the descriptor by which the parent hands files over; 0 if it does not, because the kernel has no jail.

    The folders of the programs that may be started follow it.
    """
    return int(sys.argv[3]) if len(sys.argv) > 3 else 0


def source_of(request: AnyRequest) -> Source:
    """Return the file to read: the open one that the parent has handed over, or its path."""
    return handing.take(request.path, _channel()) if request.is_handed else Path(request.path)


def answer(request: Request) -> Iterator[Message]:
    """Yield the messages that answer `request`; the last one is `Ended` or `Failed`."""
    return with_end(_read(request))


def with_end(messages: Iterator[Message]) -> Iterator[Message]:
    """Yield these messages, then `Ended`; `Failed` if the file cannot be read."""
    try:
        yield from messages
        yield Ended()
    except ExtractionError as error:
        yield Failed(error.message, error.hint)
    except OSError as error:
        yield Failed(f"cannot be opened: {error.strerror or error}", handing.HINT)


def _read(request: Request) -> Iterator[Message]:
    path, file_format = source_of(request), Format(request.format)
    if file_format is Format.PDF or file_format in HOLDS_FILES:  # the others do without this module, which loads much
        from longsearch.indexer.extract.readers import attachments

        attachments.are_read = not request.alone
    draft.is_read = request.is_draft
    if file_format is Format.PDF:
        from longsearch.indexer.extract.pdf import document as pdf
        from longsearch.indexer.extract.xmp import read_xmp

        ocr = pdf.OcrWish(request.ocr, request.ocr_cache, request.ocr_known_only) if request.ocr is not None else None
        yield Started()
        about = request.first_page, request.pdfium, ocr, request.head_only, attachments.inside_pdf, request.apart
        yield from pdf.read(path, *about)
        yield Described(read_xmp(path))
    elif file_format is Format.ADAPTED:
        from longsearch.indexer.extract.readers import adapted

        yield Started()
        yield adapted.read(request.path, tuple(request.command))
    else:
        yield Started()
        yield read_text(path, file_format)
