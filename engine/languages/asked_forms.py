"""Finds in a query what `written_forms` finds in a text, however it is typed. Pure."""

import re
from dataclasses import replace

from longsearch.engine.languages.written_forms import LONGEST, Written, is_mixed, written

_PLAIN_WORD = re.compile(r"(?<!\S)[^\W_]{1,12}(?!\S)")
_BORDER = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def spelt(text: str) -> list[Written]:
    """Return what `written` finds in a part of a query. There a day is not its month."""
    return [
        replace(one, forms=tuple(form for form in one.forms if not _is_month(form, one.forms))) for one in written(text)
    ]


def asked(text: str) -> list[Written]:
    """Return what `spelt` finds in a query, where case means nothing, and its words joined and split at digits.

    So `iso 9001` and `7xk 440 b` find ISO9001 and 7XK-440-B, and `iso9001` finds ISO 9001.
    """
    found = spelt("".join(c.upper() if len(c.upper()) == 1 else c for c in text))
    words = [
        word for word in _PLAIN_WORD.finditer(text) if not any(one.start <= word.start() < one.stop for one in found)
    ]
    for number, first in enumerate(words):
        if len(split := _BORDER.sub(" ", first[0])) > len(first[0]):
            found.append(Written(*first.span(), (split.lower(),)))
        for last in words[number + 1 : number + 4]:
            whole = "".join(text[first.start() : last.end()].split()).lower()
            if len(whole) <= LONGEST and whole.isalnum() and is_mixed(whole):
                found.append(Written(first.start(), last.end(), (whole,)))
    return found


def _is_month(form: str, forms: tuple[str, ...]) -> bool:
    return len(form) == 6 and any(other.startswith(form) and len(other) == 8 for other in forms)
