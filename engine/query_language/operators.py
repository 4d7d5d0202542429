"""What AND, OR, NOT, NEAR and brackets make of the parts of a query, and how that is written. Pure: parts in, tree out.

Any order of signs is valid: one that joins nothing is a word, and a bracket that opens nothing is nothing. NEAR binds
most, then NOT, AND and OR. Parts that stand side by side in brackets must all be there. Written by hand: luqum raises
on what is no Lucene query, and a grammar for lark would have to say for each sign when it is text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

from longsearch.engine.query_language.fields import quoted
from longsearch.engine.types.results import Term

WITHIN = 10
"""The words between two words that are NEAR each other, unless the query says how many."""
_MOST_PAIRS, _DEEPEST = 16, 50  # NEAR of two alternatives of which each has many; brackets in brackets


@dataclass(frozen=True, slots=True)
class Where:
    """A field that a document must have."""

    name: str
    text: str
    is_prefix: bool = False
    """Whether the value is still being typed."""


@dataclass(frozen=True, slots=True)
class Near:
    """Words and phrases that must stand near each other, in any order."""

    parts: tuple[Term, ...]
    within: int
    """The most words between the end of the first and the beginning of the last."""


@dataclass(frozen=True, slots=True)
class All:
    """A passage must be what every part says."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """A passage must be what at least one part says."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A passage must not be what the part says."""

    part: "Node"


Node = Term | Where | Near | All | Either | Not


class Sign(NamedTuple):
    """An operator or a bracket as it stands in a query."""

    kind: Literal["(", ")", "AND", "OR", "NOT", "NEAR"]
    typed: str
    within: int = WITHIN
    """For NEAR: the most words between."""


Token = Node | Sign
SPACED_BAR = " |"  # as `Sign.typed`, a bar between blanks: in brackets it is OR, elsewhere the pipe of a shell
_JOINING, _CONJUNCTIONS = ("AND", "OR", "NEAR"), ("and", "or", "not")


def clauses(tokens: Sequence[Token]) -> tuple[Node, ...]:
    """The parts of a query that stand side by side, each as far as operators join it.

    Brackets without an operator, as prose has them, join nothing.
    """
    found: list[Node] = []
    settled = list(tokens)
    while (before := settled) != (settled := _with_words_for_loose_signs(_balanced(before))):
        pass  # brackets that are empty now may leave an operator with nothing to join
    reader = _Reader(settled)
    while reader.left:
        is_group = reader.begins("(") and not reader.joins_in_group()
        part = reader.either()
        found += part.parts if is_group and isinstance(part, All) else (part,)
    return tuple(found)


