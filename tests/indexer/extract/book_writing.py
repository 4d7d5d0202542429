"""Write small Word documents and EPUBs by hand, so that a test knows every part of its archive."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def archive(path: Path, members: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a zip archive of `members`."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of a Word document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def item(text: str) -> str:
    """Return a paragraph with a bullet."""
    return f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>{paragraph(text)[5:]}'


def table(*rows: tuple[str, ...]) -> str:
    """Return a table."""
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def docx_parts(body: str, title: str = "", footnotes: Mapping[int, str] | None = None) -> dict[str, str | bytes]:
    """Return the members of a Word document with `body` and numbered footnotes."""
    notes = "".join(f'<w:footnote w:id="{n}">{paragraph(text)}</w:footnote>' for n, text in (footnotes or {}).items())
    core = 'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
    return {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{CONTENT_TYPE}.document.main+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships {RELATIONS}><Relationship Id="r1" Type="{OFFICE}/officeDocument"'
            ' Target="word/document.xml"/></Relationships>'
        ),
        "word/_rels/document.xml.rels": (
            f'<Relationships {RELATIONS}><Relationship Id="r1" Type="{OFFICE}/footnotes" Target="footnotes.xml"/>'
            f'<Relationship Id="r2" Type="{OFFICE}/styles" Target="styles.xml"/>'
            f'<Relationship Id="r3" Type="{OFFICE}/numbering" Target="numbering.xml"/></Relationships>'
        ),
        "word/styles.xml": f"<w:styles {WORD}>"
        + "".join(map(_style, ("Title", "heading 1", "heading 2")))
        + "</w:styles>",
        "word/numbering.xml": (
            f'<w:numbering {WORD}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>'
            '</w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
        ),
        "word/footnotes.xml": f"<w:footnotes {WORD}>{notes}</w:footnotes>",
        "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
        "docProps/core.xml": (
            f'<cp:coreProperties {core} xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>'
            "</cp:coreProperties>"
        ),
    }


def _style(name: str) -> str:
    identity = name.title().replace(" ", "")
    return f'<w:style w:type="paragraph" w:styleId="{identity}"><w:name w:val="{name}"/></w:style>'


def write_docx(path: Path, body: str, title: str = "", footnotes: Mapping[int, str] | None = None) -> Path:
    """Write a Word document."""
    return archive(path, docx_parts(body, title, footnotes))


def epub_parts(chapters: Mapping[str, str], title: str = "", contents: str = "") -> dict[str, str | bytes]:
    """Return the members of an EPUB whose `chapters` (file name -> content of its body) are read in this order."""
    manifest = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    pages: dict[str, str | bytes] = {
        f"OEBPS/{name.replace('%20', ' ')}": (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
            f"<body>{body}</body></html>"
        )
        for name, body in chapters.items()
    }
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container><rootfiles><rootfile full-path="OEBPS/book.opf"'
            ' media-type="application/oebps-package+xml"/></rootfiles></container>'
        ),
        "OEBPS/book.opf": (
            '<?xml version="1.0"?><package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f'<dc:title>{title}</dc:title></metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"'
            f' media-type="application/xhtml+xml"/>{manifest}</manifest><spine>{spine}</spine></package>'
        ),
        "OEBPS/nav.xhtml": f"<html><body><nav>{contents}</nav></body></html>",
        **pages,
    }


def write_epub(path: Path, chapters: Mapping[str, str], title: str = "", contents: str = "") -> Path:
    """Write an EPUB."""
    return archive(path, epub_parts(chapters, title, contents))
