"""Read address books (`.vcf`, vCard 2.1 to 4): each person or firm with its numbers, addresses and notes.

Written here because icalendar, which reads calendars, refuses parameters without a name (`TEL;WORK:`) and loses what
parts the pieces of a name; vobject would be one more library for it. Photos, sounds, keys and numbers of versions are
left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from longsearch.indexer.extract.clean import whole_line
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.versit import unfolded
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_LINE = re.compile(r"(?:([\w-]+)\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":;])*)*):(.*)")
"""group.NAME;PARAMETERS:value"""
_WORDS = {
    "NICKNAME": "Nickname", "ORG": "Organization", "TITLE": "Title", "ROLE": "Role", "TEL": "Phone", "EMAIL": "E-mail",
    "ADR": "Address", "LABEL": "Address", "IMPP": "Chat", "BDAY": "Birthday", "ANNIVERSARY": "Anniversary",
    "DEATHDATE": "Died", "BIRTHPLACE": "Birthplace", "DEATHPLACE": "Place of death", "RELATED": "Related",
    "MEMBER": "Member", "CATEGORIES": "Categories", "EXPERTISE": "Expertise", "HOBBY": "Hobby", "INTEREST": "Interest",
    "LANG": "Language", "URL": "Link", "SOCIALPROFILE": "Profile", "NOTE": "Note", "SPOUSE": "Spouse",
    "MANAGER": "Manager", "ASSISTANT": "Assistant", "CHILDREN": "Children", "SKYPE": "Skype", "AIM": "AIM",
    "ICQ": "ICQ", "JABBER": "Jabber", "DEPARTMENT": "Department", "PROFESSION": "Profession",
    "ABRELATEDNAMES": "Related", "ABDATE": "Date",
}  # fmt: skip
"""Property, without the prefix of a program that made it up (`X-`, `X-EVOLUTION-`) -> the word before its value."""
_PREFIX = re.compile(r"X-(?:EVOLUTION-|MOZILLA-|MS-|GOOGLE-|KADDRESSBOOK-X-|ANDROID-)?")
_KIND = re.compile(r"(?:^|;)(?:TYPE=)?\"?([\w,-]+)\"?(?=;|$)", re.IGNORECASE)
_KINDS = frozenset({"home", "work", "cell", "fax", "pager", "car", "main", "iphone", "mobile", "other", "school"})
_APPLE = re.compile(r"_\$!<(.*)>!\$_")
_PART = re.compile(r"(?<!\\)((?:\\\\)*);")
_ESCAPED = re.compile(r"\\(.)")
_ADDRESS = re.compile(r"^(?:mailto|tel|xmpp|sip|skype|aim):", re.IGNORECASE)
_MAX_CARDS = 50_000


@dataclass(frozen=True, slots=True)
class _Property:
    group: str
    name: str
    parameters: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The pieces of the value that say something, on one line."""
        return whole_line(", ".join(part for part in self.parts if part.strip()))


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    text = unfolded(decode(read_bytes(path)), escaped=",")
    builder = TextBuilder()
    for number, card in enumerate(_cards(text)):
        if number >= _MAX_CARDS:
            return builder.file_text(warning=f"only the first {_MAX_CARDS:,} contacts were read")
        _add(builder, card)
    if not builder.length:
        builder.add(text)
    return builder.file_text()


def _cards(text: str) -> Iterator[list[_Property]]:
    card: list[_Property] = []
    for line in text.splitlines():
        found = _LINE.fullmatch(line.strip())
        if found is None:
            continue
        name = found[2].upper()
        if name in ("BEGIN", "END"):
            if card:
                yield card
            card = []
        else:
            pieces = _PART.sub("\\1\0", found[4]).split("\0")
            parts = tuple(_ESCAPED.sub(_unescaped, piece).strip() for piece in pieces)
            card.append(_Property(found[1] or "", name, found[3], parts))
    if card:
        yield card


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] in "nN" else match[1]


def _add(builder: TextBuilder, card: list[_Property]) -> None:
    """Add a card: its name as a heading, then a line for each thing that it says."""
    labels = {one.group: _APPLE.sub(r"\1", one.text) for one in card if one.name == "X-ABLABEL"}
    lines = [(word, one) for one in card if (word := _WORDS.get(_PREFIX.sub("", one.name))) and _says(one.text)]
    name = _name(card)
    builder.add_heading(1, name or next((one.text for _, one in lines), "Contact"))
    if (own := _own_name(card)) and set(own.split()) - set(name.split()):
        builder.add(f"Name: {own}", tight=True)
    for word, one in lines:
        if word == "Note":
            builder.add("Note: " + "; ".join(one.parts))
            continue
        kinds = [kind for kind in ",".join(_KIND.findall(one.parameters)).lower().split(",") if kind in _KINDS]
        label = labels.get(one.group) if one.group else ""
        in_brackets = label or ", ".join(dict.fromkeys(kinds))
        mark = f"{word} ({in_brackets})" if in_brackets else word
        builder.add(f"{mark}: {_ADDRESS.sub('', one.text)}", tight=True)


def _says(value: str) -> bool:
    """Return whether a value is more than the number of another card."""
    return bool(value) and not value.startswith("urn:uuid:")


def _name(card: list[_Property]) -> str:
    stated = next((one.text for one in card if one.name == "FN" and one.text), "")
    return stated or _own_name(card) or next((one.text for one in card if one.name in ("ORG", "NICKNAME")), "")


def _own_name(card: list[_Property]) -> str:
    """Return the name of a person put together: the card has family, given and further names, titles and suffixes."""
    parts = next((one.parts for one in card if one.name == "N"), ())
    family, given, further, before, after = (*parts, *[""] * 5)[:5]
    return whole_line(" ".join(filter(None, (before, given, further, family, after))))
