"""The query language: words, "phrases", -excluded words and -"excluded phrases", and fields such as author:hinton.

Any text is a valid query: what only resembles a field (10:30, http://, C:\\) is a word. `fields` says which there are.
This module is pure: text in, terms out. It knows no index; `lookup` turns the terms into what the word index is asked.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from longsearch.engine.errors import QueryError
from longsearch.engine.languages.scripts import SPACED_WORD
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question, without_article
from longsearch.engine.query_language import fields
from longsearch.engine.query_language.fields import Condition, Filters, Sort
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.query_language.folder_filter import FolderFilter
from longsearch.engine.types.results import Term

Given = tuple[str, str]
"""A field that was given apart from the text of a query: (name, value)."""
MAX_TERMS = 64
"""A query looks up at most this many words and as many phrases. A pasted page has hundreds; each costs milliseconds."""
_OPERATORS_MAX_CHARS = 1000  # a longer text was pasted, not typed: its quotation marks and dashes are prose
_PREFIX_MIN_CHARS = 3  # "w1"* took 0.85 s at 100k passages that all match it
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
# one item of a query: an optional minus, then a phrase (perhaps unclosed) or a word; in a field, a name before them
_BODY = r'(?:"(?P<phrase>[^"]*)(?P<closed>"?)|(?P<word>[^\s"]+))'
_ITEM = re.compile(rf"(?P<minus>-)?{_BODY}")
_NAME = r"[^\W\dA-Z_][^\WA-Z_.-]*(?:[.-][^\WA-Z_.-]+)*"
_FIELD = re.compile(rf'(?P<minus>-)?(?P<name>{_NAME}):(?=["\w./#-]){_BODY}')
_UNFINISHED = re.compile(rf'(?:^|(?<=\s))-?(?:(?P<name>{_NAME}):)?(?P<value>"[^"]*|[^\s":]*)$')


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
    conditions: tuple[Condition, ...] = ()
    """What the metadata of a document must say."""
    sort: Sort | None = None
    """The order of the results; None if the query does not say."""
    is_reversed: bool = False
    """Whether the order is the other way round: -sort:date shows the oldest first."""
    notes: tuple[str, ...] = ()
    """What the person may have meant otherwise: a misspelt field, an impossible date."""

    @property
    def is_listing(self) -> bool:
        """Whether the query has no words, so that it lists the documents that its filters admit."""
        return not self.terms

    @property
    def filters(self) -> str:
        """The filters of documents as one may type them, or ""."""
        return " ".join(filter(None, (str(self.files), *map(str, self.conditions))))

    @property
    def terms(self) -> tuple[Term, ...]:
        """The phrases and words to look up, which decide the rank."""
        return self.phrases + self.words


def parse(text: str, prefix_last: bool = False, keys: Collection[str] = (), also: Sequence[Given] = ()) -> Query:
    """Parse a typed query. With `prefix_last`, the last word is a prefix unless a space follows it.

    `keys`: the fields that the documents of the index have beside the usual ones. `also`: fields that were given apart
    from the text, each as (name, value); `-name` excludes. Raises QueryError if nothing is left to search for or list,
    or for an unknown field in `also`.
    """
    clean = _encodable(text)
    if len(clean) > _OPERATORS_MAX_CHARS:
        clean, prefix_last = _without_operators(clean), False
    found = Filters()
    words: list[Term] = []
    phrases: list[Term] = []
    excluded: list[Term] = []
    meaning: list[str] = []
    for item in _items(clean.translate(_QUOTES), found, prefix_last, keys):
        is_phrase = item["word"] is None
        body = (item["phrase"] if is_phrase else item["word"]).strip()
        if not is_searchable(body):
            continue
        if not item["minus"]:
            meaning.append(body)
        is_unfinished = prefix_last and item.end() == len(clean) and not item["closed"]
        term = Term(body, is_phrase, is_unfinished and _may_be_prefix(body))
        (excluded if item["minus"] else phrases if is_phrase else words).append(term)
    for name, value in also:
        _take_given(found, name, value, keys)
    if not meaning and (excluded or not found):
        raise QueryError(*_nothing_to_search(bool(excluded)))
    kept = content_words(words, bool(phrases)), _distinct(phrases), _distinct(excluded)
    conditions, notes = tuple(dict.fromkeys(found.conditions))[:MAX_TERMS], tuple(dict.fromkeys(found.notes))
    files, folders = FileFilter.of(found.of_files), FolderFilter.of(found.of_folders)
    return Query(text, *kept, " ".join(meaning), files, folders, conditions, *found.order, notes)


def with_words(text: str, words: Mapping[str, str], keys: Collection[str] = ()) -> str:
    """The query with other words in place of those that `words` names; phrases, exclusions and fields stay."""
    clean, pieces, last = _encodable(text), list[str](), 0
    if len(clean) > _OPERATORS_MAX_CHARS:
        return text
    for item in _items(clean.translate(_QUOTES), Filters(), False, keys):
        if item["word"] is not None and not item["minus"]:
            start, stop = item.span("word")
            own = SPACED_WORD.sub(lambda word: words.get(word[0], word[0]), clean[start:stop])
            pieces += [clean[last:start], own]
            last = stop
    return "".join([*pieces, clean[last:]])


def folders_named(text: str, also: Sequence[Given] = ()) -> FolderFilter:
    """The folders that a query names: they must be known before it is parsed, because their documents have the keys."""
    found = Filters()
    clean = _encodable(text)
    if f"{fields.FOLDER}:" in clean.casefold() and len(clean) <= _OPERATORS_MAX_CHARS:
        for _ in _items(clean.translate(_QUOTES), found, False, ()):
            pass
    for name, value in also:
        if fields.name_of(name.removeprefix("-"), ()) == fields.FOLDER:
            _take_given(found, name, value, ())
    return FolderFilter.of(found.of_folders)


def _items(text: str, found: Filters, prefix_last: bool, keys: Collection[str]) -> Iterator[re.Match[str]]:
    """Yield the items of a query that are words or phrases; give the fields to `found`."""
    at = 0
    while item := _ITEM.search(text, at):
        typed = _FIELD.match(text, item.start())
        if typed and _take_typed(found, typed, prefix_last and typed.end() == len(text), keys):
            at = typed.end()
        else:
            at = item.end()
            yield item


def _take_typed(found: Filters, typed: re.Match[str], is_unfinished: bool, keys: Collection[str]) -> bool:
    """Give a field to `found`; return False if it is to be searched for as it stands, with a note if it is a slip."""
    body = (typed["word"] or typed["phrase"] or "").strip()
    name = fields.name_of(typed["name"], keys)
    if not name:
        if not body.startswith("/") and (near := fields.nearest_name(typed["name"], keys)):
            found.notes.append(f"no field {typed['name']}: {near}?")
        return False
    if not (body if name == fields.FOLDER else is_searchable(body)):
        return True
    problem = found.take(name, body, bool(typed["minus"]), is_unfinished and not typed["closed"])
    if problem:
        found.notes.append(problem)
    return not problem


def _take_given(found: Filters, name: str, value: str, keys: Collection[str]) -> None:
    known = fields.name_of(name.removeprefix("-"), keys)
    if not known:
        near = fields.nearest_name(name, keys)
        raise QueryError(f"No document has a field {name}", f"{near}?" if near else "status --json lists the fields")
    problem = found.take(known, _encodable(value).strip(), name.startswith("-"))
    if problem:
        raise QueryError(f"{value} is no value for this", problem)


def unfinished(text: str) -> tuple[int, str, str | None]:
    """What a query's last item begins: (where its value begins, the value, its field or None if none was typed)."""
    found = _UNFINISHED.search(text.translate(_QUOTES))
    return (found.start("value"), found["value"].removeprefix('"'), found["name"]) if found else (len(text), "", None)


