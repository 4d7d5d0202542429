"""Turns a query's terms into FTS5 expressions for an index that holds documents in several languages. Pure.

A document's words are indexed by its language. So a word of the query is looked up in the form that each language of
the index gives it, and in its British and its American spelling, with and without an apostrophe, a hyphen or umlauts
(O'Brien, e-mail, Müller and OBrien, email, Mueller): any of these counts, as one word. So do the other spellings of a
number, a date or an identifier (`written_forms`). A run of a script without spaces is looked up as its pairs of
neighbouring characters, each a word of its own; in a phrase they must follow each other. An index of English documents
is asked as if there were no languages.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from longsearch.engine.languages.analysis import MADE, analysed, characters_of, folded, movable, pairs, whole_name
from longsearch.engine.languages.asked_forms import MAY_BE_SPELT, asked, spelt
from longsearch.engine.languages.scripts import UNSPACED, UNSPACED_RUN
from longsearch.engine.languages.signs import MAY_BE_SIGN, with_signs
from longsearch.engine.languages.signs import as_typed as signs_as_typed
from longsearch.engine.languages.spelling import other_spelling, respelt
from longsearch.engine.languages.written_forms import Written
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.quantities import POINT, amounts
from longsearch.engine.query_language.items import is_searchable
from longsearch.engine.query_language.operators import Either, Near
from longsearch.engine.query_language.query import MAX_TERMS, Query
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.types.results import Term

_MAX_FORMS = 16
"""Snowball's 33 stemmers make 3 forms of "information" and 9 of "universities"."""
FORM = late_pattern(r'"(?:[^"]|"")*"\*?')
"""One form in an expression: a word or phrase in quotation marks, which ends with a star if it is a beginning."""
forms_of: Callable[[str], list[str]] = FORM.findall
"""The forms in an expression, each an expression of its own: a passage may match any of them."""
_DIGIT = late_pattern(r"\d")
_WORD = late_pattern(r"\S+")
_MAY_BE_FILE = late_pattern(r"\w[._/]\w")
_RUN_AT_END = late_pattern(rf"([{UNSPACED}]+)\W*$")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A query's terms as FTS5 expressions."""

    terms: tuple[str, ...]
    """What decides the rank. A passage may match any of these. The last ones were not typed: parts of compounds."""
    n_typed: int
    """The number of those that stand for what was typed."""
    phrases: tuple[str, ...] = ()
    """A passage must match all of these."""
    excluded: tuple[str, ...] = ()
    """A passage must match none of these."""
    languages: IndexLanguages | None = None
    """In which what operators join is looked up."""
    named: str = ""
    """The first passage of a document matches if its title, its name or an identifier is the whole query; or ""."""
    weights: tuple[float, ...] = ()
    """The weight of each term; () if all count in full."""


def lookup(query: Query, languages: IndexLanguages) -> Lookup:
    """Return what to ask the word index of these languages."""
    found = asked(query.meaning) if MAY_BE_SPELT.search(query.meaning) else ()
    forms = _forms(query.meaning, found) if found or _MAY_BE_FILE.search(query.meaning) else {}
    words = [unit for term in query.words for unit in _units(term, languages, forms.get(term.text, ()))]
    if query.joined:
        words = _with_alternatives(words, query, languages)
    phrases = [_phrase(term, languages) for term in query.phrases]
    excluded = (_whole(term, languages) for term in query.excluded)
    names = [query.meaning, *(form for one in found if one.is_all_of(query.meaning) for form in one.forms)]
    named = " OR ".join(_quoted(name) for name in map(whole_name, names) if name)
    held, ranked = (held for held, _ in phrases), (ranked for _, ranked in phrases)
    parts = [tuple(dict.fromkeys(part))[:MAX_TERMS] for part in (ranked, words, held, excluded)]
    terms = parts[0] + parts[1]
    return Lookup(terms, len(terms), parts[2], parts[3], languages, named)


def _with_alternatives(words: list[str], query: Query, languages: IndexLanguages) -> list[str]:
    """The expressions of words, of which alternatives that stand beside other words count as one.

    Else each alternative counts as much as a word beside them: `(pump OR valve) gasket` found a valve without a gasket.
    """
    for part in query.joined:
        own = [one for one in part.parts if isinstance(one, Term)] if isinstance(part, Either) else []
        alternatives = [one for one in expressions(own, languages) if one in words]
        if len(alternatives) > 1 and len(alternatives) < len(words):
            first = words.index(alternatives[0])
            words[first] = _either(list(dict.fromkeys(form for one in alternatives for form in forms_of(one))))
            words = [one for one in words if one not in alternatives]
    return words


def expressions(terms: Iterable[Term], languages: IndexLanguages) -> list[str]:
    """Return for each term the expression for passages that hold the whole of it."""
    return [_whole(term, languages) for term in terms]


def match(term: Term) -> str:
    """The term as an FTS5 expression. It is always quoted: raw `c++`, `it's` and `NOT` are operators or errors."""
    return _quoted(with_signs(term.text) if MAY_BE_SIGN.search(term.text) else term.text) + (
        "*" if term.is_prefix else ""
    )


def made_form(stem: str) -> str:
    """The expression for a stem of a word that is not English."""
    return _quoted(movable(stem) + MADE)


def any_of(expressions: Iterable[str]) -> str:
    """The FTS5 expression for passages that match at least one of these."""
    return " OR ".join(expressions)


def all_of(expressions: Iterable[str]) -> str:
    """The FTS5 expression for passages that match all of these."""
    return " AND ".join(expressions)


