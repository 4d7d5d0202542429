"""Finds the codec that a label of an encoding means, as browsers do: "iso-8859-1" is Windows-1252, "gb2312" GB 18030.

The table of labels is WHATWG's, from `webencodings`. Labels that it lacks (DOS and Mac pages, UTF-7) are Python's.
"""

import codecs
import re

import webencodings

_WIDER = {"gbk": "gb18030", "gb2312": "gb18030", "iso2022_jp": "iso2022_jp_ext"}
"""The codec that reads all that another one reads, and more."""
_NO_CHARSET_NAMES = (
    "ascii idna mbcs oem punycode raw-unicode-escape undefined unicode-escape replacement x-user-defined"
)
_NO_CHARSETS = frozenset(_NO_CHARSET_NAMES.split())
"""Codecs that are no charset, are too slow on hostile input, or say nothing: "us-ascii" stands on mail of any charset.
"""
_PAGE = re.compile(r"(?:x-)?(?:cp|ibm|dos|oem|ms|win|windows)?[-_ ]?(\d{3,5})")
_JAPANESE_ROWS = "longsearch-japanese-rows"
"""Name of an error handler: reads the characters that NEC and IBM added to JIS X 0208, which Python's codecs lack."""


def codec_named(label: str) -> str:
    """Return the name of Python's codec for a label, or "" if the label says nothing."""
    label = label.strip().strip("\"'").lower()
    if not label or label in ("us-ascii", "ascii", "ansi_x3.4-1968"):
        return ""
    known = webencodings.lookup(label)
    if known is not None and known.name != "replacement":  # browsers refuse these, mail programs wrote them
        name = known.codec_info.name
        return "" if name in _NO_CHARSETS else _WIDER.get(name, name)
    page = _PAGE.fullmatch(label)
    for name in (label, label.removeprefix("x-"), f"cp{page[1]}" if page else ""):
        try:
            found = codecs.lookup(name) if name else None
        except (LookupError, ValueError):
            continue
        if found and found.name not in _NO_CHARSETS and _reads_text(found.name):
            return _WIDER.get(found.name, found.name)
    return ""


def _reads_text(name: str) -> bool:
    try:
        b"a".decode(name)
    except Exception:  # a codec from bytes to bytes
        return False
    return True


def is_single_byte(codec: str) -> bool:
    """Return whether each byte of this encoding is a character."""
    try:
        return not codec.startswith("utf") and len(bytes(range(0x80, 0x100)).decode(codec, "replace")) == 0x80
    except LookupError:
        return False


def decoded_as(data: bytes, codec: str) -> str:
    """Return `data` decoded; U+FFFD stands for what the encoding does not have."""
    is_japanese = codec.startswith(("euc_j", "iso2022_jp"))
    return data.decode(codec, _JAPANESE_ROWS if is_japanese else "replace")


def _japanese_row(error: UnicodeError) -> tuple[str, int]:
    """Read two bytes of EUC-JP or ISO-2022-JP through Shift JIS, whose codec (cp932) has the added rows."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = bytes(byte & 0x7F for byte in error.object[error.start : error.start + 2])
    if len(pair) == 2 and all(0x21 <= byte <= 0x7E for byte in pair):
        row, cell = pair
        lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
        trail = cell + (0x7E if row % 2 == 0 else 0x20 if cell >= 0x60 else 0x1F)
        character = bytes((lead, trail)).decode("cp932", "replace")
        if "\ufffd" not in character:
            return character, error.start + 2
    return "\ufffd", error.end


codecs.register_error(_JAPANESE_ROWS, _japanese_row)