def is_common(word: str, language: str = "en") -> bool:
    """Whether the search drops this word of a question in `language`."""
    return word.casefold() in STOP_WORDS[language]


def quoted(value: str) -> str:
    """A value as it is typed behind a field: in quotation marks if it has spaces or signs that end a word."""
    clean = " ".join(value.translate(_QUOTES).replace('"', " ").split())
    return clean if re.fullmatch(r"[\w./#-]\S*", clean) else f'"{clean}"'


def is_searchable(text: str) -> bool:
    """Whether FTS5's tokenizer finds a word in the text: letters, numbers and private-use characters make words."""
    return any(
        unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Co" for character in text
    )


def _encodable(text: str) -> str:
    """Replace NUL, which ends an FTS5 expression, and lone surrogates, which UTF-8 cannot encode."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _without_operators(text: str) -> str:
    return re.sub(rf'(?<!\S)-+|"|(?<!\S)(?:{"|".join(fields.NAMES)}):', " ", text.translate(_QUOTES))


def _may_be_prefix(text: str) -> bool:
    last = text.split()[-1]
    return len(last) >= _PREFIX_MIN_CHARS and text[-1].isalnum() and not is_common(last)


def content_words(words: list[Term], has_phrases: bool, language: str = "en") -> tuple[Term, ...]:
    """Drop the stop words of a language unless nothing else is left; a word that is still being typed stays.

    An OR with them took 135 ms, not 16, at 100k passages.
    """
    kept = [word for word in words if word.is_prefix or not is_common(word.text, language)]
    return _distinct(kept if kept or has_phrases else words)


def in_languages(query: Query, codes: Collection[str]) -> Query:
    """The query as documents in these languages are asked: without the stop words and elided articles of its language.

    `parse` has dropped English stop words already. `codes` are those of `IndexLanguages`.
    """
    spoken = language_of_question(SPACED_WORD.findall(query.text.casefold()), codes)
    if not spoken:
        return query
    words = [replace(term, text=without_article(term.text, spoken)) for term in query.words]
    return replace(query, words=content_words(words, bool(query.phrases), spoken))


def _distinct(terms: list[Term]) -> tuple[Term, ...]:
    unique = {(term.text.casefold(), term.is_prefix): term for term in terms}
    return tuple(unique.values())[:MAX_TERMS]


def _nothing_to_search(has_exclusions: bool) -> tuple[str, str]:
    """(message, hint) for a query without words to search for."""
    if has_exclusions:
        return "The query only says what not to find", "Add a word to search for"
    return "The query has no words", 'Type words, "a phrase", or -without'
