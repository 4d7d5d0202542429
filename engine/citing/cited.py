"""Reads the sources that a draft cites: keys, authors with years, links, footnotes, and numbers of a list. Pure."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from longsearch.engine.dates import is_month

_YEAR = r"(?:1[5-9]\d\d|20\d\d)"
_NAME = r"[^\W\d_][\w'’-]{0,60}"
_FILE_NAME = r"\w[^\s()\[\],;<>]{2,200}\.(?:pdf|epub|docx?|odt|html?|md|tex|txt)"
_IN_BRACKETS = r"(?:[^()\n]|\n(?!\s*\n))"
"""A character of one paragraph."""
_CITED = re.compile(
    r"\[[^\]\[@\n]{0,300}@(?P<keys>[^\]\n]{0,500})\]"
    r"|(?<![\w@./])@(?P<bare>\w(?:[\w:./-]{0,100}\w)?)"
    r"|\\[a-zA-Z]{0,20}?cite[a-zA-Z]{0,20}\*?(?:\[[^\]]{0,300}\]){0,2}\{(?P<tex>[^}]{1,500})\}"
    r"|#cite\(<(?P<typst>[^>\n]{1,100})>"
    r"|\]\((?:<(?P<angled>[^>\n]{1,500})>|(?P<link>[^)\s]{1,500}))\)"
    rf"|[\[(](?:[^()\[\]\n]{{0,40}}\s)?(?P<file>{_FILE_NAME})"
    r"(?:[\s,:;][^()\[\]\n]{0,60})?[\])](?!\()"
    rf"|\((?P<inside>{_IN_BRACKETS}{{0,200}}\b{_YEAR}[a-z]?\b{_IN_BRACKETS}{{0,200}})\)"
    rf"|(?<![\w'’-])(?P<said>{_NAME})(?: et al\.?| (?:and|und|et|y|e|en|&) {_NAME})?"
    rf",? \((?P<when>{_YEAR})[a-z]?\b(?:[^()\n]{{0,60}}\))?"
    r"|\[\^(?P<note>[^\]\s]{1,50})\](?!:)|\^\[(?P<inline>[^\]]{1,500})\]"
    r"|\\footnote\{(?P<foot>(?:[^{}]|\{[^{}]{0,200}\}){0,1000})\}"
    r"|\[(?P<number>\d{1,3})(?:[,;:][^\]\n]{0,100})?\]"
)
_FILE = re.compile(rf"(?<![\w/.-]){_FILE_NAME}(?!\w)")
_KEY_WITH_YEAR = re.compile(rf"^([^\W\d_]+)[^\d]{{0,3}}({_YEAR})")
_IN_YEAR = re.compile(rf"\b{_YEAR}(?=[a-z]?\b)")
_BEFORE_AUTHORS = re.compile(
    r"^(?:see|cf\.|vgl\.|siehe|voir|e\.g\.|z\. ?B\.|in|from|aus|quoted in|zitiert nach)\s+", re.IGNORECASE
)
_AFTER_AUTHORS = re.compile(r"(?<=[^\W\d_]{3})\.? (?=et al)|(?<=[^\W\d_]{3})\. |,| (?:and|und|et|y|e|en|&)(?= )|\(|:")
_NOTE = re.compile(r"^[ ]{0,3}\[\^([^\]\s]+)\]:[ \t]*(.+(?:\n(?![ ]{0,3}\[\^|\s*\n).+)*)", re.MULTILINE)
_LIST = re.compile(
    r"^[#\s*=\\a-z{]*(?:References|Bibliography|Works cited|Sources|Literatur(?:verzeichnis)?|Quellen|Bibliographie"
    r"|Références|Bibliografía|Referencias|Riferimenti|Literatuur|Referenser)[\s*}:]*$",
    re.MULTILINE | re.IGNORECASE,
)
_BELOW = re.compile(r"\s*(?:Footnote|Endnote) \d+: (.+)")
_ENTRY = re.compile(
    r"^[ ]{0,3}(?:\[(\d{1,3})\]:?|(\d{1,3})\.)[ \t]+(\S.{15,}(?:\n(?!\s*\n|[ ]{0,3}[\[\d]).+)*)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Cited:
    """A source as a draft names it."""

    name: str
    """A citation key or the path of a file, or ""."""
    author: str
    """A surname, or ""."""
    year: str

    @property
    def text(self) -> str:
        """The source in a few words."""
        return self.name or f"{self.author} {self.year}".strip()


@dataclass(frozen=True, slots=True)
class Citation:
    """A place of a draft that names sources."""

    start: int
    stop: int
    sources: tuple[Cited, ...]


class Citations:
    """The citations of a draft, in their order."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def all(self) -> list[Citation]:
        """Every place that names sources which can be told."""
        found = ((match.span(), self._sources(match)) for match in _CITED.finditer(self._text))
        return [Citation(*span, sources) for span, sources in found if sources]

    @cached_property
    def _starts(self) -> list[int]:
        return [one.start for one in self.all]

    def between(self, start: int, stop: int) -> list[Citation]:
        """The citations that lie between two offsets."""
        return [one for one in self.all[bisect_left(self._starts, start) :][:_MOST] if one.stop <= stop]

    def below(self, stop: int) -> tuple[Cited, ...]:
        """The sources of the one note that Word or a writer sets under the paragraph that ends at `stop`."""
        notes = []
        while found := _BELOW.match(self._text, stop):
            notes.append(found[1])
            stop = found.end()
        return _in_note(notes[0]) if len(notes) == 1 else ()

    def cites(self, start: int, stop: int) -> list[Citation]:
        """The citations that begin between two offsets, but for those in notes and in the list of sources."""
        found = self.all[bisect_left(self._starts, start) : bisect_left(self._starts, stop)]
        return [one for one in found if not any(begin <= one.start < end for begin, end in self._below_text)]

    @cached_property
    def _below_text(self) -> list[tuple[int, int]]:
        found = [match.span() for pattern in (_NOTE, _ENTRY) for match in pattern.finditer(self._text)]
        listed = _LIST.search(self._text)
        return [*found, (listed.start(), len(self._text))] if listed else found

    @cached_property
    def _notes(self) -> dict[str, str]:
        return {found[1]: found[2] for found in _NOTE.finditer(self._text)}

    @cached_property
    def _entries(self) -> dict[str, str]:
        """The list of sources at the end: its numbers, and what stands after them."""
        return {found[1] or found[2]: found[3] for found in _ENTRY.finditer(self._text)}

    def _sources(self, found: re.Match[str]) -> tuple[Cited, ...]:
        if keys := _keys(found):
            return tuple(map(_of_key, keys))
        if found["said"]:
            return _by(found["said"], found["when"])
        if found["number"]:
            return _in_note(self._entries.get(found["number"], ""))[:1]
        return _in_note(found["inside"] or found["inline"] or found["foot"] or self._notes.get(found["note"], ""))


