"""Words for documents without vectors: status, the app, errors and the notes of searches all say it so. Pure."""

MEANING_YET = " meaning yet"
"""The end of each of these sentences."""
NONE_READ = f"no document has been read for its{MEANING_YET}"


def unread(what: str, n: int = 1) -> str:
    """Say that something has no vectors yet: "3 documents have not been read for their meaning yet"."""
    return f"{what} {'has' if n == 1 else 'have'} not been read for {'its' if n == 1 else 'their'}{MEANING_YET}"
