"""Read XML with expat, event by event: keeps no tree, expands no declared entity, and nothing nests too deep for it.

For formats of which an HTML parser would make something else, such as Word, OpenDocument, PowerPoint and FB2. Names
come without their prefixes, so a prefix that the file forgets to declare does no harm.
"""

import io
import re
from collections.abc import Generator, Mapping, Sequence
from typing import IO, Protocol, TypeVar
from xml.parsers import expat

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.decoding import decode_html
from longsearch.indexer.extract.readers.encodings import codec_named
from longsearch.indexer.extract.wire import progress

_SEPARATOR = ":"
_PIECE_BYTES = 1 << 16
_OFF = frozenset({"0", "false", "off", "none"})
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""")

_Row = TypeVar("_Row", covariant=True)


class Handler(Protocol):
    """Takes the events of a parser. Names come without their namespace."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """Text, in pieces of any length."""


def parse(data: bytes | IO[bytes], handler: Handler) -> str:
    """Send the events of `data` to `handler`. Return why the rest could not be read, or "" if there is none.

    A file is read piece by piece. Raises `ExtractionError` if it declares entities, as no office program does.
    """
    events = _events(data, handler)
    while True:
        try:
            next(events)
        except StopIteration as end:
            return str(end.value)


class RowHandler(Handler, Protocol[_Row]):
    """A handler that makes rows."""

    def take(self) -> Sequence[_Row]:
        """Return the rows that are complete, once."""


def pieces_of(data: IO[bytes], handler: "RowHandler[_Row]") -> Generator[_Row, None, str]:
    """Yield the rows that `handler` makes of `data`, as they come. Return as `parse` does."""
    events = _events(data, handler)
    while True:
        try:
            next(events)
        except StopIteration as end:
            yield from handler.take()
            return str(end.value)
        yield from handler.take()


def _events(data: bytes | IO[bytes], handler: Handler) -> Generator[None, None, str]:
    """Do `parse`, one piece of the file at a step."""
    file = io.BytesIO(data) if isinstance(data, bytes) else data
    piece = file.read(_PIECE_BYTES)
    declared = _DECLARED.match(piece[:300])
    if declared and not codec_named(declared[1].decode("ascii", "replace")).startswith("utf"):
        # expat knows few encodings, and believes a label to the letter
        piece = decode_html(piece + file.read()).encode()
    parser = expat.ParserCreate("utf-8" if declared else None)
    parser.buffer_text = True
    local = _LocalNames()
    start, end = handler.start, handler.end
    parser.StartElementHandler = lambda name, attributes: start(local[name], _local_names(attributes, local))
    parser.EndElementHandler = lambda name: end(local[name])
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = _refuse
    try:
        while piece:
            parser.Parse(piece, False)
            progress.note()
            yield
            piece = file.read(_PIECE_BYTES)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # no XML, or an encoding that Python does not know
        parser.buffer_text = False  # sends the text that it still holds
        return f"damaged: its XML cannot be read further ({error})"
    return ""


def is_on(attributes: Mapping[str, str]) -> bool:
    """Return whether a property of Office Open XML is on: it is unless its value says no."""
    return attributes.get("val", "1").casefold() not in _OFF


class _LocalNames(dict[str, str]):
    """Name -> the name without its prefix. A file has a hundred names and a million elements."""

    def __missing__(self, name: str) -> str:
        self[name] = local = name.rpartition(_SEPARATOR)[2]
        return local


def _local_names(attributes: dict[str, str], local: _LocalNames) -> dict[str, str]:
    """Drop namespaces. If two attributes then share a name, as do `id` and `r:id`, the one with a namespace wins."""
    if len(attributes) > 1:
        keys = sorted(attributes, key=lambda key: _SEPARATOR in key)
        return {local[key]: attributes[key] for key in keys if not key.startswith("xmlns")}
    return {local[key]: value for key, value in attributes.items()}


def _refuse(*_: object) -> None:
    raise ExtractionError("declares XML entities, as no such document does", "open it in its program and save a copy")
