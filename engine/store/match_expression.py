"""Reads an FTS5 expression and joins the sets of passages that its parts stand for. Pure; `index.lookup` writes them.

An expression is a form in quotation marks, which may end with a star for any word with this beginning, or
`NEAR("one" "other", 5)`, or several expressions between which stands OR, AND or NOT, in brackets.
"""

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

TOKEN = re.compile(r'"(?:[^"]|"")*"\*?|NEAR\(|[()]|AND|OR|NOT|\d+')
_SIGNS = ("OR", "AND", "NOT")
Set = TypeVar("Set")


class Sets(Protocol[Set]):
    """Makes sets of passages, and joins two of them."""

    def held(self, form: str) -> Set:
        """Those that hold a form."""

    def near(self, forms: Sequence[str], within: int) -> Set:
        """Those that hold these forms with at most `within` words between."""

    def either(self, one: Set, other: Set) -> Set:
        """Those in any of the two."""

    def both(self, one: Set, other: Set) -> Set:
        """Those in both."""

    def without(self, one: Set, other: Set) -> Set:
        """Those in the first alone."""


def evaluated(left: list[str], sets: Sets[Set], level: int = 0) -> Set:
    """The passages that match an expression, given as its tokens, the last one first; takes these away.

    NOT binds most, then AND, then OR, as in FTS5. At `level` 0 any sign joins, at 1 AND and NOT, at 2 NOT.
    """
    if level < len(_SIGNS):
        found = evaluated(left, sets, level + 1)
        while left and left[-1] == _SIGNS[level]:
            left.pop()
            join = (sets.either, sets.both, sets.without)[level]
            found = join(found, evaluated(left, sets, level + 1))
        return found
    read = left.pop()
    if read[0] == '"':
        return sets.held(read)
    if read == "(":
        found = evaluated(left, sets)
        left.pop()
        return found
    forms = []
    while left[-1][0] == '"':
        forms.append(left.pop())
    within, _ = int(left.pop()), left.pop()
    return sets.near(forms, within)
