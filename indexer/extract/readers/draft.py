"""Writes what a draft cites beside its words: where links lead, and where notes belong, in Markdown's marks.

An indexed text has the words alone. In a draft, links and notes say which source is meant. Knows no format.
"""

_LONGEST = 500
"""Characters of a link's target; no longer one names a file."""
is_read = False
"""Whether the file that is being read is a draft. The child process sets it before each file."""


def link_begin(target: str | None) -> str:
    """Return the mark before the words of a link; "" if no draft is read, or the link leads nowhere."""
    return "[" if _address(target) else ""


def link_end(target: str | None) -> str:
    """Return the mark behind the words of a link, with its target; "" as for `link_begin`."""
    address = _address(target)
    return f"](<{address}>)" if address else ""


def note_name(kind: str, number: int) -> str:
    """Return how the text below names a note: `Footnote 1`, or in a draft `[^Footnote-1]`."""
    return note_mark(f"{kind}-{number}") or f"{kind} {number}"


def note_mark(name: str) -> str:
    """Return the mark of a note, for its place in the text; "" if no draft is read."""
    return f"[^{'-'.join(name.split())}]" if is_read else ""


def _address(target: str | None) -> str:
    address = " ".join((target or "").split()) if is_read else ""
    if address.startswith("#") or len(address) > _LONGEST:
        return ""
    return address.replace("<", "%3C").replace(">", "%3E")
