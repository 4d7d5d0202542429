"""PDF: pdfium first, pypdf as the fallback, page layout, text quality and OCR."""
