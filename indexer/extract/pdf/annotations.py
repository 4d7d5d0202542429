"""Find what lies on a page of a PDF beside its own text: values of forms, typed-on text, notes, comments, pinned files.

pdfium's interface is used, not pypdf's: the page is open in it already, and it knows fields that inherit their value.
Hidden annotations and passwords are left out. Loads no page: the caller has it.
"""

import re
from collections.abc import Callable, Container, Iterator
from ctypes import POINTER, c_uint, c_ulong, cast, create_string_buffer
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import pypdfium2.raw as pdfium_c

from longsearch.indexer.extract.clean import clean_block, one_line
from longsearch.indexer.extract.wire.limits import MAX_ATTACHMENT_BYTES, MAX_MARK_CHARACTERS
from longsearch.indexer.extract.wire.values import RawMark

_MAX_ANNOTATIONS = 5_000
_MAX_CHARACTERS = 200_000
"""Text of all annotations of a page."""
_MAX_NAME_CHARACTERS = 120
_MAX_QUOTED_CHARACTERS = 300
_UNSEEN = pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13
_MAX_BEFORE_CHARACTERS = 60
_ON_WORDS = {
    pdfium_c.FPDF_ANNOT_HIGHLIGHT: "highlight",
    pdfium_c.FPDF_ANNOT_UNDERLINE: "underline",
    pdfium_c.FPDF_ANNOT_SQUIGGLY: "underline",
    pdfium_c.FPDF_ANNOT_STRIKEOUT: "strikeout",
}
_NO_COMMENTS = frozenset({pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP, pdfium_c.FPDF_ANNOT_UNKNOWN})
_TICKS = frozenset({pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON})
_CHOICES = frozenset({pdfium_c.FPDF_FORMFIELD_COMBOBOX, pdfium_c.FPDF_FORMFIELD_LISTBOX})
_NO_VALUES = frozenset({pdfium_c.FPDF_FORMFIELD_PUSHBUTTON, pdfium_c.FPDF_FORMFIELD_SIGNATURE})
_WITH_LETTERS = frozenset({pdfium_c.FPDF_PAGEOBJ_TEXT, pdfium_c.FPDF_PAGEOBJ_FORM})
_DRAWN = {pdfium_c.FPDF_ANNOT_STAMP: "Stamp", pdfium_c.FPDF_ANNOT_WATERMARK: "Watermark"}
_PLAIN_TICKS = frozenset({"", "yes", "on", "1", "0", "x", "true", "ja", "oui", "checked"})
"""Values of ticked boxes that say no more than that they are ticked."""
_MARK = re.compile("<[^>]*>")
TICK = "[x]"


@dataclass(frozen=True, slots=True)
class Typed:
    """Text that was typed onto a page, or into one of its fields."""

    text: str
    name: str
    """The field's name; "" for text that was typed onto the page."""
    left: float
    bottom: float
    right: float
    top: float
    """In points from the bottom left of the page."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file that is pinned to a page, or lies in the document."""

    page: int
    """0-based."""
    name: str
    content_type: str
    data: bytes


