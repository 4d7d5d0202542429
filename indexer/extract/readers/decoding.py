"""Decode the bytes of a text file, a part of a mail or a page: as UTF-8 if valid, else as declared, else as likeliest.

Of 2,304 pieces of text in 43 pairs of a language and an encoding (14 languages; encodings of the web, ISO's, of DOS and
of the Macintosh; 80 to 1,500 characters), 2,252 were read letter by letter; 2,023 by the detector alone.
"""

import codecs
import re
import unicodedata
from collections import Counter

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.encodings import codec_named, decoded_as, is_single_byte
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_TEXT_FILE_BYTES

# UTF-32's mark begins with UTF-16's, so the longer one comes first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_MAX_CONTROL_SHARE = 0.1
_HEAD_BYTES = 8_000
"""A NUL among the first 8,000 bytes means binary data (git's rule), or wide characters. A later one is removed as a
control character."""
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_LETTERS_SHARE = 0.7
"""Share of letters and spaces in text of wide characters. Numbers that are taken for them have controls as well."""
_LEAST_SPACES, _MOST_SPACES = 0.05, 0.35
"""Share of spaces in text of one line."""
_LEAST_LETTERS = 16
"""Letters that bytes with NULs and no mark must have in wide characters: two small numbers make a letter as well."""
_LEAST_LATIN_LETTERS = 7
"""The same if all other bytes are zero: numbers are seldom letters of Latin alone, with a space or a line end."""
_SAME_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}
_SCRIPT_SHARE = 0.6
_OLD_JAPANESE = re.compile(rb"\x1b\$[@B(]")  # ISO-2022-JP has ASCII bytes alone, so it would pass for UTF-8
_OF_ASCII_BYTES = ("utf-7", "hz", "iso2022_kr")  # which would pass for UTF-8 too
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_SAMPLE_BYTES = 65_536
_CONTEXT_BYTES = 200
"""Of ASCII before the first other byte: words around it help to tell encodings apart."""
_LEAST_BYTES = 5
"""Fewer bytes beyond ASCII tell nothing to a detector."""
_SURE_UTF8 = 3
"""Characters beyond ASCII that make UTF-8 sure although an encoding of several bytes is declared."""
_WRONG_SHARE = 0.05
"""Share of the bytes beyond ASCII that the declared encoding does not have, from which the declaration is wrong."""
_HTML_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE
)


def read_bytes(path: Source) -> bytes:
    """Return the file's bytes. Raises `ExtractionError` if the file is empty or too large."""
    size = path.stat().st_size
    if size == 0:
        raise ExtractionError("empty file")
    if size > MAX_TEXT_FILE_BYTES:
        raise ExtractionError(
            f"too large: {size / 1e6:,.0f} MB of text, the limit is {MAX_TEXT_FILE_BYTES / 1e6:,.0f} MB",
            "split the file, or name it in .longsearchignore",
        )
    return path.read_bytes()


