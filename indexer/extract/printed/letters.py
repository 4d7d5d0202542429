"""Finds a passage in the raw text of its page. Pure.

The passage comes from the index: its lines are joined, its hyphens at line ends are gone, its ligatures are spelled
out. So both texts are compared by their letters and digits alone.
"""

from collections.abc import Sequence

from longsearch.engine.page_image import TextToHighlight
from longsearch.engine.search.quotations.alignment import NormalForm, best_spans, normal_form
from longsearch.indexer.extract.pdf.repair import spelled_characters

MAX_EDITS = 0.2
"""Letters that may differ, as a share of the passage's letters: OCR, or a page that pypdf has read."""
MAX_ALIGNED = 4_000
"""Letters of a passage that is looked for in spite of differences; it takes 40 ms on a full page."""


def find_texts(raw: str, wanted: Sequence[TextToHighlight]) -> list[tuple[int, int] | None]:
    """Return for each wanted text its (start, stop) in `raw`, or None if the page does not say it."""
    page = letters_of(raw)
    return [_find(page, len(raw), text) for text in wanted]


def letters_of(raw: str) -> NormalForm:
    """Return the letters and digits of `raw` in lower case, each with the place that it comes from."""
    pieces = spelled_characters(raw)
    origins = [place for place, piece in enumerate(pieces) for _ in piece]
    form = normal_form("".join(pieces))
    kept = [index for index, letter in enumerate(form.text) if letter != " "]
    return NormalForm("".join(form.text[index] for index in kept), [origins[form.places[index]] for index in kept])


def _find(page: NormalForm, length: int, wanted: TextToHighlight) -> tuple[int, int] | None:
    letters = letters_of(wanted.text).text
    if not letters or not page.text:
        return None
    expected = wanted.share * len(page.text)
    places = _occurrences(page.text, letters)
    if places:
        first = min(places, key=lambda place: abs(place - expected))
        return page.span(first, first + len(letters))
    if len(letters) > MAX_ALIGNED:
        return None
    (match,) = best_spans(letters, [page.text])
    return page.span(match.first, match.last) if match.n_edits <= MAX_EDITS * len(letters) else None


def _occurrences(text: str, wanted: str) -> list[int]:
    places, place = [], text.find(wanted)
    while place >= 0:
        places.append(place)
        place = text.find(wanted, place + 1)
    return places
