"""Cuts a query into its items: words, phrases, fields, operators and brackets. Pure. `operators` joins them."""

import re
import unicodedata
from collections.abc import Collection, Iterator

from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.quantities import ANY_RANGE, amounts
from longsearch.engine.query_language import fields
from longsearch.engine.query_language.fields import QUOTES, Filters

# an item: an optional minus, then a sign, a phrase (perhaps unclosed) or a word; in a field a name before
_BAR = r"(?<!\S)\|{1,2}(?!\S)|(?<=[\w\"*'’)])\|(?=[\w\"*'’(-])"
_SIGN = rf"(?P<sign>[()]|{_BAR}|(?:(?<!-)(?P<kind>AND|OR|NOT|NEAR(?:/(?P<within>\d{{1,2}}))?)|&&)(?![^\s()]))"
_ANY_WORD = r'(?P<word>[^\s"]+)'
_BODY = rf'(?:"(?P<phrase>[^"]*)(?P<closed>"?)(?:(?<=")~(?P<near>\d{{1,2}})(?!\w))?|{_ANY_WORD})'
# behind a phrase a dash means nothing: "Bourbaki"-style; and two begin an option of a program: --no-verify
_MINUS = r"(?:(?P<minus>(?<![^\s(|])-(?!-))|-+)?"
_COMMA = r"(?<=[^\W\d_])[,;](?=[^\W\d_])"  # without a space it stands between words too
_WORD = rf"(?P<word>{ANY_RANGE}|(?:(?!{_COMMA})[^\s\"])+)"
_ITEM = late_pattern(rf"{_MINUS}(?:{_SIGN}|{_BODY.replace(_ANY_WORD, _WORD)})")
_SCHEMES = frozenset(("mailto", "tel", "urn", "file"))  # of addresses: no fields that somebody mistyped
_INSIDE = late_pattern(_BAR)
_WORD_AND_WORD = late_pattern(r"([^\W\d_]{5,})/[^\W\d_]{5,}")
"""Long words: "TCP/IP" and "km/h" are one name each."""
_MAY_END_INSIDE = late_pattern(r"[)|]")
_NAME = r"[^\W\dA-Z_][^\WA-Z_.-]*(?:[.-][^\WA-Z_.-]+)*"
_FIELD = late_pattern(rf'{_MINUS}(?P<name>{_NAME}):(?=["\w./#-]){_BODY}')
_SIGNS_IN_PROSE = late_pattern(r"(?<!\S)(?:AND|OR|NOT|NEAR(?:/\d+)?)(?!\S)|&&|[|*]|(?<!\S)\(")
_UNFINISHED = late_pattern(rf'(?:^|(?<=[\s(|]))-?(?:(?P<name>{_NAME}):)?(?P<value>"[^"]*|[^\s":(|]*)$')


def items(text: str, notes: list[str], keys: Collection[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the items of a query, each with the name of its field or "". Slips are told to `notes`."""
    at = 0
    while item := _ITEM.search(text, at):
        typed = _FIELD.match(text, item.start())
        name = _field(_cut(typed), notes, keys) if typed else ""
        found = typed if typed and name else item
        if found["word"] and len(first := found["word"].split()) > 1 and not amounts(found["word"]):
            found = found.re.match(text, found.start(), found.start("word") + len(first[0])) or found
        if found["word"] and not (name or found["minus"]) and (pair := _WORD_AND_WORD.fullmatch(found["word"])):
            found = found.re.match(text, found.start(), found.start("word") + len(pair[1])) or found
        if found["word"] and _MAY_END_INSIDE.search(found["word"]):
            found = _cut(found)
        yield found, name
        at = found.end()


def _cut(item: re.Match[str]) -> re.Match[str]:
    """The item without what follows it: a sign of alternatives, or a bracket that closes another item's."""
    word, depth = item["word"] or "", 0
    for place, character in enumerate(word):
        depth += (character == "(") - (character == ")")
        if depth < 0 or (character == "|" and not depth and _INSIDE.match(item.string, item.start("word") + place)):
            return item.re.match(item.string, item.start(), item.start("word") + place) or item
    return item


def _field(typed: re.Match[str], notes: list[str], keys: Collection[str]) -> str:
    """The field that was typed; "" if it is to be searched for as it stands, with a note if it is a slip."""
    body = (typed["word"] or typed["phrase"] or "").strip()
    name = fields.name_of(typed["name"], keys)
    if not name:
        if not body.startswith("/") and typed["name"] not in _SCHEMES:
            near = fields.nearest_name(typed["name"], keys)
            notes.append(
                f"no field {typed['name']}: {near}?" if near else f"no field {typed['name']}: searched as text"
            )
        return ""
    problem = Filters().take(name, body, bool(typed["minus"])) if name == fields.FOLDER or is_searchable(body) else ""
    if problem:
        notes.append(problem)
    return "" if problem else name


def is_searchable(text: str) -> bool:
    """Whether the word index finds a word in the text: letters, numbers, § and private-use characters make words."""
    return any(
        unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Co" or character == "§"
        for character in text
    )


def encodable(text: str) -> str:
    """Replace NUL, which ends an FTS5 expression, and lone surrogates, which UTF-8 cannot encode."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def as_prose(text: str) -> str:
    """The text without what the query language gives a meaning."""
    text = _SIGNS_IN_PROSE.sub(" ", text)
    return re.sub(rf'(?<!\S)-+|"|(?<!\S)(?:{"|".join(fields.NAMES)}):', " ", text.translate(QUOTES))


def unfinished(text: str) -> tuple[int, str, str | None]:
    """What a query's last item begins: (where its value begins, the value, its field or None if none was typed)."""
    found = _UNFINISHED.search(text.translate(QUOTES))
    return (found.start("value"), found["value"].removeprefix('"'), found["name"]) if found else (len(text), "", None)
