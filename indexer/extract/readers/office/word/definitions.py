"""What all parts of one Word document share: its styles, its lists, and its notes, which other parts hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers import draft
from longsearch.indexer.extract.readers.descriptions import Descriptions
from longsearch.indexer.extract.readers.office.word.flows import Block, Paragraph, marked
from longsearch.indexer.extract.readers.office.word.numbering import BULLET, Counters, Numbering
from longsearch.indexer.extract.readers.office.word.styles import MAX_LEVEL, Styles

COMMENT = "Comment"


def note_mark(name: str, attributes: Mapping[str, str]) -> str:
    """Return as what a comment or a note is marked. `name` of its element."""
    if name != "comment":
        return name.capitalize()
    author, day = attributes.get("author"), attributes.get("date", "").partition("T")[0]
    return COMMENT + (f" by {author}" if author else "") + (f", {day}" if day else "")


@dataclass(slots=True)
class Definitions:
    """What all parts of one document share."""

    styles: Styles = field(default_factory=Styles)
    numbering: Numbering = field(default_factory=Numbering)
    notes: dict[tuple[str, str], tuple[str, tuple[Block, ...]]] = field(default_factory=dict)
    """(kind, id) -> (what it is marked as, its blocks). Kinds: "Footnote", "Endnote", "Comment"."""
    authors: dict[tuple[str, str], str] = field(default_factory=dict)
    """(kind, id) -> who wrote it, or ""."""
    named: set[tuple[str, str]] = field(default_factory=set)
    """The notes and comments that the text refers to."""
    counts: dict[str, int] = field(default_factory=dict)
    """Kind of note -> how many the text has referred to."""
    pictures: Descriptions = field(default_factory=Descriptions)

    def refer(self, kind: str, identity: str) -> tuple[Block, ...]:
        """Return a note or a comment when the text first refers to it; () later."""
        key = (kind, identity)
        mark, blocks = self.notes.get(key, ("", ()))
        if key in self.named:
            return ()
        self.named.add(key)
        if kind != COMMENT:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            mark = draft.note_name(kind, self.counts[kind])
        return marked(mark, blocks)

    def comment(self, identity: str) -> tuple[str, str]:
        """Return (its words, its author)."""
        _, blocks = self.notes.get((COMMENT, identity), ("", ()))
        return "\n".join(block.text for block in blocks), self.authors.get((COMMENT, identity), "")

    def not_named(self) -> tuple[Block, ...]:
        """Return the comments to which no text refers."""
        left = [noted for key, noted in self.notes.items() if key[0] == COMMENT and key not in self.named]
        return tuple(block for mark, blocks in left for block in marked(mark, blocks))

    def blocks_of(self, paragraph: Paragraph, counters: Counters) -> tuple[Block, ...]:
        """Return a paragraph as a heading, an item of a list or plain text, and what follows it."""
        text = "".join(paragraph.words).strip()
        level = self.styles.heading_level(paragraph.style)
        if paragraph.outline is not None:
            level = paragraph.outline + 1 if paragraph.outline < MAX_LEVEL else 0
        label = self._label(paragraph, bool(text), counters)
        if not text:
            is_number = label not in ("", BULLET) and not level
            return (*((Block(label, tight=True),) if is_number else ()), *paragraph.beside)
        if level:
            words = f"{label} {text}" if label not in ("", BULLET) else text
            return (Block(words, level), *paragraph.beside)
        is_quoted = self.styles.is_quotation(paragraph.style)
        block = Block(f"{label} {text}" if label else text, tight=bool(label), is_quoted=is_quoted)
        return (block, *paragraph.beside)

    def _label(self, paragraph: Paragraph, has_text: bool, counters: Counters) -> str:
        """Return the number or the bullet of a paragraph."""
        if paragraph.is_mark_hidden and not has_text:
            return ""
        list_id, place, style = self.styles.numbering(paragraph.style)
        if style and place is None:
            place = self.numbering.level_of_style(list_id, style)
        if paragraph.list_id is not None:
            same = paragraph.list_id == list_id
            own = None if same else self.numbering.level_of_style(paragraph.list_id, paragraph.style)
            list_id, place = paragraph.list_id, place if own is None else own
        if paragraph.place is not None:
            place = paragraph.place
        return counters.label(list_id, place or 0) if list_id not in ("", "0") else ""
