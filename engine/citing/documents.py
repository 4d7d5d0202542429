"""Groups kept passages by document, makes citation keys, and takes names of authors apart. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.places import page_unit
from longsearch.engine.printable import condensed, printable

_PARTICLES = frozenset(
    {"von", "van", "de", "der", "den", "del", "della", "di", "da", "dos", "du", "la", "le", "ten", "zu"}
)
_SMALL_WORDS = frozenset(
    {"a", "an", "the", "on", "of", "in", "and", "for", "to", "der", "die", "das", "ein", "eine", "le", "la"}
)


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """A document and the passages of it that were kept."""

    key: str
    """Its citation key: that of the person's reference manager, else one of its own such as `lee2004cooling`."""
    passages: tuple[Evidence, ...]
    """At least one."""

    @property
    def first(self) -> Evidence:
        """The passage that was kept first; its metadata stand for the document."""
        return self.passages[0]


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an author."""

    family: str
    given: str
    """"" for an organisation, or a person with one name."""


def cited_documents(evidence: Sequence[Evidence]) -> list[CitedDocument]:
    """Return each document once, in the order of the passages; no two have the same key.

    Passages belong together if their files do, or if the documents have the same hash.
    """
    groups: dict[str, list[Evidence]] = {}
    group_of: dict[str, str] = {}
    for passage in evidence:
        names = [passage.path, *([f"hash:{passage.content}"] if passage.content else [])]
        group = next((group_of[name] for name in names if name in group_of), passage.path)
        group_of.update(dict.fromkeys(names, group))
        groups.setdefault(group, []).append(passage)
    taken = {passage.citekey for passage in evidence if passage.citekey}
    documents = []
    for passages in groups.values():
        key = next((passage.citekey for passage in passages if passage.citekey), "")
        if not key:
            key = _free(made_key(passages[0]), taken)
            taken.add(key)
        documents.append(CitedDocument(key, tuple(passages)))
    return documents


def made_key(evidence: Evidence) -> str:
    """Return a citation key such as `lee2004cooling`: ASCII letters and digits only."""
    family = _ascii(name_of(evidence.authors[0]).family) if evidence.authors else ""
    words = [_ascii(word) for word in plain(evidence.title).split()]
    word = next((word for word in words if word and word not in _SMALL_WORDS), "")
    return f"{family}{_ascii(evidence.year)}{word}" or "document"


def _free(key: str, taken: set[str]) -> str:
    """Return the key; if it is taken, with letters after it until it is free."""
    number, free = 0, key
    while free in taken:
        number += 1
        free, rest = key, number
        while rest:
            rest, letter = divmod(rest - 1, 26)
            free += chr(ord("a") + letter)
    return free


def name_of(author: str) -> Name:
    """Take a name apart: "Lee, Ann", "Ann Lee" and "Ludwig van Beethoven". One word is a family name alone."""
    name = plain(author)
    family, comma, given = name.partition(",")
    if comma:
        return Name(family.strip(), given.strip())
    words = name.split()
    at = next((at for at in range(1, len(words) - 1) if words[at].lower() in _PARTICLES), len(words) - 1)
    return Name(" ".join(words[at:]), " ".join(words[:at])) if words else Name("", "")


def plain(text: str) -> str:
    """Return a text on one line, without control characters."""
    return printable(condensed(text))


def paragraphs(quote: str) -> list[str]:
    """Return the paragraphs of a quotation, each on one line and printable: a PDF breaks its lines anywhere."""
    return [line for part in re.split(r"\n\s*\n", quote) if (line := printable(" ".join(part.split())))]


def authors_line(authors: Sequence[str], most: int = 3) -> str:
    """Return the authors as in a reference: "Ann Lee, Bo Li", or "Ann Lee et al." if there are more than `most`."""
    names = [f"{name.given} {name.family}".strip() for name in map(name_of, authors)]
    return ", ".join(names) if len(names) <= most else f"{names[0]} et al."


def page_words(evidence: Evidence) -> str:
    """Return "p. 12", "slide 7" and their like, or "" for a format without pages."""
    number = printable(evidence.page_label) or evidence.page
    return f"{page_unit(evidence.path)} {number}" if evidence.page is not None else ""


def _ascii(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return re.sub(r"[^a-z0-9]", "", decomposed)