@dataclass(slots=True)
class Beside:
    """The texts on a page beside its own."""

    typed: list[Typed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """A line for each note and comment, with its author."""
    pinned: list[Pinned] = field(default_factory=list)
    drawn: list[tuple[int, str, Typed]] = field(default_factory=list)
    """(number, what it is, its place) of each annotation whose words are in its look alone (see `drawn`)."""
    marks: list[RawMark] = field(default_factory=list)
    """What people marked and noted."""
    n_characters: int = 0


def beside(page: Any, index: int, text_page: Any, form: Any, unseen: Container[int] = ()) -> Beside:
    """Return what lies beside the text of an open page; `form` is pdfium's handle of the form, or None.

    `unseen`: numbers of annotations in layers that are off.
    """
    found = Beside()
    for number in range(min(pdfium_c.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
        if (
            kind not in _NO_COMMENTS  # most are links
            and number not in unseen
            and not pdfium_c.FPDFAnnot_GetFlags(annotation) & _UNSEEN
        ):
            _take(found, annotation, kind, index, text_page, form)
            if (drawn := _drawn_kind(annotation, kind, form)) is not None:
                found.drawn.append((number, drawn, _placed(annotation, "", "")))
        pdfium_c.FPDFPage_CloseAnnot(annotation)
        if found.n_characters > _MAX_CHARACTERS:
            break
    return found


def _take(found: Beside, annotation: Any, kind: int, index: int, text_page: Any, form: Any) -> None:
    if kind == pdfium_c.FPDF_ANNOT_WIDGET:
        value, name = _field(annotation, form)
        found.typed += [_placed(annotation, value, name)] if value else []
        found.n_characters += len(value)
        return
    contents = clean_block((_entry(annotation, b"Contents") or _rich_text(annotation)).replace("\r", "\n"))
    found.n_characters += len(contents)
    if kind == pdfium_c.FPDF_ANNOT_FREETEXT:
        found.typed += [_placed(annotation, contents, "")] if contents else []
        found.marks += [("text", "", contents, "", contents, _author(annotation))] if contents else []
        return
    if kind == pdfium_c.FPDF_ANNOT_FILEATTACHMENT:
        found.pinned += pinned(pdfium_c.FPDFAnnot_GetFileAttachment(annotation), index)
    words = one_line(" ".join(_marked(annotation, text_page)), MAX_MARK_CHARACTERS) if kind in _ON_WORDS else ""
    if not contents and not words:
        return
    author, name = _author(annotation), _kind_of_note(annotation, kind, words)
    if contents:
        found.notes.append(f"{name}{f' by {author}' if author else ''}: {contents}")
    before = _left_of_words(annotation, text_page, is_on_words=bool(words))
    color = "" if kind in _DRAWN else _color(annotation)
    found.marks.append((_ON_WORDS.get(kind) or name.lower(), color, words, before, contents, author))


def _drawn_kind(annotation: Any, kind: int, form: Any) -> str | None:
    """Return what an annotation is whose words only its look may hold; None for all others."""
    if kind == pdfium_c.FPDF_ANNOT_WIDGET and form is not None:
        is_signature = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation) == pdfium_c.FPDF_FORMFIELD_SIGNATURE
        mark = "Signature" if is_signature else None
    elif kind == pdfium_c.FPDF_ANNOT_FREETEXT:
        mark = None if _entry(annotation, b"Contents") or _rich_text(annotation) else ""
    else:
        mark = _DRAWN.get(kind)
    return mark if mark is not None and _may_draw_letters(annotation) else None


def _may_draw_letters(annotation: Any) -> bool:
    """Return whether the look of an annotation has a text, or a form, whose parts may be texts."""
    return any(
        pdfium_c.FPDFPageObj_GetType(pdfium_c.FPDFAnnot_GetObject(annotation, number)) in _WITH_LETTERS
        for number in range(min(pdfium_c.FPDFAnnot_GetObjectCount(annotation), _MAX_ANNOTATIONS))
    )


def _rich_text(annotation: Any) -> str:
    """Return the words of a note that has them with marks alone."""
    return " ".join(unescape(_MARK.sub(" ", _entry(annotation, b"RC"))).split())


def _author(annotation: Any) -> str:
    return one_line(_entry(annotation, b"T"), _MAX_NAME_CHARACTERS)


def _color(annotation: Any) -> str:
    """Return the colour of a mark, or "". pdfium tells it only of an annotation without a look of its own."""
    pdfium_c.FPDFAnnot_SetAP(annotation, pdfium_c.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None)
    parts = [c_uint() for _ in range(4)]
    if not pdfium_c.FPDFAnnot_HasKey(annotation, b"C") or not pdfium_c.FPDFAnnot_GetColor(
        annotation, pdfium_c.FPDFANNOT_COLORTYPE_Color, *parts
    ):
        return ""
    return "#" + "".join(f"{part.value & 255:02x}" for part in parts[:3])


def _left_of_words(annotation: Any, text_page: Any, is_on_words: bool) -> str:
    """Return the end of the line before marked words; for a note on no words, of the line at whose height it stands."""
    box = _placed(annotation, "", "")
    if is_on_words:
        left, low, high, _ = next(_lines_of(annotation))
        text = text_within(text_page, 0, high, left, low)
    else:
        text = text_within(text_page, 0, box.top, 2 * box.right + 1_000, box.bottom)
    return " ".join(text.split())[-_MAX_BEFORE_CHARACTERS:]


def _kind_of_note(annotation: Any, kind: int, words: str) -> str:
    if pdfium_c.FPDFAnnot_HasKey(annotation, b"IRT"):
        return "Reply"
    if kind in _ON_WORDS:
        return f"Comment on “{one_line(words, _MAX_QUOTED_CHARACTERS)}”" if words else "Comment"
    return "Note" if kind == pdfium_c.FPDF_ANNOT_TEXT else "Comment"


def text_within(text_page: Any, left: float, top: float, right: float, bottom: float) -> str:
    """Return the page's own text in a rectangle."""
    sides = (left, top, right, bottom)
    n_units = pdfium_c.FPDFText_GetBoundedText(text_page, *sides, None, 0)
    if n_units <= 0:
        return ""
    buffer = create_string_buffer(2 * n_units)
    pdfium_c.FPDFText_GetBoundedText(text_page, *sides, cast(buffer, POINTER(pdfium_c.c_ushort)), n_units)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _marked(annotation: Any, text_page: Any) -> Iterator[str]:
    """Yield the words that are highlighted, underlined or struck out, line by line."""
    for left, low, high, right in _lines_of(annotation):
        yield text_within(text_page, left, high, right, low)


def _lines_of(annotation: Any) -> Iterator[tuple[float, float, float, float]]:
    """Yield (left, low, high, right) of each line of marked words. Viewers order the corners in different ways.

    A mark touches the letters before and behind its words, and often the lines above and below: its edge is left out.
    """
    points = pdfium_c.FS_QUADPOINTSF()
    for number in range(min(pdfium_c.FPDFAnnot_CountAttachmentPoints(annotation), 50)):
        if not pdfium_c.FPDFAnnot_GetAttachmentPoints(annotation, number, points):
            continue
        across, down = (points.x1, points.x2, points.x3, points.x4), (points.y1, points.y2, points.y3, points.y4)
        edge = min(max(down) - min(down), max(across) - min(across)) / 10
        yield min(across) + edge, min(down) + 2 * edge, max(down) - 2 * edge, max(across) - edge


def _field(annotation: Any, form: Any) -> tuple[str, str]:
    """Return (what a field holds as its page shows it, the field's name)."""
    if form is None:  # a field outside of any form
        return clean_block(_entry(annotation, b"V")), _entry(annotation, b"T")
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation)
    flags = pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation)
    name = _of_field(pdfium_c.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = one_line(name or _of_field(pdfium_c.FPDFAnnot_GetFormFieldName, form, annotation), _MAX_NAME_CHARACTERS)
    if kind in _NO_VALUES or (kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD and flags & _PASSWORD):
        return "", name
    if kind in _TICKS:
        if not pdfium_c.FPDFAnnot_IsChecked(form, annotation):
            return "", name
        value = _of_field(pdfium_c.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        return f"{TICK} {value}" if value.casefold() not in _PLAIN_TICKS else TICK, name
    chosen = "; ".join(_chosen(form, annotation)) if kind in _CHOICES else ""
    return clean_block(chosen or _of_field(pdfium_c.FPDFAnnot_GetFormFieldValue, form, annotation)), name


def _chosen(form: Any, annotation: Any) -> Iterator[str]:
    for number in range(min(pdfium_c.FPDFAnnot_GetOptionCount(form, annotation), _MAX_ANNOTATIONS)):
        if pdfium_c.FPDFAnnot_IsOptionSelected(form, annotation, number):
            yield _string(lambda *to, at=number: pdfium_c.FPDFAnnot_GetOptionLabel(form, annotation, at, *to))


def _placed(annotation: Any, text: str, name: str) -> Typed:
    box = pdfium_c.FS_RECTF()
    pdfium_c.FPDFAnnot_GetRect(annotation, box)
    return Typed(text, name, box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top))


def pinned(attachment: Any, page: int) -> list[Pinned]:
    """Return the file behind pdfium's handle, in a list; [] if there is none, or if it is too large."""
    n_bytes = c_ulong()
    if not attachment or not pdfium_c.FPDFAttachment_GetFile(attachment, None, 0, n_bytes):
        return []
    name = _string(lambda *to: pdfium_c.FPDFAttachment_GetName(attachment, *to))
    kind = _string(lambda *to: pdfium_c.FPDFAttachment_GetSubtype(attachment, *to))
    if not 0 < n_bytes.value <= MAX_ATTACHMENT_BYTES:
        return [Pinned(page, name, kind, b"")]
    buffer = create_string_buffer(n_bytes.value)
    pdfium_c.FPDFAttachment_GetFile(attachment, buffer, n_bytes.value, n_bytes)
    return [Pinned(page, name, kind, buffer.raw[: n_bytes.value])]


def _entry(annotation: Any, key: bytes) -> str:
    return _string(lambda *to: pdfium_c.FPDFAnnot_GetStringValue(annotation, key, *to))


def _of_field(get: Callable[..., int], form: Any, annotation: Any) -> str:
    return _string(lambda *to: get(form, annotation, *to))


def _string(get: Callable[..., int]) -> str:
    """Return the string that a function of pdfium writes into a buffer in UTF-16."""
    n_bytes = get(None, 0)
    if not 2 < n_bytes <= 4 * _MAX_CHARACTERS:
        return ""
    buffer = create_string_buffer(n_bytes)
    get(cast(buffer, POINTER(pdfium_c.FPDF_WCHAR)), n_bytes)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")
