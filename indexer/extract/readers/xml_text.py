"""Read the XML files of an archive with an HTML parser, which tolerates damage and expands no declared entity."""

import re

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from longsearch.indexer.extract.clean import clean_characters
from longsearch.indexer.extract.readers.decoding import decode_html

_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]{0,2000}?)?)/>")
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())


def with_closing_tags(source: str) -> str:
    """Return XML or XHTML `source` with closing tags: an HTML parser would let `<title/>` swallow all that follows."""
    return _SELF_CLOSED.sub(_closed, source)


def _closed(match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if name.lower() in _VOID else f"<{name}{match[2]}></{name}>"


def parse_xml(data: bytes) -> LexborHTMLParser | None:
    """Return the tree of `data`, or None if it cannot be parsed. Raises `ExtractionError` for binary data."""
    try:
        return LexborHTMLParser(with_closing_tags(clean_characters(decode_html(data))))
    except SelectolaxError:
        return None
