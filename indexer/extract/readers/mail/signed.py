"""Finds the message in one that S/MIME has signed as a whole: `smime.p7m`, a structure of ASN.1 (RFC 5652)."""

from collections.abc import Iterator

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_SEQUENCE, _OBJECT, _OWN, _OCTETS, _OCTETS_IN_PARTS = 0x30, 0x06, 0xA0, 0x04, 0x24
_MAX_DEPTH = 12
_MAX_PARTS = 100_000

Element = tuple[int, bytes]
"""Its tag, and what it holds."""


def signed_content(data: bytes) -> bytes:
    """Return what was signed; b"" if this is no signed content, such as an encrypted message."""
    try:
        root = _inside(data, _SEQUENCE)
        kind = next(elements(root))
        if kind != (_OBJECT, _SIGNED_DATA):
            return b""
        signed = _inside(_inside(root, _OWN), _SEQUENCE)
        content = _inside(_inside(signed, _SEQUENCE), _OWN)
        tag, octets = next(elements(content))
        if tag == _OCTETS_IN_PARTS:
            return b"".join(part for tag, part in elements(octets) if tag == _OCTETS)
        return octets if tag == _OCTETS else b""
    except (StopIteration, IndexError, ValueError):
        return b""


def _inside(data: bytes, tag: int) -> bytes:
    """Return what the first element of this tag holds."""
    return next(content for found, content in elements(data) if found == tag)


def elements(data: bytes) -> Iterator[Element]:
    """Yield the elements that stand one after another."""
    place = 0
    for _ in range(_MAX_PARTS):
        if place + 2 > len(data) or data[place : place + 2] == b"\0\0":
            return
        start, stop, following = _bounds(data, place, 0)
        yield data[place], data[start:stop]
        place = following


def _bounds(data: bytes, place: int, depth: int) -> tuple[int, int, int]:
    """Return where the content of an element begins and ends, and where the next one begins."""
    length = data[place + 1]
    start = place + 2
    if length == 0x80:  # not told: two zeros end it
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        inner = start
        while data[inner : inner + 2] != b"\0\0":
            inner = _bounds(data, inner, depth + 1)[2]
        return start, inner, inner + 2
    if length > 0x80:
        n_bytes = length - 0x80
        length = int.from_bytes(data[start : start + n_bytes], "big")
        start += n_bytes
    return start, start + length, start + length