def decode(data: bytes, label: str = "") -> str:
    """Return `data` as text; `label` is the encoding that it declares, or "". Raises `ExtractionError` if binary."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    n_controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\0" in data[:_HEAD_BYTES] or n_controls > _MAX_CONTROL_SHARE * len(data):
        if (wide := _wide(data)) and _is_prose(data[: _HEAD_BYTES * 4].decode(wide, errors="replace")):
            return data.decode(wide, errors="replace")
        raise ExtractionError("not text: binary data", "give it the right suffix, or name it in .longsearchignore")
    return decode_part(data, label)


def decode_part(data: bytes, label: str = "") -> str:
    """Do the same as `decode` for what is surely text, such as a part of a mail: no text is refused."""
    codec = codec_named(label)
    if _OLD_JAPANESE.search(data):
        return decoded_as(data, codec if codec.startswith("iso2022") else "iso2022_jp_ext")
    if codec in _OF_ASCII_BYTES:
        return decoded_as(data, codec)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _not_utf8(data, codec)
    is_sure = not codec or is_single_byte(codec) or codec.startswith("utf")
    if is_sure or text.isascii() or sum(character > "\x7f" for character in text) >= _SURE_UTF8:
        return text
    return decoded_as(data, codec)


def decode_html(data: bytes, label: str = "") -> str:
    """Decode `data` by its byte order mark, as UTF-8, by `label` or the charset that its head names, or as it seems."""
    named = None if codec_named(label) else _HTML_CHARSET.search(data[:2048])
    label = named[1].decode("ascii", "replace") if named else label
    # The head was just read as ASCII, so a page that claims UTF-16 lies.
    return decode(data, "" if codec_named(label).startswith(("utf-16", "utf-32")) else label)


def _not_utf8(data: bytes, codec: str) -> str:
    """Decode bytes that are not valid UTF-8; `codec` is that of the declared encoding, or ""."""
    if codec.startswith(("utf-16", "utf-32")) and _wide(data):
        return data.decode(_wide(data), "replace")
    if not codec or codec.startswith("utf"):
        return _broken_utf8(data) or guessed(data)
    if is_single_byte(codec) and (text := _broken_utf8(data)):
        return text
    text = decoded_as(data, codec)
    if text.count("\ufffd") > _WRONG_SHARE * len(_NOT_ASCII.findall(data)) + 1:
        return guessed(data)
    return text


def guessed(data: bytes) -> str:
    """Return `data` in the likeliest encoding of the web, of DOS or of old Macs."""
    if _OLD_JAPANESE.search(data):
        return decoded_as(data, "iso2022_jp_ext")
    from longsearch.indexer.extract.readers.alphabets import is_mixed, likeliest  # 6 ms, and nearly all text is UTF-8

    first = found.start() if (found := _NOT_ASCII.search(data)) else 0
    sample = data[max(0, first - _CONTEXT_BYTES) : first + _SAMPLE_BYTES]
    if len(_NOT_ASCII.findall(sample)) < _LEAST_BYTES:
        return data.decode(likeliest(sample, "cp1252"), errors="replace")
    from chardet import EncodingEra, detect  # 18 ms

    eras = EncodingEra.MODERN_WEB | EncodingEra.DOS | EncodingEra.LEGACY_MAC
    name = detect(sample, encoding_era=eras, prefer_superset=True, compat_names=False)["encoding"] or "cp1252"
    codec = codec_named(name) or "cp1252"
    if is_single_byte(codec) or is_mixed(decoded_as(sample, codec)):
        codec = likeliest(sample, codec)
    return decoded_as(data, codec)


def _wide(data: bytes) -> str:
    """Return the encoding of text in UTF-16 or UTF-32 that has no byte order mark, or ""."""
    sample = data[: _HEAD_BYTES * 4]
    pages: dict[str, int] = {}
    for codec in _WIDE:
        width = int(codec[4:6]) // 8
        text = sample[: len(sample) // width * width].decode(codec, "replace")
        n_odd = sum(unicodedata.category(character)[0] == "C" and character not in "\t\n\r\f" for character in text)
        n_plain = sum(character.isalpha() or character.isspace() for character in text)
        if n_odd <= len(text) // 100 and n_plain > _LETTERS_SHARE * len(text):
            pages[codec] = len({ord(character) >> 8 for character in text})
    return min(pages, key=lambda codec: pages[codec], default="")


def _is_prose(text: str) -> bool:
    """Return whether `text` has lines or words, and many letters of one script."""
    names = (unicodedata.name(character, "").partition(" ")[0] for character in text if character.isalpha())
    scripts = Counter(_SAME_SCRIPT.get(name, name) for name in names)
    most = max(scripts.values(), default=0)
    least = _LEAST_LATIN_LETTERS if max(text, default="") <= "\xff" else _LEAST_LETTERS
    has_words = _LEAST_SPACES <= text.count(" ") / max(1, len(text)) <= _MOST_SPACES
    return ("\n" in text or "\r" in text or has_words) and most >= max(least, _SCRIPT_SHARE * scripts.total())


def _broken_utf8(data: bytes) -> str:
    """Return `data` as UTF-8 with a few broken bytes replaced, or "" if it is more likely Windows-1252.

    Windows-1252 seldom looks like UTF-8: at most one in a hundred of its non-ASCII bytes begins a valid sequence.
    """
    text = data.decode("utf-8", errors="replace")
    n_broken = text.count("\ufffd")
    n_whole = sum(character > "\x7f" for character in text) - n_broken
    return text if n_whole > n_broken else ""
