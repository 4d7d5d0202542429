"""Unfolds the lines of calendars and contacts, which share a form (RFC 5545, RFC 6350), and values of before 1998."""

import quopri
import re

from longsearch.indexer.extract.readers.decoding import decode_part

_QUOTED = re.compile(
    r"^([\w.-]+)((?:;[^:\r\n;]*)*;(?:ENCODING=)?QUOTED-PRINTABLE(?:;[^:\r\n;]*)*)"
    r":((?:[^\r\n]*=\r?\n)*[^\r\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
"""A value of before 1998 (vCalendar, vCard 2.1): its bytes as in mail, and its lines ended as in mail."""
_CHARSET = re.compile(r";CHARSET=([\w-]+)", re.IGNORECASE)
_KIND = re.compile(r";(?:TYPE=)?(HOME|WORK|CELL|FAX|PAGER|CAR)(?=;|$)", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")


def unfolded(text: str, escaped: str) -> str:
    """Return a file with a line for each value, in the form of today.

    `escaped`: the marks that a quoted value holds as text, and which a value of today therefore escapes.
    """
    marks = {ord(mark): f"\\{mark}" for mark in escaped}

    def unquoted(match: re.Match[str]) -> str:
        charset = found[1] if (found := _CHARSET.search(match[2])) else ""
        words = decode_part(quopri.decodestring(match[3].encode("utf-8", "surrogateescape")), charset)
        kinds = "".join(f";TYPE={kind}" for kind in _KIND.findall(match[2]))
        return f"{match[1]}{kinds}:" + "\\n".join(words.translate(marks).splitlines())

    return _FOLD.sub("", _QUOTED.sub(unquoted, text.lstrip("\ufeff")))
