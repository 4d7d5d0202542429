"""Finds the line of a text file in which a passage begins, although reading the file has removed its markup."""

from pathlib import Path

from longsearch.indexer.extract.formats import LIGHT_MARKUP, Format, format_of

MAX_BYTES = 4_000_000
"""Size of a file that is looked through: 2 s of work."""
_N_LETTERS = 40
"""Letters of the passage's beginning that are looked for; fewer if they are not found, because of markup among them."""
_LEAST_LETTERS = 12


def is_text(path: str) -> bool:
    """Return whether an editor shows this file as it is."""
    return format_of(path) in LIGHT_MARKUP | {Format.PLAIN}


def line_of(path: Path, text: str) -> int | None:
    """Return the line, from 1, in which the passage `text` begins; None if it is not found."""
    from longsearch.engine.search.quotations.alignment import normal_form

    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        content = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    wanted = normal_form(text[: 10 * _N_LETTERS]).text.replace(" ", "")
    form = normal_form(content)
    kept = [index for index, letter in enumerate(form.text) if letter != " "]
    letters = "".join(form.text[index] for index in kept)
    for length in (_N_LETTERS, _N_LETTERS // 2, _LEAST_LETTERS):
        place = letters.find(wanted[:length]) if len(wanted) >= min(length, _LEAST_LETTERS) else -1
        if place >= 0:
            return content.count("\n", 0, form.places[kept[place]]) + 1
    return None
