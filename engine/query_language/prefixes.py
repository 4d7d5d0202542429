"""What a query begins with that asks for no search: `where:` looks for a quotation, `verify:` judges a draft. Pure."""

import re

from longsearch.engine.late_patterns import late_pattern

_PREFIX = late_pattern(r"\s*(where|verify):\s*", re.IGNORECASE)


def quote_in(query: str) -> str | None:
    """Return what follows `where:` or `verify:` at the beginning of a query; None if it does not begin so."""
    found = _PREFIX.match(query)
    return query[found.end() :] if found else None


def is_draft(query: str) -> bool:
    """Return whether a query begins with `verify:`."""
    found = _PREFIX.match(query)
    return found is not None and found[1].casefold() == "verify"