_MOST = 50
"""Citations looked at beside a quotation."""
_NO_SOURCE = re.compile(r"#|(?:mailto|tel|javascript|data):", re.IGNORECASE)
_AT = re.compile(r"@\{?(\w(?:[\w:./-]*\w)?)")


def _keys(found: re.Match[str]) -> list[str]:
    """Return the citation keys, or the file, that a citation names; [] if it names authors."""
    if found["keys"] or found["bare"]:
        return _AT.findall(f"@{found['keys'] or found['bare']}")
    if link := found["file"] or unquote(found["angled"] or found["link"] or ""):
        return [] if _NO_SOURCE.match(link) else [link]
    return [key.strip() for key in (found["tex"] or found["typst"] or "").split(",") if key.strip()]


def _of_key(key: str) -> Cited:
    found = _KEY_WITH_YEAR.match(key)
    return Cited(key, found[1], found[2]) if found else Cited(key, "", "")


def _in_note(note: str) -> tuple[Cited, ...]:
    """Return the sources of a note, of what stands in brackets, or of an entry of a list."""
    keys = [key for found in _CITED.finditer(note) for key in _keys(found)]
    parts = ((part[: year.start()], year[0]) for part in note.split(";") if (year := _IN_YEAR.search(part)))
    if keys:
        return tuple(map(_of_key, keys))
    authors = tuple(one for names, year in parts if not _is_date(names) for one in _by(names, year))
    return authors or tuple(map(_of_key, _FILE.findall(note)))


def _is_date(names: str) -> bool:
    """Whether a month alone stands before a year: "(in March 1979)". "(March, 1979)" names an author."""
    *before, last = _BEFORE_AUTHORS.sub("", names.strip(" (")).split() or [""]
    return is_month(last) and not any(word[0].isupper() for word in before)


def _by(names: str, year: str) -> tuple[Cited, ...]:
    """Return the source of these authors; () if what stands before the year is no name."""
    first = _AFTER_AUTHORS.split(_BEFORE_AUTHORS.sub("", names.strip(" ,.;:([")))[0].split()
    has_initials = len(first) > 1 and first[-1].isupper() and len(first[-1]) < 4  # Miller JR
    surname = re.sub(r"['’]s?$", "", first[0 if has_initials else -1].strip(".,;:")) if first else ""
    return (Cited("", surname, year),) if surname[:1].isalpha() and not surname[0].islower() else ()
