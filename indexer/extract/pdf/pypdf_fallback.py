"""Read PDF pages with pypdf where pdfium fails. It is ten times slower than pdfium and worse at word boundaries.

A broken file makes pypdf raise exceptions of nearly any class, hence `except Exception`; this runs only in the child.
pypdf gives no positions on the page, so lines keep their ends.
"""

import io
from typing import Any

import pypdf

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_characters, one_line
from longsearch.indexer.extract.pdf.info import INFO, INFO_FIELDS
from longsearch.indexer.extract.pdf.layout import Line, with_separators
from longsearch.indexer.extract.pdf.pages import line_of_page
from longsearch.indexer.extract.pdf.quality import PasswordNeededError, ReadPage, garbage_share
from longsearch.indexer.extract.pdf.repair import has_tex_ligatures, with_glyph_numbers, with_tex_ligatures
from longsearch.indexer.extract.sources import Source, for_library
from longsearch.indexer.extract.wire.limits import MAX_HEADINGS, MAX_PAGES, MAX_TITLE_CHARACTERS
from longsearch.indexer.extract.wire.values import limited

_MAX_OUTLINE_DEPTH = 15
_REPAIR_HINT = "download it again, or repair it: qpdf in.pdf out.pdf"


class PypdfDocument:
    """An open PDF. Raises `ExtractionError`."""

    def __init__(self, path: Source) -> None:
        try:
            data = for_library(path)
            self._reader = pypdf.PdfReader(io.BytesIO(data) if isinstance(data, bytes) else data)
            if self._reader.is_encrypted and not self._reader.decrypt(""):
                raise PasswordNeededError
            self.n_pages = len(self._reader.pages)
        except (MemoryError, ExtractionError):
            raise
        except Exception as error:
            raise ExtractionError("damaged or cut off: no page can be found in it", _REPAIR_HINT) from error
        if not 0 < self.n_pages <= MAX_PAGES:
            raise ExtractionError("a PDF without pages", _REPAIR_HINT)

        information = self._information()
        self.title = one_line(information.get("/Title", ""), MAX_TITLE_CHARACTERS)
        self.metadata = limited((field, information.get(f"/{key}", ""), INFO) for key, field in INFO_FIELDS)

    def _information(self) -> dict[str, str]:
        try:
            return {str(key): str(value) for key, value in (self._reader.metadata or {}).items()}
        except MemoryError:
            raise
        except Exception:
            return {}

    def page(self, index: int) -> ReadPage | None:
        """Return page `index`, or None if pypdf cannot read it."""
        try:
            raw = self._reader.pages[index].extract_text()
        except MemoryError:
            raise
        except Exception:
            return None
        raw = with_glyph_numbers(raw)
        if has_tex_ligatures(raw):
            raw = with_tex_ligatures(raw)
        cleaned = map(line_of_page, clean_characters(raw).split("\n"))
        return ReadPage(with_separators([Line(line) for line in cleaned if line]), "", garbage_share(raw))

    def outline(self) -> list[tuple[int, str, int]]:
        """Return (level from 1, title, 0-based page) for each outline entry that leads to a page."""
        try:
            return self._entries(self._reader.outline, 1)[:MAX_HEADINGS]
        except MemoryError:
            raise
        except Exception:
            return []

    def _entries(self, outline: list[Any], level: int) -> list[tuple[int, str, int]]:
        entries: list[tuple[int, str, int]] = []
        for item in outline:
            if isinstance(item, list):
                entries += self._entries(item, level + 1) if level < _MAX_OUTLINE_DEPTH else []
                continue
            title = one_line(str(item.title or ""), MAX_TITLE_CHARACTERS)
            page = self._reader.get_destination_page_number(item)
            if title and page is not None and 0 <= page < self.n_pages:
                entries.append((level, title, page))
        return entries

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
