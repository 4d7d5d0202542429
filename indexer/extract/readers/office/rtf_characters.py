r"""Replaces the bytes and the numbers of characters in the source of an RTF file by the characters themselves.

RTF writes a character beyond ASCII as bytes of the code page of its font or of the file (`\'e9`, or the byte itself),
or as a number with a substitute (`\u233?`). The rest of the source stays as it is, so that any parser can read it.
"""

import codecs
import re
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.encodings import codec_named

_TOKEN = re.compile(
    r"\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<word>[a-z]+)(?P<number>-?\d{1,10})? ?|\\.|[{}]|[^\\{}]+", re.DOTALL
)
_PAGE_OF_CHARSET = {
    **{77: "mac_roman", 78: "cp932", 79: "cp949", 80: "gb18030", 81: "big5hkscs", 86: "mac_cyrillic"},
    **{128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254"},
    **{163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"},
    **{254: "cp437", 255: "cp850"},
}
"""The code page of a font's `\\fcharset`. A font of another one (0: ANSI, 1: the default) has that of the file."""
_MAC_PAGES = {10000: "mac_roman", 10001: "cp932", 10006: "mac_greek", 10007: "mac_cyrillic", 10029: "mac_latin2"}
_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


def with_characters(data: bytes) -> str:
    """Return the source with its characters spelled out, and without data that are stored as bytes (`\\bin`)."""
    source = data.decode("latin-1")  # keeps each byte
    reader, place = _Reader(), 0
    while token := _TOKEN.match(source, place):
        place = token.end()
        if token["word"] == "bin":
            place += max(0, int(token["number"] or 0))
        else:
            reader.take(token)
    reader.flush()
    return "".join(reader.out)


@dataclass(slots=True)
class _Group:
    """The settings that hold until the end of a group."""

    font: int = -1
    n_substitutes: int = 1
    """Characters after a `\\u` that stand for it in old programs."""
    is_font_table: bool = False


@dataclass(slots=True)
class _Reader:
    out: list[str] = field(default_factory=list)
    page: str = "cp1252"
    """The code page of the file."""
    pages: dict[int, str] = field(default_factory=dict)
    """The code page of each font that has one of its own."""
    groups: list[_Group] = field(default_factory=lambda: [_Group()])
    n_to_skip: int = 0
    high: int = 0
    """The first half of a surrogate pair."""
    decoder: codecs.IncrementalDecoder | None = None

    def take(self, token: re.Match[str]) -> None:
        text = token[0]
        if token["byte"] is not None:
            self._bytes(bytes((int(token["byte"], 16),)))
        elif token["word"]:
            self._word(token["word"], int(token["number"] or 0), text)
        elif text in "{}" or text[0] == "\\":
            self.flush()
            self.n_to_skip = max(0, self.n_to_skip - 1) if text[0] == "\\" else 0
            self._group(text)
            self.out.append(text)
        else:
            self._plain(text)

    def _group(self, text: str) -> None:
        if text == "{":
            group = self.groups[-1]
            self.groups.append(_Group(group.font, group.n_substitutes, group.is_font_table))
        elif text == "}" and len(self.groups) > 1:
            self.groups.pop()

    def _word(self, word: str, number: int, text: str) -> None:
        if word == "u":
            self._numbered(number % 0x10000)
            return
        self.flush()
        if self.n_to_skip:
            self.n_to_skip -= 1
            return
        self._note(word, number)
        self.out.append(text)

    def _note(self, word: str, number: int) -> None:
        """Note what a control word says of the code page of what follows."""
        group = self.groups[-1]
        if word == "f":
            group.font = number
        elif word == "uc":
            group.n_substitutes = min(max(0, number), 10)
        elif word == "fonttbl":
            group.is_font_table = True
        elif word in ("fcharset", "cpg") and group.is_font_table:
            found = _PAGE_OF_CHARSET.get(number, "") if word == "fcharset" else _named(number)
            self.pages.update({group.font: found} if found else {})
        elif word == "ansicpg":
            self.page = _named(number) or self.page
        else:
            self.page = _PAGES.get(word, self.page)

    def _numbered(self, code: int) -> None:
        self.flush()
        self.n_to_skip = self.groups[-1].n_substitutes
        if 0xD800 <= code < 0xDC00:
            self.high = code
        elif 0xDC00 <= code < 0xE000:
            self.out.append(chr(0x10000 + (self.high - 0xD800) * 0x400 + code - 0xDC00) if self.high else "\ufffd")
            self.high = 0
        else:
            self.out.append("" if chr(code) in "\\{}\x00" else chr(code))

    def _plain(self, text: str) -> None:
        if self.n_to_skip:
            n_skipped = min(self.n_to_skip, len(text))
            self.n_to_skip, text = self.n_to_skip - n_skipped, text[n_skipped:]
        if text.isascii() and self.decoder is None:
            self.out.append(text)
            return
        for character in text:
            is_second = self.decoder is not None and self.decoder.getstate()[0]
            if character > "\x7f" or (is_second and character not in "\r\n"):
                self._bytes(character.encode("latin-1"))
            else:
                self.flush()
                self.out.append(character)

    def _bytes(self, data: bytes) -> None:
        if self.n_to_skip:
            self.n_to_skip -= 1
            return
        if self.decoder is None:
            page = self.pages.get(self.groups[-1].font, self.page)
            self.decoder = codecs.getincrementaldecoder(page)("replace")
        text = self.decoder.decode(data)
        self.out.append(text if text not in ("\\", "{", "}") else f"\\{text}")

    def flush(self) -> None:
        """End a run of bytes."""
        if self.decoder is not None:
            self.out.append(self.decoder.decode(b"", final=True))
            self.decoder = None


def _named(number: int) -> str:
    return _MAC_PAGES.get(number) or (codec_named(f"cp{number}") if number > 0 else "")
