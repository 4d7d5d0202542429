"""Read invitations and calendars (`.ics`): what, when, where, who, and the description of each event.

icalendar parses them; a part that it refuses is read as plain text, with its lines unfolded.
"""

import re
from datetime import date, datetime
from typing import Any

from longsearch.indexer.extract.clean import whole_line
from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.readers.versit import unfolded
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_KINDS = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_LINES = (
    *(("DTSTART", "Start"), ("DTEND", "End"), ("DUE", "Due"), ("RRULE", "Repeats"), ("LOCATION", "Place")),
    *(("ORGANIZER", "Organizer"), ("ATTENDEE", "Attendee"), ("CONTACT", "Contact"), ("STATUS", "Status")),
    *(("CATEGORIES", "Categories"), ("URL", "Link")),
)
"""(property, the word before its value)."""
_MAX_EVENTS = 20_000
_MAX_VALUES = 200
"""Values of one property: attendees of a meeting."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    text = unfolded(decode(read_bytes(path)), escaped="\\;,")
    builder = TextBuilder()
    try:
        import icalendar  # 0.1 s

        calendars = icalendar.Calendar.from_ical(text, multiple=True)
        events = [part for calendar in calendars for part in calendar.walk() if part.name in _KINDS]
    except Exception:  # it raises errors of many classes for what programs write
        events = []
    for event in events[:_MAX_EVENTS]:
        _add(builder, event)
    if not events:
        builder.add(text)
    return builder.file_text()


def _add(builder: TextBuilder, event: Any) -> None:
    builder.add_heading(1, _shown(event.get("SUMMARY", "")) or "Event")
    for name, word in _LINES:
        found = event.get(name)
        for value in (found if isinstance(found, list) else [found])[:_MAX_VALUES]:
            if shown := _shown(value):
                builder.add(f"{word}: {shown}", tight=True)
    for name in ("DESCRIPTION", "COMMENT"):
        builder.add(str(event.get(name) or ""))


def _shown(value: Any) -> str:
    """Return a value as a person writes it: a day and a time, a name and an address."""
    if value is None:
        return ""
    moment = getattr(value, "dt", None)
    if isinstance(moment, datetime):
        return f"{moment:%Y-%m-%d %H:%M} {moment.tzname() or ''}".strip()
    if isinstance(moment, date):
        return moment.isoformat()
    if isinstance(value, dict):  # how an event repeats: "weekly, count 4, byday MO"
        parts = ((key.lower(), " ".join(map(str, items))) for key, items in value.items())
        return ", ".join(words.lower() if key == "freq" else f"{key} {words}" for key, words in parts)
    name = str(getattr(value, "params", {}).get("CN", ""))
    text = value.to_ical().decode("utf-8", "replace") if hasattr(value, "cats") else str(value)
    address = re.sub("^mailto:", "", text, flags=re.IGNORECASE)
    return whole_line(f"{name} <{address}>" if name and name != address else address)
