"""EPUB -> text: the chapters in their reading order, each a page; headings from the chapters, else from the contents.

A zip archive of XHTML: the standard library and the module for HTML do it (ebooklib is AGPL). Pages are counted by the
book's own files, since print pages are rarely marked. A book under DRM is said to be that.
"""

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from engine.errors import ExtractionError
from indexer.extract import html_text
from indexer.extract.archives import Archive
from indexer.extract.clean import one_line
from indexer.extract.decoding import decode_html
from indexer.extract.limits import MAX_HEADINGS, MAX_TITLE_CHARACTERS
from indexer.extract.messages import FileText
from indexer.extract.xml_text import parse_xml, with_closing_tags

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_FONT_OBFUSCATION = re.compile(r"embedding|pdf/enc#RC")
"""In an algorithm's name: fonts made unusable elsewhere. The text is not touched."""
_BETWEEN = "\n\n"
_BROKEN_HINT = "open it in an e-book reader, or mend it with one: ebook-convert in.epub out.epub"
_DRM_HINT = "only the shop's own reader opens it; get a copy without DRM"


def read(path: Path) -> FileText:
    """The text of `path`. Raises `ExtractionError`."""
    with Archive(path, "an EPUB") as archive:
        book = _Book(archive)
        chapters = [_chapter(archive, name, book.labels.get(name, "")) for name in book.spine]
    return _joined(chapters, book.title)


class _Book:
    """What the package file says: title, reading order, and a label for each file the contents name."""

    def __init__(self, archive: Archive) -> None:
        package_name = _package_name(archive)
        package = _tree(archive, package_name)
        if package is None:
            raise ExtractionError("an EPUB without its list of contents", _BROKEN_HINT)
        self._folder = posixpath.dirname(package_name)
        title = package.css_first("dc\\:title")
        self.title = one_line(title.text() if title is not None else "", MAX_TITLE_CHARACTERS)
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
        """The member that `href`, in a file of `folder`, leads to."""
        try:
            place = unquote(urlsplit(href).path)
        except ValueError:
            return ""
        return posixpath.normpath(posixpath.join(self._folder if folder is None else folder, place))

    def _read_labels(self, archive: Archive, name: str) -> None:
        """From an EPUB 3 navigation document (`a href`) or an EPUB 2 table (`navPoint`)."""
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


def _package_name(archive: Archive) -> str:
    container = _tree(archive, _CONTAINER)
    if container is None:
        raise ExtractionError("a zip archive, but not an EPUB", "give it the suffix of what it is")
    root_file = container.css_first("rootfile[full-path]")
    return (root_file.attributes["full-path"] or "") if root_file is not None else ""


def _tree(archive: Archive, name: str) -> LexborHTMLParser | None:
    data = archive.read(name)
    return parse_xml(data) if data else None


def _refuse_drm(archive: Archive, spine: set[str]) -> None:
    """Raises `ExtractionError` where a chapter is encrypted."""
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
    """A file of the reading order, or None where it is not there."""
    data = archive.read(name)
    if data is None:
        return None
    chapter = html_text.parse(with_closing_tags(decode_html(data)))
    if label and not chapter.headings:
        return FileText(chapter.text, (), "", ((1, label, 0),))
    return chapter


def _joined(chapters: Sequence[FileText | None], title: str) -> FileText:
    """The chapters in one text, each a page; a missing one is an empty page."""
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
        texts.append(chapter.text + _BETWEEN)
        length += len(texts[-1])
    text = "".join(texts).removesuffix(_BETWEEN)
    page_starts = tuple(min(start, len(text)) for start in starts)
    warning = f"{n_missing} of {len(chapters)} parts are not in the file" if n_missing else ""
    return FileText(text, page_starts, title, tuple(headings[:MAX_HEADINGS]), warning)
