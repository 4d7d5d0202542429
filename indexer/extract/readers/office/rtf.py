"""Extract the text of Rich Text Format with striprtf; headings by the names of their styles.

striprtf knows no styles. Marks are therefore put behind the control words that begin a heading, and found again in its
output. Pictures are removed first: striprtf looks at every digit of them.
"""

import re

from striprtf.striprtf import rtf_to_text

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.readers.decoding import read_bytes
from longsearch.indexer.extract.readers.office.properties import title_in
from longsearch.indexer.extract.readers.office.rtf_characters import with_characters
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText
from longsearch.indexer.extract.wire.values import RawMetadata, RawValue, limited

_START = re.compile(rb"\s*\{\s*\\rtf")
_PICTURE = re.compile(r"[0-9a-fA-F\s]{400,}")
_STYLE = re.compile(r"\{\\s(\d{1,4})(?!\d)[^{}]{0,1000}?[ ;]heading (\d);\}", re.IGNORECASE)
_STYLES_WITHIN = 2_000_000
_PARAGRAPH_STYLE = re.compile(r"\\s(\d{1,4})(?!\d) ?|\\outlinelevel(\d)(?!\d) ?")
_FOOTNOTE = re.compile(r"\\footnote(?![a-z]) ?")
_MARK = re.compile("\x02(\\d)")
_FIELDS = (("title", "title"), ("author", "author"), ("keywords", "tag"), ("subject", "subject"))
_CREATED = re.compile(r"\{\\creatim\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_INFO_WITHIN = 200_000
_SOURCE = "RTF properties"


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    data = read_bytes(path)
    if _START.match(data) is None:
        raise ExtractionError("not RTF: it does not begin like it", "give it the suffix of its real format")
    source = _PICTURE.sub("\n", with_characters(data))
    metadata = _metadata(source[:_INFO_WITHIN])
    builder = TextBuilder()
    for line in _text(_FOOTNOTE.sub(" ", _marked(source))).split("\n"):
        mark = _MARK.search(line)
        words = _MARK.sub("", line)
        if mark and mark[1] != "0" and "|" not in words:
            builder.add_heading(int(mark[1]), words)
        else:
            builder.add(words.rstrip("|").replace("|", " | "), tight="|" in words)
    return builder.file_text(title_in(metadata), metadata)


def _marked(source: str) -> str:
    """Put a mark with its level before the text of each heading."""
    level_of = dict(_STYLE.findall(source[:_STYLES_WITHIN]))
    body = max((found.end() for found in _STYLE.finditer(source[:_STYLES_WITHIN])), default=0)

    def mark(found: re.Match[str]) -> str:
        level = level_of.get(found[1], "") if found[1] else str((int(found[2]) + 1) % 10)
        return f"{found[0]}\x02{level}" if level else found[0]

    return source[:body] + _PARAGRAPH_STYLE.sub(mark, source[body:])


def _text(source: str) -> str:
    try:
        return str(rtf_to_text(source, errors="ignore"))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # broken control words raise errors of several classes
        raise ExtractionError("damaged: its control words cannot be read", "save it as .docx") from error


def _metadata(head: str) -> RawMetadata:
    found: list[RawValue] = []
    for name, field in _FIELDS:
        if value := re.search(rf"\{{\\{name} ((?:[^{{}}\\]|\\.){{1,2000}})\}}", head, re.DOTALL):
            found.append((field, _text(f"{{\\rtf1 {value[1]}}}"), _SOURCE))
    if date := _CREATED.search(head):
        found.append(("created", f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}", _SOURCE))
    return limited(found)
