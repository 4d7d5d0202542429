"""The query language: words, "phrases", -excluded words and -"excluded phrases", in:contracts and type:pdf for files.

Any text is a valid query. Pure: text in, terms out, each a valid FTS5 expression. Knows no index; words are tokenized
and stemmed by FTS5.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from engine.errors import QueryError
from engine.search.file_filter import FileFilter

MAX_TERMS = 64
"""Words, and phrases, of a query that are searched for: a pasted page has hundreds, and each costs milliseconds."""
_OPERATORS_MAX_CHARS = 1000  # a longer text was pasted, not typed: its quotes and dashes are prose
_PREFIX_MIN_CHARS = 3  # "w1"* took 0.85 s at 100k passages that all match it
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
_ITEM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>in|type):(?=["\w./-]))?(?:"(?P<phrase>[^"]*)(?P<closed>"?)|(?P<word>[^\s"]+))'
)

_STOP_WORDS = frozenset(
    """
    a about also am an and any are as at be been being but by can could did do does for from had has have he her his
    how i if in into is it its me my no not of on or our she should so than that the their them then there these they
    this those to us was we were what when where which who whom whose why will with would you your
    """.split()  # noqa: SIM905 (a hundred lines as a list)
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase to be looked up."""

    text: str
    is_prefix: bool = False
    """Whether its last word may go on: it is still being typed."""

    @property
    def match(self) -> str:
        """The term as an FTS5 expression; always quoted: `c++`, `it's` and `NOT` are syntax errors or operators raw."""
        quoted = self.text.replace('"', '""')
        return f'"{quoted}"*' if self.is_prefix else f'"{quoted}"'


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood."""

    words: tuple[Term, ...]
    """A passage may hold any of these."""
    phrases: tuple[Term, ...]
    """A passage must hold all of these."""
    excluded: tuple[Term, ...]
    """A passage must hold none of these."""
    meaning: str
    """What is to be turned into a vector: the text without quotation marks, exclusions and files."""
    files: FileFilter
    """Which files are asked."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """What counts for the rank: phrases and words."""
        return self.phrases + self.words


def parse(text: str, prefix_last: bool = False) -> Query:
    """Understand a typed query. `prefix_last`: what it ends with, unless by a space, is the beginning of a word.

    QueryError where nothing is left to search for.
    """
    clean = _encodable(text)
    if len(clean) > _OPERATORS_MAX_CHARS:
        clean, prefix_last = _without_operators(clean), False
    words: list[Term] = []
    phrases: list[Term] = []
    excluded: list[Term] = []
    said: list[str] = []
    of_files: list[tuple[str, str, bool]] = []
    for item in _ITEM.finditer(clean.translate(_QUOTES)):
        body = item["word"] if item["phrase"] is None else item["phrase"]
        if not _is_searchable(body):
            continue
        if item["field"]:
            of_files.append((item["field"], body.strip(), bool(item["minus"])))
            continue
        if not item["minus"]:
            said.append(body.strip())
        unfinished = prefix_last and item.end() == len(clean) and not item["closed"]
        term = Term(body.strip(), unfinished and _may_be_prefix(body))
        (excluded if item["minus"] else words if item["phrase"] is None else phrases).append(term)
    if not said:
        raise QueryError(*_nothing_to_search(bool(excluded), bool(of_files)))
    wanted = _content_words(words, bool(phrases)), _distinct(phrases), _distinct(excluded)
    return Query(*wanted, " ".join(said), FileFilter.of(of_files))


def any_of(terms: Iterable[Term]) -> str:
    """FTS5 expression: holds at least one of these."""
    return " OR ".join(term.match for term in terms)


def all_of(terms: Iterable[Term]) -> str:
    """FTS5 expression: holds all of these."""
    return " AND ".join(term.match for term in terms)


def _encodable(text: str) -> str:
    """Without NUL, which ends an FTS5 expression, and lone surrogates, which have no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _without_operators(text: str) -> str:
    return re.sub(r'(?<!\S)-+|"|(?<!\S)(?:in|type):', " ", text.translate(_QUOTES))


def _is_searchable(text: str) -> bool:
    """Whether FTS5's tokenizer finds a word in it: letters, numbers and private characters make words."""
    return any(
        unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Co" for character in text
    )


def _may_be_prefix(text: str) -> bool:
    last = text.split()[-1]
    return len(last) >= _PREFIX_MIN_CHARS and text[-1].isalnum() and last.casefold() not in _STOP_WORDS


def _content_words(words: list[Term], has_phrases: bool) -> tuple[Term, ...]:
    """Without stop words, unless nothing else is left (an OR with them took 135 ms, not 16, at 100k passages)."""
    kept = [word for word in words if word.text.casefold() not in _STOP_WORDS]
    return _distinct(kept if kept or has_phrases else words)


def _distinct(terms: list[Term]) -> tuple[Term, ...]:
    unique = {(term.text.casefold(), term.is_prefix): term for term in terms}
    return tuple(unique.values())[:MAX_TERMS]


def _nothing_to_search(only_excludes: bool, only_files: bool) -> tuple[str, str]:
    if only_files:
        return "The query only says which files to search", "Add a word to search for"
    if only_excludes:
        return "The query only says what not to find", "Add a word to search for"
    return "The query has no words", 'Type words, "a phrase", or -without'
