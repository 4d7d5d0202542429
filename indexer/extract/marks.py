"""Places a person's marks in a document's text: readers send them with their words, and no reader knows offsets. Pure.

Words are compared by letters and digits alone, because a text breaks its lines elsewhere and joins hyphenated words.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from unicodedata import normalize

from longsearch.engine.color_names import color_name
from longsearch.engine.types.documents import MARKS, DocumentText, Mark, MetadataValue
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.wire.limits import MAX_MARKS
from longsearch.indexer.extract.wire.values import RawMark

_MAX_VALUE_CHARACTERS = 2_000
_MAX_NOTES = 200
_HEX = re.compile(r"#[0-9a-f]{6}")


def placed(raw: Iterable[RawMark], text: str, start: int, stop: int) -> tuple[Mark, ...]:
    """Return the marks of the part of a text between two offsets, each where its words stand, ascending.

    A mark whose words are not found stands where what precedes it ends, else at the part's begin.
    """
    listed = list(raw)
    if not listed:
        return ()
    letters, places = _letters(text[start:stop])
    found = []
    for kind, color, words, before, note, author in listed:
        own, left = _letters(words)[0], _letters(before)[0]
        at = letters.find(left + own)
        at = at + len(left) if at >= 0 else (letters.find(own) if own else -1)
        if own and kind != "deletion" and at >= 0:
            span, quote = (places[at], places[at + len(own) - 1] + 1), ""
        else:
            end = letters.find(left) + len(left) if left and left in letters else 0
            span, quote = (places[end - 1] + 1 if end else 0,) * 2, words
        color = color if _HEX.fullmatch(color) else ""
        found.append(Mark(kind, start + span[0], start + span[1], quote, note, author, color))
    return tuple(sorted(found, key=lambda mark: (mark.start, mark.stop)))


def of_pages(pages: Iterable[tuple[int, Sequence[RawMark]]], text: str, page_starts: Sequence[int]) -> tuple[Mark, ...]:
    """Return the marks of all pages, each with its number from 0."""
    stops = [*page_starts[1:], len(text)]
    found = [mark for page, raw in pages for mark in placed(raw, text, page_starts[page], stops[page])]
    return tuple(found[:MAX_MARKS])


def of_text(
    own: Iterable[RawMark], apart: Sequence[tuple[int, RawMark]], text: str, page_starts: Sequence[int]
) -> tuple[Mark, ...]:
    """Return a file's own marks and those beside it, each of which has its page from 0, or -1 for an unknown one."""
    pages = range(len(page_starts))
    anywhere = [*own, *(mark for page, mark in apart if page not in pages)]
    found = placed(anywhere, text, 0, len(text))
    found += of_pages(((page, [mark]) for page, mark in apart if page in pages), text, page_starts)
    return tuple(sorted(found, key=lambda mark: (mark.start, mark.stop)))


def with_marks(document: DocumentText, marks: tuple[Mark, ...]) -> DocumentText:
    """Return a document with its marks, and with the values by which they are found."""
    return replace(document, marks=marks, metadata=(*document.metadata, *as_values(marks)))


def as_values(marks: Sequence[Mark]) -> tuple[MetadataValue, ...]:
    """Return the values by which a document is found by its marks: of `marked`, and of `note` the notes."""
    if not marks:
        return ()
    names = {"yes", *(mark.kind for mark in marks), *(color_name(mark.color) for mark in marks if mark.color)}
    notes = dict.fromkeys(line for mark in marks if (line := one_line(mark.note, _MAX_VALUE_CHARACTERS)))
    return (
        *(MetadataValue("marked", name, MARKS) for name in sorted(names)),
        *(MetadataValue("note", note, MARKS) for note in list(notes)[:_MAX_NOTES]),
    )


def _letters(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text, folded, and the offset of each."""
    pairs = [
        (letter, at)
        for at, character in enumerate(text)
        for letter in (character.lower() if character.isascii() else normalize("NFKC", character).casefold())
        if letter.isalnum()
    ]
    return "".join(letter for letter, _ in pairs), [at for _, at in pairs]
