"""Limits on what reading one file may cost. A file that exceeds them becomes a row with a reason."""

START_TIMEOUT_S = 60.0
"""Seconds for a child to start and to load its reader: 0.3 s of processor time, ten seconds on a very busy machine."""
PAGE_TIMEOUT_S = 10.0
"""Time for one page. Measured: 2 ms for a usual page, 25 ms through pypdf; form objects in a loop never end."""

DOCUMENT_TIMEOUT_S = 120.0
"""Time for a whole file, including restarts of the child."""

STUCK_S = 30.0
"""Processor time that a reader may use without going on. Measured: 1 s at most in workbooks and
pages of 30 to 50 MB, 5 s in 48 MB of RTF, 8 s in a hostile Markdown file."""
LATE_PAGES = 3
"""Pages in a row that may take `PAGE_TIMEOUT_S`; then the rest of a PDF is not looked at."""

STARVED_TIMES = 4
"""How many times longer than that a child may wait for a processor: on a busy machine a good file takes long."""

HTML_TIMEOUT_S, HTML_S_PER_MB = 20.0, 2.0
"""Processor time for the parser of a page, before the page is read without its marks. Measured: 0.8 s for 31 MB; what
nests a million deep takes hours."""

OCR_PAGE_TIMEOUT_S = 120.0
"""Time for tesseract on one page. Measured: 3 to 7 s on one core, 18 s when four other programs shared the core."""

OCR_DOCUMENT_TIMEOUT_S = 4 * 3600.0
"""Time for a whole file when pages may need OCR: a book of 500 scanned pages takes an hour."""

MAX_OCR_PIXELS = 20_000_000
"""Size of a rendered page: A4 at 300 dpi has 8.7 million pixels; a poster is rendered at fewer dpi."""

MAX_PIXELS = 8_000_000
"""Size of a page that is drawn to be looked at: 24 MB."""

MAX_BOXES = 1_000
"""Rectangles that light one passage on one page; usually one for each line."""

MEMORY_BYTES = 1 << 30
"""Address space of the child. A usual paper needs 31 MB of resident memory; a bomb takes all there is."""

TOOL_MEMORY_BYTES = 4 << 30
"""Address space of a program that the child runs: calibre's Python and Qt reserve far more than they use."""

TOOL_FILE_BYTES = 200_000_000
"""Size of each file that such a program may write: the EPUB that is made of a MOBI."""

MAX_TEXT_FILE_BYTES = 100_000_000
"""Size of a text file, or of the text in a DOCX or EPUB: a larger one is a log or a data dump, not a document."""

MAX_STREAMED_BYTES = 600_000_000
"""Size of the markup that is read of an office document piece by piece: most of it is no text, and none is kept."""

MAX_TEXT_CHARACTERS = 100_000_000
"""Length of one PDF's text: 50,000 full pages."""

MAX_MARKUP_BYTES = 2_000_000
"""Size above which Markdown, reStructuredText, LaTeX and Org are read as plain text: Markdown's parser reads 0.1 to
0.3 MB/s and needs 190 bytes per character, docutils reads 0.6 MB/s, pylatexenc 0.2 MB/s."""

MAX_ARCHIVE_MEMBERS = 50_000
"""Members of a DOCX or EPUB: the longest books have a few thousand."""

MAX_COMPRESSION_RATIO = 250
"""Compression ratio of a DOCX or EPUB member above 1 MB: markup has 5 to 50, a bomb up to 1,032."""

MAX_PAGES = 1_000_000
"""A page tree that claims more pages lies: a PDF may put any number in /Count."""

MAX_BARE_PAGES = 10_000
"""Pages in a row without text, picture or drawing, after which the rest of a PDF is not looked at."""

MAX_MESSAGE_BYTES = 60_000_000
"""Size of one message of a mailbox; of a larger one, the beginning is read."""

MAX_MAIL_CHARACTERS = 30_000_000
"""Text of one mailbox: about 15,000 messages. What follows is not read."""

MAX_ATTACHMENTS = 5_000
"""Attachments that are read of one message or mailbox."""

MAX_ATTACHMENT_BYTES = 50_000_000
"""Size of an attachment that is read."""

MAX_ATTACHMENTS_CHARACTERS = 20_000_000
"""Text of all attachments of one message or mailbox."""

ATTACHMENTS_TIME_S = 45.0
"""Time for all attachments of one message: less than half of the time for a file. A mailbox has `MAILBOX_TIMES` it."""

ATTACHMENT_TIME_S = 20.0
"""Time for one attachment. The child ends after it, and the mail is read without attachments."""

MAILBOX_TIMES = 15
"""How many times longer than another file a mailbox may take: it may have gigabytes."""

MAX_MARKS = 5_000
"""A person's marks in one document, and what a reader reports of one page; the rest is dropped."""

MAX_MARK_CHARACTERS = 5_000
"""Length of the words that are marked, and of a note."""

MAX_HEADINGS = 50_000
"""Headings of one document; the rest is dropped. A mailbox has one for each message."""

MAX_TITLE_CHARACTERS = 300
"""Length of a document's title or of a heading."""

MAX_RAW_VALUES = 300
"""Values of metadata that a reader reports of one file, before they are cleaned."""

MAX_RAW_CHARACTERS = 2_000
"""Length of such a value: a list of authors in one string may be long."""

MAX_FRAME_BYTES = 700_000_000
"""Size of one message from the child: `MAX_TEXT_FILE_BYTES` of text with every character escaped."""
