"""What reading one file may cost. Beyond these a file is a row with a reason, not a burden on the machine."""

PAGE_TIMEOUT_S = 10.0
"""Between two pages. Measured: 2 ms for a usual page, 25 ms through pypdf; a loop of form objects never ends."""

DOCUMENT_TIMEOUT_S = 120.0
"""For a whole file, restarts included."""

OCR_PAGE_TIMEOUT_S = 120.0
"""For tesseract on one page. Measured: 3 to 7 s of one core, 18 s where four other programs wanted it."""

OCR_DOCUMENT_TIMEOUT_S = 4 * 3600.0
"""For a whole file where pages may need OCR: a book of 500 scanned pages takes an hour."""

MAX_OCR_PIXELS = 20_000_000
"""Of a rendered page: A4 at 300 dpi has 8.7 million; a poster is rendered at fewer dpi."""

MEMORY_BYTES = 1 << 30
"""Address space of the child. A usual paper needs 31 MB resident; a bomb takes all there is."""

MAX_TEXT_FILE_BYTES = 100_000_000
"""Of a text file, or of the text in a DOCX or EPUB: more is a log or a dump of data, not a document."""

MAX_TEXT_CHARACTERS = 100_000_000
"""Of one PDF's text: 50,000 full pages."""

MAX_MARKUP_BYTES = 2_000_000
"""Beyond, Markdown, reStructuredText, LaTeX and Org are read as plain text: Markdown's parser makes 0.1 to 0.3 MB/s
and holds 190 bytes a character, docutils 0.6 MB/s, pylatexenc 0.2 MB/s."""

MAX_ARCHIVE_MEMBERS = 50_000
"""Of a DOCX or EPUB: the longest books have a few thousand."""

MAX_COMPRESSION_RATIO = 250
"""Of a part of a DOCX or EPUB above 1 MB: markup is 5 to 50, a bomb up to 1,032."""

MAX_PAGES = 1_000_000
"""A page tree that claims more is a lie (its /Count is free text)."""

MAX_HEADINGS = 10_000
"""Of one outline; the rest is dropped."""

MAX_TITLE_CHARACTERS = 300
"""Of a document's title or a heading."""

MAX_FRAME_BYTES = 700_000_000
"""One message from the child: `MAX_TEXT_FILE_BYTES` of text with every character escaped."""
