"""The query language: words, "phrases", -excluded words and -"excluded phrases", in:contracts, type:pdf and
lang:de for files.


folder:papers chooses among several indexed folders.

Any text is a valid query. This module is pure: text in, terms out. It knows no index and no language; `lookup` turns
the terms into what the word index is asked.
"""

import re
import unicodedata
from dataclasses import dataclass

from longsearch.engine.errors import QueryError
from longsearch.engine.search.file_filter import FileFilter
from longsearch.engine.search.folder_filter import FolderFilter
from longsearch.engine.types import Term

MAX_TERMS = 64
"""A query looks up at most this many words and as many phrases. A pasted page has hundreds; each costs milliseconds."""
_OPERATORS_MAX_CHARS = 1000  # a longer text was pasted, not typed: its quotation marks and dashes are prose
_PREFIX_MIN_CHARS = 3  # "w1"* took 0.85 s at 100k passages that all match it
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
# one item of a query: an optional minus, an optional field, then a phrase (perhaps unclosed) or a word
_ITEM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>in|type|lang|folder):(?=["\w./-]))?'
    r'(?:"(?P<phrase>[^"]*)(?P<closed>"?)|(?P<word>[^\s"]+))'
)

_STOP_WORDS = frozenset(
    """
    a about also am an and any are as at be been being but by can could did do does for from had has have he her his
    how i if in into is it its me my no not of on or our she should so than that the their them then there these they
    this those to us was we were what when where which who whom whose why will with would you your
    """.split()  # noqa: SIM905 (a hundred lines as a list)
)


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    text: str
    """The query as it was typed."""
    words: tuple[Term, ...]
    """A passage may hold any of these."""
    phrases: tuple[Term, ...]
    """A passage must hold all of these."""
    excluded: tuple[Term, ...]
    """A passage must hold none of these."""
    meaning: str
    """The text to encode as a vector: the query without quotation marks, exclusions and file filters."""
    files: FileFilter
    """Which files to search."""
    folders: FolderFilter
    """Which folders to search, if several are."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The phrases and words to look up, which decide the rank."""
        return self.phrases + self.words


def parse(text: str, prefix_last: bool = False) -> Query:
    """Parse a typed query. With `prefix_last`, the last word is a prefix unless a space follows it.

    Raises QueryError if nothing is left to search for.
    """
    clean = _encodable(text)
    if len(clean) > _OPERATORS_MAX_CHARS:
        clean, prefix_last = _without_operators(clean), False
    words: list[Term] = []
    phrases: list[Term] = []
    excluded: list[Term] = []
    meaning: list[str] = []
    filters: list[tuple[str, str, bool]] = []
    folders: list[tuple[str, bool]] = []
    for item in _ITEM.finditer(clean.translate(_QUOTES)):
        is_phrase = item["word"] is None
        body = item["phrase"] if is_phrase else item["word"]
        if item["field"] == "folder" and body.strip():
            folders.append((body.strip(), bool(item["minus"])))
            continue
        if not is_searchable(body):
            continue
        if item["field"]:
            filters.append((item["field"], body.strip(), bool(item["minus"])))
            continue
        if not item["minus"]:
            meaning.append(body.strip())
        is_unfinished = prefix_last and item.end() == len(clean) and not item["closed"]
        term = Term(body.strip(), is_phrase, is_unfinished and _may_be_prefix(body))
        (excluded if item["minus"] else phrases if is_phrase else words).append(term)
    if not meaning:
        raise QueryError(*_nothing_to_search(bool(excluded), bool(filters or folders)))
    kept = content_words(words, bool(phrases)), _distinct(phrases), _distinct(excluded)
    return Query(text, *kept, " ".join(meaning), FileFilter.of(filters), FolderFilter.of(folders))


def is_searchable(text: str) -> bool:
    """Whether FTS5's tokenizer finds a word in the text: letters, numbers and private-use characters make words."""
    return any(
        unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Co" for character in text
    )


def _encodable(text: str) -> str:
    """Replace NUL, which ends an FTS5 expression, and lone surrogates, which UTF-8 cannot encode."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _without_operators(text: str) -> str:
    return re.sub(r'(?<!\S)-+|"|(?<!\S)(?:in|type|lang|folder):', " ", text.translate(_QUOTES))


def _may_be_prefix(text: str) -> bool:
    last = text.split()[-1]
    return len(last) >= _PREFIX_MIN_CHARS and text[-1].isalnum() and last.casefold() not in _STOP_WORDS


def content_words(words: list[Term], has_phrases: bool) -> tuple[Term, ...]:
    """Drop stop words unless nothing else is left: an OR with them took 135 ms, not 16, at 100k passages."""
    kept = [word for word in words if word.text.casefold() not in _STOP_WORDS]
    return _distinct(kept if kept or has_phrases else words)


def _distinct(terms: list[Term]) -> tuple[Term, ...]:
    unique = {(term.text.casefold(), term.is_prefix): term for term in terms}
    return tuple(unique.values())[:MAX_TERMS]


def _nothing_to_search(has_exclusions: bool, has_filters: bool) -> tuple[str, str]:
    """(message, hint) for a query without words to search for."""
    if has_filters:
        return "The query only says which files to search", "Add a word to search for"
    if has_exclusions:
        return "The query only says what not to find", "Add a word to search for"
    return "The query has no words", 'Type words, "a phrase", or -without'
