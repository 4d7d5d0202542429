"""Prepares kept passages for an export: their places as they are now, and the keys of the reference manager."""

from collections.abc import Sequence

from longsearch.app.evidence.places import placed
from longsearch.app.evidence.references import cited
from longsearch.app.evidence.settings import citations
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.forms import FORMATS, FORMS


def exported(passages: Sequence[Evidence], format_: str) -> tuple[str, list[str]]:
    """Return the text of an export in a format of `FORMATS`, and notes on passages that do not stand there any more."""
    found = placed(passages)
    notes = [f"{one.evidence.title}: {one.state.value}" for one in found if one.state]
    return FORMATS[format_][1](cited([one.evidence for one in found], citations())), notes


def copied(one: Evidence) -> str:
    """Return a passage in the form of the settings. Raises LongsearchError if the references cannot be read."""
    settings = citations()
    return FORMS[settings.form](one if settings.form == "plain" else cited([one], settings)[0])