def as_typed(expression: str) -> str:
    """The word as it was typed: the first form of an expression."""
    form = forms_of(expression)[0].replace('""', "\0").replace('"', "").replace("\0", '"')
    return form if form.isascii() else signs_as_typed(form).removeprefix(f"{POINT} ")


def _forms(text: str, found: Sequence[Written]) -> dict[str, list[str]]:
    """The other forms of each word of a text that belongs to a number, a date or an identifier, or may name a file."""
    return {
        word[0]: [
            *(form for one in found if one.has(text, *word.span()) for form in one.forms),
            *([whole_name(word[0])] if _MAY_BE_FILE.search(word[0]) else []),
        ]
        for word in _WORD.finditer(text)
    }


def _units(term: Term, languages: IndexLanguages, others: Sequence[str]) -> Iterator[str]:
    """Yield the expressions of a typed word, each of which counts as a word; `others`: forms that it may also have."""
    if term.is_phrase or term.is_pattern:
        yield _whole(term, languages)
        return
    last = 0
    for run in UNSPACED_RUN.finditer(term.text):
        if is_searchable(before := term.text[last : run.start()]):
            yield _whole(Term(before), languages, others)
        yield from _pairs(run[0], languages)
        last = run.end()
    if is_searchable(rest := term.text[last:]):
        yield _whole(replace(term, text=rest), languages, others)


def _pairs(run: str, languages: IndexLanguages) -> Iterator[str]:
    """Yield the pairs of a run; a single character matches every pair that it begins."""
    characters = characters_of(run)
    found = [_quoted(pair) for pair in pairs(characters)] or [_quoted(movable(characters[0])) + "*"]
    for expression in found:  # documents that were indexed before language detection have the run as one word
        yield expression if languages.is_settled else _either([expression, _quoted(run)])


def _phrase(phrase: Term, languages: IndexLanguages) -> tuple[str, str]:
    """Return (the expression for passages that hold a phrase, the one by which it is ranked).

    The other forms of a number or a date stand at the end of a passage. So if a phrase has more than that, it also
    counts as held where all that stands around its numbers is held, and these.
    """
    whole, text, last, parts, others = _whole(phrase, languages), phrase.text, 0, list[str](), list[str]()
    for one in sorted(spelt(text), key=lambda one: one.start) if _DIGIT.search(text) else ():
        parts += [
            _whole(replace(phrase, text=text[last : one.start]), languages),
            _either(list(map(_quoted, one.forms))),
        ]
        others += one.forms
        last = one.stop
    parts = [part for part in [*parts, _whole(replace(phrase, text=text[last:]), languages)] if is_searchable(part)]
    if not others or len(parts) < 2:
        return whole, whole
    return f"({whole} OR ({all_of(parts)}))", _either([*forms_of(whole), *map(_quoted, others)])


def _whole(term: Term, languages: IndexLanguages, others: Sequence[str] | None = None) -> str:
    """Return the expression for passages that hold the whole term in a form of any language.

    `others`: forms that the term may also have; None: those of a number, a date or an identifier that it is.
    """
    if others is None:
        found = asked(term.text) if MAY_BE_SPELT.search(term.text) else ()
        others = [form for one in found if one.is_all_of(term.text) for form in one.forms]
    forms = [] if UNSPACED_RUN.search(term.text) and languages.is_settled else [match(term)]
    forms += map(_quoted, others)
    if not languages.is_settled:  # its older words know no signs
        forms.append(_quoted(term.text) + ("*" if term.is_prefix else ""))
    forms += [_form(term, code) for code in ("", *languages.codes)]
    if not term.is_phrase and (other := other_spelling(term.text)):
        forms.append(match(replace(term, text=other)))
    for other in () if term.is_phrase else respelt(term.text, languages.codes):
        forms += [_form(replace(term, text=other), code) for code in ("", *languages.codes)]
    if term.is_prefix and len(set(forms)) > 1:
        forms.append(_quoted(movable(folded(term.text))) + "*")
    if term.is_pattern:
        return _either(_like(term, languages))
    return _either(list(dict.fromkeys(forms))[:_MAX_FORMS])


def _like(term: Term, languages: IndexLanguages) -> list[str]:
    """The forms of all words that a pattern stands for. A range has its own name before them, which no text holds."""
    begun = [match(term) if term.is_wild else _quoted(f"{POINT} {term.text}")]
    if found := amounts(term.text) if term.is_range else None:
        return [*begun, *(f"{_quoted(begin)}*" for begin in found.begins())]
    if term.is_prefix:
        begun.append(_quoted(movable(folded(term.text))) + "*")
    return list(
        dict.fromkeys([*begun, *(form for word in term.like for form in forms_of(_whole(Term(word), languages)))])
    )


def near(node: Near, languages: IndexLanguages) -> str:
    """The expression for passages in which words, each in a form of any language, stand near each other."""
    forms = [forms_of(_whole(part, languages)) for part in node.parts]
    pairs = (f"NEAR({' '.join(chosen)}, {node.within})" for chosen in islice(product(*forms), _MAX_FORMS**2))
    return _either(list(pairs))


def _form(term: Term, language: str) -> str:
    """Return the term as documents of this language hold it."""
    run = _RUN_AT_END.search(term.text)
    made = analysed(term.text[: run.end(1)] if run else term.text, language)
    if run is None:
        return match(term) if made == term.text else _quoted(made.strip())
    if len(characters_of(run[1])) == 1:
        return _quoted(made.strip()) + "*"  # in the document its run may go on
    return _quoted(made.strip().rpartition(" ")[0])  # without the last character, which ends a run


def _either(expressions: list[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"({any_of(expressions)})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