def _balanced(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with as many closing brackets as opening ones, none around nothing and no conjunction in them."""
    found: list[Token] = []
    depth = n_left_out = 0
    for token in [*tokens, *[Sign(")", ")")] * len(tokens)]:
        kind = token.kind if isinstance(token, Sign) else ""
        if (kind == "(" and depth == _DEEPEST) or (kind == ")" and n_left_out):
            n_left_out += 1 if kind == "(" else -1
            continue
        if kind == ")":
            if not depth:
                continue
            depth -= 1
            if isinstance(found[-1], Sign) and found[-1].kind == "(":
                found.pop()
                continue
        is_pipe = isinstance(token, Sign) and token.typed == SPACED_BAR and not depth
        is_idle = _is_conjunction(token.part) if isinstance(token, Not) else depth and _is_conjunction(token)
        if not (is_pipe or is_idle):
            found.append(token)
        depth += kind == "("
    return found


def _is_conjunction(token: Token) -> bool:
    return isinstance(token, Term) and not token.is_phrase and token.text in _CONJUNCTIONS


def _with_words_for_loose_signs(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a word in place of each operator that joins nothing, or a conjunction: `or` of "OR pump"."""
    found: list[Token] = []
    depth = 0
    for number, token in enumerate(tokens):
        kind = token.kind if isinstance(token, Sign) else ""
        depth += (kind == "(") - (kind == ")")
        if isinstance(token, Sign) and kind not in "()":
            ends_operand = bool(found) and _ends_operand(found[-1])
            following = tokens[number + 1 : number + 2]
            begins_operand = any(_begins_operand(one, is_after_not=kind == "NOT") for one in following)
            if not begins_operand or (kind in _JOINING and not ends_operand):
                if token.typed.isalnum() and not depth:
                    found.append(Term(token.typed.lower()))
                continue
        found.append(token)
    return found


def _ends_operand(token: Token) -> bool:
    return token.kind == ")" if isinstance(token, Sign) else not _is_conjunction(token)


def _begins_operand(token: Token, is_after_not: bool) -> bool:
    opens = isinstance(token, Sign) and (token.kind == "(" or (token.kind == "NOT" and not is_after_not))
    return opens if isinstance(token, Sign) else not _is_conjunction(token)


class _Reader:
    """Reads tokens in which every sign joins something."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.left = list(tokens)

    def begins(self, *kinds: str) -> bool:
        """Whether a sign of these kinds comes next."""
        return bool(self.left) and isinstance(self.left[0], Sign) and self.left[0].kind in kinds

    def joins_in_group(self) -> bool:
        """Whether the group that comes next has an operator, or is joined to what follows it."""
        depth = 0
        for number, token in enumerate(self.left):
            if isinstance(token, Sign):
                depth += {"(": 1, ")": -1}.get(token.kind, 0)
                if token.kind not in "()" or not depth:
                    signs = (token, *self.left[number + 1 : number + 2])
                    return token.kind == "NOT" or any(isinstance(one, Sign) and one.kind in _JOINING for one in signs)
        return False

    def either(self) -> Node:
        """Read what OR joins."""
        parts = [self._all()]
        while self.begins("OR"):
            del self.left[0]
            parts.append(self._all())
        return _joined(Either, parts)

    def _all(self) -> Node:
        parts = [self._not()]
        while self.begins("AND"):
            del self.left[0]
            parts.append(self._not())
        return _joined(All, parts)

    def _not(self) -> Node:
        if self.begins("NOT"):
            del self.left[0]
            return _negated(self._not())
        part = self._group_or_leaf()
        while self.begins("NEAR"):
            sign = self.left.pop(0)
            part = _near(part, self._group_or_leaf(), sign.within if isinstance(sign, Sign) else WITHIN)
        return part

    def _group_or_leaf(self) -> Node:
        first = self.left.pop(0)
        if not isinstance(first, Sign):
            return first
        if first.kind == "NOT":  # behind NEAR
            return _negated(self._group_or_leaf())
        parts = []
        while not self.begins(")"):
            parts.append(self.either())
        del self.left[0]
        return _joined(All, parts)


def _joined(kind: type[All] | type[Either], parts: Sequence[Node]) -> Node:
    """One node of these parts, without a node of the same kind inside; the part itself if there is one."""
    flat = [own for part in parts for own in (part.parts if isinstance(part, kind) else (part,))]
    unique = tuple(dict.fromkeys(flat))
    return unique[0] if len(unique) == 1 else kind(unique)


def _negated(part: Node) -> Node:
    return part.part if isinstance(part, Not) else Not(part)


def _near(left: Node, right: Node, within: int) -> Node:
    """The two near each other. Of alternatives, any may be; of what is neither word nor phrase both must be there."""
    lefts, rights = (part.parts if isinstance(part, Either) else (part,) for part in (left, right))
    pairs = [_near_pair(*pair, within) for pair in product(lefts, rights)][:_MOST_PAIRS]
    return _joined(Either, pairs)


def _near_pair(left: Node, right: Node, within: int) -> Node:
    if isinstance(right, Term) and not any(getattr(one, "is_range", False) for one in (left, right)):  # has no place
        if isinstance(left, Term):
            return Near((left, right), within) if left != right else left
        if isinstance(left, Near):
            if left.within == within and right not in left.parts:
                return Near((*left.parts, right), within)
            return _joined(All, [left, _near_pair(left.parts[-1], right, within)])
    return _joined(All, [left, right])


def terms_of(node: Node, is_positive: bool = True) -> Iterator[Term]:
    """Yield the words and phrases that a passage may hold, or else those that it must not hold."""
    if isinstance(node, Term) and is_positive:
        yield node
    elif isinstance(node, Near) and is_positive:
        yield from node.parts
    elif isinstance(node, Not):
        yield from terms_of(node.part, not is_positive)
    elif isinstance(node, All | Either):
        for part in node.parts:
            yield from terms_of(part, is_positive)


def with_terms(node: Node, change: Callable[[Term], Term]) -> Node:
    """The node with each of its terms changed."""
    match node:
        case Term():
            return change(node)
        case Near():
            return replace(node, parts=tuple(map(change, node.parts)))
        case All() | Either():
            return replace(node, parts=tuple(with_terms(part, change) for part in node.parts))
        case Not():
            return Not(with_terms(node.part, change))
        case Where():
            return node


def has_terms(node: Node) -> bool:
    """Whether the node asks for words at all, and not only for fields."""
    return any(True for is_positive in (True, False) for _ in terms_of(node, is_positive))


def finds_more_than_words(node: Node) -> bool:
    """Whether a passage may be admitted that holds none of the words: by a field, or because it lacks a word."""
    if not isinstance(node, All | Either):
        return False
    parts = (isinstance(part, Where | Not) or finds_more_than_words(part) for part in node.parts)
    return any(parts) if isinstance(node, Either) else all(parts)


def written(node: Node, is_inside: bool = False) -> str:
    """The node as one may type it. `is_inside`: whether it stands beside others, so that it needs brackets."""
    match node:
        case Term():
            return f'"{node.text}"' if node.is_phrase else node.text
        case Where():
            return f"{node.name}:{quoted(node.text)}"
        case Near():
            if not any(part.is_phrase or part.is_pattern for part in node.parts):
                return f'"{" ".join(part.text for part in node.parts)}"~{node.within}'
            return _in_brackets(f" NEAR/{node.within} ".join(map(written, node.parts)), is_inside)
        case Not():
            return f"NOT {written(node.part, is_inside=True)}"
        case All() | Either():
            sign = " AND " if isinstance(node, All) else " OR "
            return _in_brackets(sign.join(written(part, is_inside=True) for part in node.parts), is_inside)


def _in_brackets(text: str, is_wanted: bool) -> str:
    closing = " )" if "(" in text.split()[-1] else ")"  # or a bracket of the last word would close
    return f"({text}{closing}" if is_wanted else text
