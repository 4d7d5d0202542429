"""Extract the text of EPUBs: chapters in reading order, headings from the chapters or the table of contents.

An EPUB is a zip archive of XHTML, so the standard library and the HTML module suffice (ebooklib is AGPL). Each chapter
file counts as a page, because print pages are rarely marked. A book under DRM is refused with that reason.
"""

import base64
import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.readers import html as html_text
from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.decoding import decode_html, decode_part
from longsearch.indexer.extract.readers.xml_text import parse_xml, with_closing_tags
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMark, RawMetadata, RawValue, limited, marks

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_FONT_OBFUSCATION = re.compile(r"embedding|pdf/enc#RC")
"""Found only in the names of algorithms that scramble fonts and leave the text readable."""
_FIELDS = (
    ("title", "title"),
    ("creator", "author"),
    ("date", "date"),
    ("language", "language"),
    ("subject", "tag"),
    ("publisher", "publisher"),
    ("identifier", "isbn"),
)
"""(element of Dublin Core, our field)."""
_ISBN = re.compile(r"(?<!\d)97[89](?:[ -]?\d){10}(?!\d)")
_SOURCE = "EPUB package"
_CALIBRE = "META-INF/calibre_bookmarks.txt"
_COLORS = {"yellow": "#ffeb6b", "green": "#c0ed72", "blue": "#add8ff", "red": "#ffb0ca", "purple": "#d9b2ff"}
_DECORATIONS = {"wavy": "underline", "underline": "underline", "strikeout": "strikeout"}
"""Calibre's own colours and lines, by their names."""
_SHEET = re.compile(r"<link\b[^<>]*\bstylesheet\b[^<>]*>", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s*=\s*[\"']([^\"'<>]+)[\"']", re.IGNORECASE)
_HEAD_CHARACTERS = 10_000
_CHAPTER_SEPARATOR = "\n\n"
_BROKEN_HINT = "open it in an e-book reader, or repair it: ebook-convert in.epub out.epub"
_DRM_HINT = "only the seller's own reader opens it; get a copy without DRM"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    with Archive(path, "an EPUB") as archive:
        book = _Book(archive)
        chapters = [_chapter(archive, name, book.labels.get(name, "")) for name in book.spine]
        marks = _marks_of_calibre(archive)
    return replace(_joined(chapters, book.title), metadata=book.metadata, marks=marks)


class _Book:
    """The package file: title, reading order, and a label for each file that the table of contents names."""

    def __init__(self, archive: Archive) -> None:
        package_name = _package_name(archive)
        package = _tree(archive, package_name)
        if package is None:
            raise ExtractionError("an EPUB without its list of contents", _BROKEN_HINT)
        self._folder = posixpath.dirname(package_name)
        self.metadata = _metadata_of(package)
        title = next((text for field, text, _ in self.metadata if field == "title"), "")
        self.title = one_line(title, MAX_TITLE_CHARACTERS)
        items = [item.attributes for item in package.css("item[id][href]")]
        names = {item["id"]: self._resolved(item["href"] or "") for item in items}
        order = [reference.attributes.get("idref") for reference in package.css("itemref[idref]")]
        self.spine = list(dict.fromkeys(names[identity] for identity in order if identity in names))
        if not self.spine:
            raise ExtractionError("an EPUB without chapters", _BROKEN_HINT)
        _refuse_drm(archive, set(self.spine))
        self.labels: dict[str, str] = {}
        for item in items:
            kind, properties = item.get("media-type") or "", item.get("properties") or ""
            if kind == "application/x-dtbncx+xml" or "nav" in properties.split():
                self._read_labels(archive, self._resolved(item["href"] or ""))

    def _resolved(self, href: str, folder: str | None = None) -> str:
        """Return the name of the member that `href` points to from a file in `folder`."""
        try:
            place = unquote(urlsplit(href).path)
        except ValueError:
            return ""
        return posixpath.normpath(posixpath.join(self._folder if folder is None else folder, place))

    def _read_labels(self, archive: Archive, name: str) -> None:
        """Read the labels of an EPUB 3 navigation document (`a href`) or an EPUB 2 table of contents (`navPoint`)."""
        tree, folder = _tree(archive, name), posixpath.dirname(name)
        if tree is None:
            return
        for link in tree.css("nav a[href]"):
            self._add_label(link.attributes["href"], link.text(), folder)
        for point in tree.css("navpoint"):
            label, target = point.css_first("navlabel"), point.css_first("content[src]")
            if label is not None and target is not None:
                self._add_label(target.attributes["src"], label.text(), folder)

    def _add_label(self, href: str | None, label: str, folder: str) -> None:
        if line := one_line(label, MAX_TITLE_CHARACTERS):
            self.labels.setdefault(self._resolved(href or "", folder), line)


def _marks_of_calibre(archive: Archive) -> tuple[RawMark, ...]:
    """Return the highlights of which Calibre's viewer keeps a copy in the book; () for none that can be read."""
    head, _, body = (archive.read(_CALIBRE) or b"").partition(b"\n")
    try:
        listed = json.loads(base64.b64decode(body)) if head.strip() == b"encoding=json+base64:" else []
    except (ValueError, RecursionError):
        return ()
    rows = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    found = []
    for row in rows:
        words, note, style = row.get("highlighted_text"), row.get("notes") or "", row.get("style")
        if row.get("type") != "highlight" or row.get("removed") or not isinstance(words, str):
            continue
        which = str(style.get("which", "")) if isinstance(style, dict) else ""
        own = str(style.get("background-color", "")) if isinstance(style, dict) else ""
        found.append((_DECORATIONS.get(which, "highlight"), _COLORS.get(which, own), words, "", str(note), ""))
    return marks(list(map(list, found)))


def _metadata_of(package: LexborHTMLParser) -> RawMetadata:
    """Return the Dublin Core elements of the package. A date of its modification is not that of the book."""
    found: list[RawValue] = []
    for name, field in _FIELDS:
        for node in package.css(f"dc\\:{name}"):
            text, event = (node.text() or "").strip(), node.attributes.get("opf:event") or ""
            if field == "isbn":
                text = number[0] if (number := _ISBN.search(text)) else ""
            if event.casefold() != "modification":
                found.append((field, text, _SOURCE))
    return limited(found)


def _package_name(archive: Archive) -> str:
    container = _tree(archive, _CONTAINER)
    if container is None:
        raise ExtractionError("a zip archive, but not an EPUB", "give it the suffix of its real format")
    root_file = container.css_first("rootfile[full-path]")
    return (root_file.attributes["full-path"] or "") if root_file is not None else ""


def _tree(archive: Archive, name: str) -> LexborHTMLParser | None:
    data = archive.read(name)
    return parse_xml(data) if data else None


def _refuse_drm(archive: Archive, spine: set[str]) -> None:
    """Raise `ExtractionError` if a chapter is encrypted."""
    tree = _tree(archive, _ENCRYPTION)
    for entry in tree.css("*") if tree is not None else ():
        if not (entry.tag or "").endswith("encrypteddata"):
            continue
        markup = entry.html or ""
        method = re.search(r'encryptionmethod[^>]*algorithm="([^"]*)"', markup, re.IGNORECASE)
        target = re.search(r'cipherreference[^>]*uri="([^"]*)"', markup, re.IGNORECASE)
        is_font = method is not None and _FONT_OBFUSCATION.search(method[1]) is not None
        if target is not None and not is_font and unquote(target[1]) in spine:
            raise ExtractionError("protected by DRM: its chapters are encrypted", _DRM_HINT)


def _chapter(archive: Archive, name: str, label: str) -> FileText | None:
    """Return the text of one file of the reading order, or None if the archive lacks it."""
    data = archive.read(name)
    if data is None:
        return None
    chapter = html_text.parse(_with_sheets(archive, name, with_closing_tags(decode_html(data))))
    if label and not chapter.headings:
        return FileText(chapter.text, (), "", ((1, label, 0),))
    return chapter


def _with_sheets(archive: Archive, name: str, source: str) -> str:
    """Return the source of a chapter with the style sheets of the book that hide something, as a page holds its own."""
    kept = []
    for link in _SHEET.finditer(source[:_HEAD_CHARACTERS]):
        href = next((found[1] for found in _HREF.finditer(link[0])), "")
        sheet = archive.read(posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(href)))) or b""
        if b"none" in sheet or b"hidden" in sheet:
            kept.append(f"<style>{decode_part(sheet).replace('</', '')}</style>")
    return source.replace("</head>", "".join((*kept, "</head>")), 1) if kept else source


def _joined(chapters: Sequence[FileText | None], title: str) -> FileText:
    """Join the chapters, each as a page; a missing chapter is an empty page."""
    n_missing = sum(chapter is None for chapter in chapters)
    texts: list[str] = []
    starts: list[int] = []
    headings: list[tuple[int, str, int]] = []
    length = 0
    for chapter in chapters:
        starts.append(length)
        if chapter is None or not chapter.text:
            continue
        headings += [(level, heading, length + start) for level, heading, start in chapter.headings]
        texts.append(chapter.text + _CHAPTER_SEPARATOR)
        length += len(texts[-1])
    text = "".join(texts).removesuffix(_CHAPTER_SEPARATOR)
    page_starts = tuple(min(start, len(text)) for start in starts)
    warning = f"chapters missing from the file: {n_missing} of {len(chapters)}" if n_missing else ""
    return FileText(text, page_starts, title, tuple(headings[:MAX_HEADINGS]), warning)
