"""Words for documents without vectors: status, the app, errors and the notes of searches all say it so. Pure."""

NONE_READ = "no document has been read for its meaning yet"


def unread(what: str, n: int = 1) -> str:
    """Say that something has no vectors yet: "3 documents have not been read for their meaning yet"."""
    return f"{what} {'has' if n == 1 else 'have'} not been read for {'its' if n == 1 else 'their'} meaning yet"
