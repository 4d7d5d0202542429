"""The query language: words, "phrases", -excluded words and phrases, fields such as author:hinton, and operators.

Any text is a valid query: what only resembles a field (10:30, http://, C:\\) is a word. `fields` says which there are,
`operators` how AND, OR, NOT, NEAR and brackets join what is typed. This module is pure: text in, terms out. It knows no
index; `lookup` turns the terms into what the word index is asked.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from longsearch.engine.errors import QueryError
from longsearch.engine.languages.scripts import SPACED_WORD
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question, without_article
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.quantities import MOST_WHOLE, amounts, whole_numbers
from longsearch.engine.query_language import fields, operators
from longsearch.engine.query_language.fields import QUOTES, Condition, Filters, Sort
from longsearch.engine.query_language.file_filter import FileFilter, FolderFilter
from longsearch.engine.query_language.items import as_prose, encodable, is_searchable, items
from longsearch.engine.query_language.operators import SPACED_BAR, Node, Not, Sign, Token, Where
from longsearch.engine.types.results import Term

Given = tuple[str, str]
"""A field that was given apart from the text of a query: (name, value)."""
MAX_TERMS = 64
"""A query looks up at most this many words and as many phrases. A pasted page has hundreds; each costs milliseconds."""
_OPERATORS_MAX_CHARS = 1000  # a longer text was pasted, not typed: its quotation marks and dashes are prose
_PREFIX_MIN_CHARS = 3  # "w1"* took 0.85 s at 100k passages that all match it
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
_ENDS = ".,;:!?…。，！" + "".join(_QUESTION_MARKS)  # of a sentence, on its last word: what does it stand for?
_SIGN_ALONE = late_pattern(r"AND|OR|NOT|NEAR(?:/\d+)?")
_PATTERN = late_pattern(
    r"(?!\*.*\*$)(?=(?:.*[^\W_]){3})(?!\d+\*\d)[\w'’-]*(?:(?:\*|(?<=[^\W\d])\?(?=[^\W\d]))[\w'’-]+)*\*?"
)
_RANGE_WITHOUT_UNIT = late_pattern(r"(?:[~≈≤≥]|[<>]=?)\d[\d.,]*|\d+\.\.\d+")
_MEANINGLESS = late_pattern(r"[+!~][^\W\d]\S*|[^\W\d]\w*[~^]\d*|[^\W\d]+\?[^\W\d]+|\*?[a-z]{1,2}\*|\*[a-z]{1,2}")


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    text: str
    """The query as it was typed."""
    words: tuple[Term, ...]
    """A passage may hold any of these; the phrases and patterns among them stand beside OR."""
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
    joined: tuple[Node, ...] = ()
    """Patterns, and what operators join. A passage must be all of these; their words count for the rank."""

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
    clean = encodable(text)
    if len(clean) > _OPERATORS_MAX_CHARS:
        clean, prefix_last = as_prose(clean), False
    found = Filters()
    parts = _parts(clean.translate(QUOTES), found, prefix_last, keys)
    words, phrases, excluded, joined = list[Term](), list[Term](), list[Term](), list[Node]()
    for part in parts:
        if isinstance(part, Term):
            (phrases if part.is_phrase else joined if part.is_pattern else words).append(part)
        elif isinstance(part, Not) and isinstance(part.part, Term):
            excluded.append(part.part)
        else:
            joined += _joined(part, found)
    words += [term for part in joined for term in operators.terms_of(part)]
    for name, value in also:
        _take_given(found, name, value, keys)
    if not (words or phrases) and (excluded or not (found or joined) or any(map(operators.has_terms, joined))):
        raise QueryError(*_nothing_to_search(bool(excluded or joined)))
    kept = content_words(words, bool(phrases)), _distinct(phrases), _distinct(excluded)
    conditions, notes = tuple(dict.fromkeys(found.conditions))[:MAX_TERMS], tuple(dict.fromkeys(found.notes))
    files, folders = FileFilter.of(found.of_files), FolderFilter(tuple(found.of_folders))
    positive = [part for part in parts if isinstance(part, Term)]
    if joined:
        positive = [term for part in parts for term in operators.terms_of(part)]
    meaning = " ".join(re.sub(r"[*?~]|[<>≤≥≈]=?\s?", "", one.text) if one.is_pattern else one.text for one in positive)
    return Query(text, *kept, meaning, files, folders, conditions, *found.order, notes, tuple(dict.fromkeys(joined)))


def _parts(text: str, found: Filters, prefix_last: bool, keys: Collection[str]) -> Sequence[Node]:
    """The parts of a query that stand side by side; what is no part, such as an order, is given to `found`."""
    tokens: list[Token] = []
    is_question = text.rstrip().endswith(_QUESTION_MARKS)
    for item, name in items(text, found.notes, keys):
        if not name and item["sign"]:
            if is_question:  # prose: "classical AND and OR operations?"
                tokens += [Term(sign.typed.lower()) for sign in _signs(item) if sign.typed.isalpha()]
            else:
                tokens += _signs(item)
            continue
        body = (item["phrase"] if item["word"] is None else item["word"]).strip()
        is_unfinished = prefix_last and item.end() == len(text) and not item["closed"]
        if name in (fields.FOLDER, "sort") and body:
            found.take(name, body, bool(item["minus"]))
        elif is_searchable(body):
            part = Where(name, body, is_unfinished) if name else _term(item, body, is_unfinished, found.notes)
            tokens.append(Not(part) if item["minus"] else part)
    if any(isinstance(token, Sign) for token in tokens):
        return operators.clauses(tokens)
    return [token for token in tokens if not isinstance(token, Sign)]


def _signs(item: re.Match[str]) -> Iterator[Sign]:
    """Yield an operator or bracket, behind NOT if it has a minus."""
    typed = item["sign"]
    kind = (item["kind"] or {"&": "AND", "|": "OR"}.get(typed[0], typed)).partition("/")[0]
    if item["minus"]:
        yield Sign("NOT", "-")
    if typed == "|" and item.string[item.start() - 1 : item.start()].isspace():
        typed = SPACED_BAR
    yield Sign(kind, typed, int(item["within"] or operators.WITHIN))  # type: ignore[arg-type]


def _term(item: re.Match[str], body: str, is_unfinished: bool, notes: list[str]) -> Node:
    """A word, a phrase, or words of which `item` says how near they must be."""
    if item["word"] is None:
        if item["near"] and len(words := list(dict.fromkeys(filter(is_searchable, body.split())))) > 1:
            return operators.Near(tuple(map(Term, words)), int(item["near"]))
        return Term(body, True, is_unfinished and _may_be_prefix(body))
    if (body[0] in "~<>≤≥≈" or ".." in body) and amounts(body):
        return Term(body, is_pattern=True)
    if ".." in body and (numbers := whole_numbers(body)):
        return Term(body, is_pattern=True, like=numbers)
    if _RANGE_WITHOUT_UNIT.fullmatch(body):
        notes.append(
            f"{body} is looked up as words: without a unit a range needs both ends and at most {MOST_WHOLE} numbers, "
            "as 1990..2000 does"
        )
    if ("*" in body or "?" in body) and _PATTERN.fullmatch(body):
        return Term(body, False, body.endswith("*") and body.count("*") == 1 and "?" not in body, is_pattern=True)
    if _MEANINGLESS.fullmatch(body):
        notes.append(
            f"{body} is looked up as a word: + ! ~ ^, and a star or ? beside one letter or two, have no meaning here"
        )
    if _SIGN_ALONE.fullmatch(body):
        body = body.lower()
    return Term(body, False, is_unfinished and _may_be_prefix(body))


def _joined(part: Node, found: Filters) -> Iterator[Node]:
    """Yield what operators join; give a field to `found`."""
    where, is_excluded = (part.part, True) if isinstance(part, Not) else (part, False)
    if isinstance(where, Where):
        found.take(where.name, where.text, is_excluded, where.is_prefix)
        return
    yield part
    if operators.has_terms(part) and operators.finds_more_than_words(part):
        found.notes.append("what holds none of the words is found by meaning alone")


def with_words(text: str, words: Mapping[str, str], keys: Collection[str] = ()) -> str:
    """The query with other words in place of those that `words` names; phrases, exclusions and fields stay."""
    clean, pieces, last = encodable(text), list[str](), 0
    if len(clean) > _OPERATORS_MAX_CHARS:
        return text
    for item, name in items(clean.translate(QUOTES), [], keys):
        if item["word"] is not None and not item["minus"] and not name:
            start, stop = item.span("word")
            own = SPACED_WORD.sub(lambda word: words.get(word[0], word[0]), clean[start:stop])
            pieces += [clean[last:start], own]
            last = stop
    return "".join([*pieces, clean[last:]])


def written(query: Query) -> str:
    """The query as it was understood, in the query language; `parse` understands that the same."""
    ranked = {term for part in query.joined for term in operators.terms_of(part)}
    parts: list[Node] = [word for word in query.words if word not in ranked]
    texts = [operators.written(part, is_inside=True) for part in (*parts, *query.phrases, *query.joined)]
    texts += [f"-{operators.written(term)}" for term in query.excluded]
    texts += [query.filters, str(query.folders)]
    if query.sort:
        texts.append(f"{'-' if query.is_reversed else ''}sort:{query.sort}")
    whole = " ".join(filter(None, texts))
    return f"{whole} ." if query.joined and whole.endswith(_QUESTION_MARKS) else whole


def folders_named(text: str, also: Sequence[Given] = ()) -> FolderFilter | None:
    """The folders that a query names, or None. Asked before `parse`, which takes the keys that their documents have."""
    found = Filters()
    clean = encodable(text)
    if f"{fields.FOLDER}:" in clean.casefold() and len(clean) <= _OPERATORS_MAX_CHARS:
        _parts(clean.translate(QUOTES), found, False, ())
    for name, value in also:
        if fields.name_of(name.removeprefix("-"), ()) == fields.FOLDER:
            _take_given(found, name, value, ())
    return FolderFilter(tuple(found.of_folders)) if found.of_folders else None


def _take_given(found: Filters, name: str, value: str, keys: Collection[str]) -> None:
    known = fields.name_of(name.removeprefix("-"), keys)
    if not known:
        near = fields.nearest_name(name, keys)
        raise QueryError(f"No document has a field {name}", f"{near}?" if near else "status --json lists the fields")
    problem = found.take(known, encodable(value).strip(), name.startswith("-"))
    if problem:
        raise QueryError(f"{value} is no value for this", problem)


def is_common(word: str) -> bool:
    """Whether the search drops this word of an English question."""
    return word.casefold() in STOP_WORDS["en"]


def _may_be_prefix(text: str) -> bool:
    last = text.split()[-1]
    return len(last) >= _PREFIX_MIN_CHARS and text[-1].isalnum() and not is_common(last)


def content_words(words: list[Term], has_phrases: bool, language: str = "en") -> tuple[Term, ...]:
    """Drop the stop words of a language unless nothing else is left; a word that is still being typed stays.

    An OR with them took 135 ms, not 16, at 100k passages.
    """
    common = STOP_WORDS[language]
    kept = [word for word in words if word.is_prefix or word.text.rstrip(_ENDS).casefold() not in common]
    return _distinct(kept if kept or has_phrases else words)


def in_languages(query: Query, codes: Collection[str]) -> Query:
    """The query as documents in these languages are asked: without the stop words and elided articles of its language.

    `parse` has dropped English stop words already. `codes` are those of `IndexLanguages`.
    """
    spoken = language_of_question(query.text, codes)
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
