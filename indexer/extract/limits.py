"""What reading one file may cost. Beyond these a file is a row with a reason, not a burden on the machine."""

PAGE_TIMEOUT_S = 10.0
"""Between two pages. Measured: 2 ms for a usual page, 25 ms through pypdf; a loop of form objects never ends."""

DOCUMENT_TIMEOUT_S = 120.0
"""For a whole file, restarts included."""

MEMORY_BYTES = 1 << 30
"""Address space of the child. A usual paper needs 31 MB resident; a bomb takes all there is."""

MAX_TEXT_FILE_BYTES = 100_000_000
"""Of a Markdown, HTML or plain text file: more is a log or a dump of data, not a document."""

MAX_TEXT_CHARACTERS = 100_000_000
"""Of one PDF's text: 50,000 full pages."""

MAX_MARKDOWN_BYTES = 2_000_000
"""Beyond, Markdown is read as plain text: its parser makes 0.1 to 0.3 MB/s and holds 190 bytes a character."""

MAX_PAGES = 1_000_000
"""A page tree that claims more is a lie (its /Count is free text)."""

MAX_HEADINGS = 10_000
"""Of one outline; the rest is dropped."""

MAX_TITLE_CHARACTERS = 300
"""Of a document's title or a heading."""

MAX_FRAME_BYTES = 700_000_000
"""One message from the child: `MAX_TEXT_FILE_BYTES` of text with every character escaped."""
