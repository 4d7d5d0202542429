"""The process that reads files: requests come in on its standard input, messages go out on its standard output.

It may be killed at any moment, and nothing is lost but the page at hand. Loads the library of a format when the first
file of it comes. Decides nothing about time, retries or what a failure means: that is `reader`.
"""

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

from engine.errors import ExtractionError
from indexer.extract.formats import LIGHT_MARKUP, Format
from indexer.extract.limits import DOCUMENT_TIMEOUT_S, OCR_DOCUMENT_TIMEOUT_S
from indexer.extract.messages import HEADER, Ended, Failed, Message, Request, Whole, decode_request, encode
from indexer.extract.sandbox import end_if_stuck, limit_this_process

_MODULES = {
    Format.MARKDOWN: "markdown_text",
    Format.HTML: "html_text",
    Format.DOCX: "docx",
    Format.EPUB: "epub",
    Format.ORG: "org_text",
    Format.RST: "rst_text",
    Format.TEX: "tex_text",
    Format.PLAIN: "plain_text",
}
OUT_OF_MEMORY_STATUS = 77
"""Exit status after a MemoryError: the address space is full of holes by then, so the process starts anew."""


def main() -> None:
    """Serve requests until standard input ends."""
    requests, answers = _take_over_standard_streams()
    limit_this_process()
    try:
        while header := requests.read(HEADER.size):
            request = decode_request(requests.read(*HEADER.unpack(header)))
            end_if_stuck(DOCUMENT_TIMEOUT_S if request.ocr is None else OCR_DOCUMENT_TIMEOUT_S)
            for message in answer(request):
                answers.write(encode(message))
                answers.flush()
            end_if_stuck(0)
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
    path, file_format = Path(request.path), Format(request.format)
    if file_format is Format.PDF:
        from indexer.extract import pdf

        yield from pdf.read(path, request.first_page, request.pdfium, request.ocr)
    else:
        yield _read_whole(path, file_format)


def _read_whole(path: Path, file_format: Format) -> Whole:
    """A file that is not a PDF; as plain text where the parser of its light markup fails."""
    module = import_module(f"indexer.extract.{_MODULES[file_format]}")
    try:
        return cast(Whole, module.read(path))
    except (MemoryError, ExtractionError, OSError):
        raise
    except Exception as error:  # a parser's, of nearly any class
        if file_format not in LIGHT_MARKUP:
            raise ExtractionError("damaged, or too deeply nested to be read", "save a copy as plain text") from error
    return _read_whole(path, Format.PLAIN)


if __name__ == "__main__":
    main()
