"""Draws a kept passage for the list of the basket, and words the query that finds it again. Pure."""

import re

from textual.content import Content

from longsearch.engine.citing.evidence import Evidence, PlacedEvidence
from longsearch.engine.printable import condensed
from longsearch.tui.text import styles
from longsearch.tui.text.display import clip, shorten_middle, shown

_QUOTED_CHARACTERS = 300
_MARKS = re.compile(r"[\"“”„«»]")


def list_content(number: int, one: PlacedEvidence, width: int) -> Content:
    """Return a passage in `width` cells: its document and page, its first words, and the note if there is one."""
    kept = one.evidence
    state = f" · {one.state.value}" if one.state else ""
    page = f"p. {kept.page}" if kept.page is not None else ""
    end = clip(f"{page}{state}".removeprefix(" · "), max(width - 12, 0))
    title = clip(f"{number}. {shown(kept.title)}", max(width - len(end) - 2, 4))
    head = Content.assemble((title, "bold"), "  ", (end, styles.WARNING if one.state else styles.MUTED))
    lines = [head, Content(clip(shown(condensed(kept.quote)), width))]
    if kept.note:
        lines.append(Content.styled(clip(f"✎ {shown(condensed(kept.note))}", width), styles.ACCENT))
    return Content("\n").join(lines)


def detail_content(one: PlacedEvidence, width: int) -> Content:
    """Return everything about a passage: the path, who says it, the words in full and the note."""
    kept = one.evidence
    who = [*map(shown, kept.authors[:3]), *(["…"] if len(kept.authors) > 3 else []), shown(kept.date)]
    about = [", ".join(filter(None, who)), f"@{shown(kept.citekey)}" if kept.citekey else ""]
    about += [shown(name) for name in kept.collections]
    head = shorten_middle(shown(kept.path), width)
    lines = [Content.styled(head, styles.MUTED)]
    if text := " · ".join(filter(None, about)):
        lines.append(Content.styled(clip(text, width), styles.MUTED))
    lines.append(Content(shown(condensed(kept.quote))))
    if kept.note:
        lines.append(Content.styled(f"✎ {shown(condensed(kept.note))}", styles.ACCENT))
    return Content("\n").join(lines)


def query_for(one: Evidence, names_folder: bool) -> str:
    """Return the query that finds a passage: its first words as a quotation; `names_folder`: in its folder only."""
    words = " ".join(_MARKS.sub(" ", one.quote).split())
    if len(words) > _QUOTED_CHARACTERS:
        words = words[:_QUOTED_CHARACTERS].rpartition(" ")[0] or words[:_QUOTED_CHARACTERS]
    folder = f' folder:"{one.folder}"' if names_folder and one.folder else ""
    return f'where: "{words}"{folder}'
