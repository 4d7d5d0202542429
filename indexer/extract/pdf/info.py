"""The keys of a PDF's information dictionary that are metadata. Both libraries that read PDFs use this table."""

INFO = "PDF info"
"""The source of what the information dictionary says."""
INFO_FIELDS = (
    ("Title", "title"),
    ("Author", "author"),
    ("Subject", "subject"),
    ("Keywords", "tag"),
    ("CreationDate", "created"),
)
"""(key of the information dictionary, our field). The date is that of the file, not of the text: `created`."""
