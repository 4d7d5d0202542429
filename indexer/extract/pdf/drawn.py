"""Reads the words that the look of an annotation draws, such as those of a stamp, which stand nowhere else.

pdfium's text of a page lacks them. The page is copied, the copy emptied but for the annotation, and flattened: then the
look is the page's own text. This is done only for annotations that say nothing by other means.
"""

from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

MAX_ON_A_PAGE = 20


def words_drawn(document: Any, index: int, number: int) -> str:
    """Return the words that annotation `number` of page `index` draws, on one line; "" if it draws none."""
    copy = pdfium.PdfDocument.new()
    try:
        copy.import_pages(document, [index])
        page = copy[0]
        n_annotations = pdfium_c.FPDFPage_GetAnnotCount(page.raw)
        for other in reversed(range(n_annotations)):
            if other != number:
                pdfium_c.FPDFPage_RemoveAnnot(page.raw, other)
        for shown in list(page.get_objects(max_depth=1)):
            page.remove_obj(shown)
        page.gen_content()
        pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
        page.close()
        return " ".join(copy[0].get_textpage().get_text_range().split()) if number < n_annotations else ""
    except (pdfium.PdfiumError, AssertionError):
        return ""
    finally:
        copy.close()
