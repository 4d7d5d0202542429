"""Read XML with expat, event by event: keeps no tree, expands no declared entity, and nothing nests too deep for it.

For formats of which an HTML parser would make something else: OpenDocument, PowerPoint, FB2.
"""

import re
from collections.abc import Mapping
from typing import Protocol
from xml.parsers import expat

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.decoding import decode_html
from longsearch.indexer.extract.readers.encodings import codec_named

_SEPARATOR = " "
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""")


class Handler(Protocol):
    """Takes the events of a parser. Names come without their namespace."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """Text, in pieces of any length."""


def parse(data: bytes, handler: Handler) -> str:
    """Send the events of `data` to `handler`. Return why the rest could not be read, or "" if there is none.

    Raises `ExtractionError` if the file declares entities, as no office program does.
    """
    declared = _DECLARED.match(data[:300])
    if declared and not codec_named(declared[1].decode("ascii", "replace")).startswith("utf"):
        data = decode_html(data).encode()  # expat knows few encodings, and believes a label to the letter
    parser = expat.ParserCreate("utf-8" if declared else None, namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: handler.start(_local(name), _local_names(attributes))
    parser.EndElementHandler = lambda name: handler.end(_local(name))
    parser.CharacterDataHandler = handler.characters
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # no XML, or an encoding that Python does not know
        parser.buffer_text = False  # sends the text that it still holds
        return f"damaged: its XML cannot be read further ({error})"
    return ""


def _local(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]


def _local_names(attributes: dict[str, str]) -> dict[str, str]:
    """Drop namespaces. If two attributes then share a name, as do `id` and `r:id`, the one with a namespace wins."""
    if len(attributes) > 1:
        return {_local(key): attributes[key] for key in sorted(attributes, key=lambda key: _SEPARATOR in key)}
    return {_local(key): value for key, value in attributes.items()}


def _refuse(*_: object) -> None:
    raise ExtractionError("declares XML entities, as no such document does", "open it in its program and save a copy")
