"""Finds the quotations in a draft, and the source that the draft cites beside each. Pure.

A draft is Markdown, LaTeX or plain text. Quotation marks of all languages count, nested ones belong to the outer
quotation, and a block quotation counts as one. Code, comments and mathematics hold no quotations.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longsearch.engine.languages.scripts import SPACED_OR_RUN, UNSPACED_RUN

FEWEST_WORDS = 5
"""A shorter quotation is counted, not judged: too many documents say it."""
_CHARACTERS_OF_A_WORD = 2
"""In a script without spaces, so many characters count as a word."""

_CLOSING = {"“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "‘": "’", "‚": "‘’", "「": "」", "『": "』", '"': '"'}
_LONGEST = 4_000
"""Characters; a mark that is not closed within them opens nothing."""
_PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")
_CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|(?<!`)`(?!`)[^`\n]+`(?!`)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?:^[ ]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_OF_BLOCK = re.compile(r"^[ ]{0,3}>[ ]?", re.MULTILINE)
_SOURCE_LINE = re.compile(r"\n\s*(?:—|–|--)[^\n]*\s*\Z")
_TEX_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_TEX_BLOCK = re.compile(r"\\begin\{(quote|quotation|displayquote)\}(.*?)\\end\{\1\}", re.DOTALL)
_TEX_ENQUOTE = re.compile(r"\\enquote\*?\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEX_COMMAND = re.compile(r"\\(?:emph|textit|textbf|textsc|text)\{([^{}]*)\}|\\[,;!]|~")
_GAP = re.compile(r"\s*(?:\[[^\]]*\]|\(\s*(?:…|\.{3})\s*\)|…|(?:\.\s?){3,}|\\l?dots\{?\}?)\s*")
_CITED = re.compile(
    r"\[[^\]@]*@(?P<key>[\w:./-]*\w)[^\]]*\]"
    r"|\\[a-zA-Z]*cite[a-zA-Z]*\*?(?:\[[^\]]*\])*\{(?P<tex>[^},]+)[^}]*\}"
    r"|\]\((?P<link>[^)\s]+)\)"
    r"|\((?:see |cf\. |vgl\. )?(?P<author>[^\W\d_][^()\d]{0,80}?),? (?P<year>1[5-9]\d\d|20\d\d)[a-z]?\b[^()]*\)"
    r"|(?P<said>[^\W\d_][\w'’-]+)(?: et al\.?| (?:and|und|et|&) [^\W\d_][\w'’-]+)?"
    r" \((?P<when>1[5-9]\d\d|20\d\d)[a-z]?\b"
)
_KEY_WITH_YEAR = re.compile(r"^([^\W\d_]+)[^\d]{0,3}(1[5-9]\d\d|20\d\d)")
_NEAR = 120
"""Characters after a quotation in which its source may stand."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A source as a draft names it."""

    name: str
    """A citation key or the name of a file, or ""."""
    author: str
    """A surname, or ""."""
    year: str

    @property
    def text(self) -> str:
        """The source in a few words."""
        return self.name or f"{self.author} {self.year}".strip()


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation in a draft."""

    text: str
    line: int
    """The line of the draft on which it begins, from 1."""
    pieces: tuple[str, ...]
    """Its parts: ellipses and brackets are the draft's own, and part it. () if it is too short to be judged."""
    cited: Cited | None
    """The source beside it."""


def quotations_in(draft: str, is_tex: bool = False) -> list[Quoted]:
    """Return the quotations of a draft in their order."""
    text = _as_marks(draft) if is_tex else _CODE.sub(_blank, draft)
    found = sorted([*_blocks(text), *_marked(_BLOCK.sub(_blank, text))])
    lines = [at for at, character in enumerate(text) if character == "\n"]
    return [
        Quoted(said, bisect_left(lines, start) + 1, _pieces(said), _cited(text, start, stop))
        for start, stop, said in ((start, stop, " ".join(said.split())) for start, stop, said in found)
        if said
    ]


def _as_marks(tex: str) -> str:
    """Return LaTeX with quotation marks and Markdown's blocks in place of its own; its lines stay what they are."""
    text = _TEX_COMMENT.sub(_blank, tex)
    text = _TEX_BLOCK.sub(lambda found: "\n".join(f"> {line}" for line in found[2].split("\n")), text)
    text = _TEX_ENQUOTE.sub(r"“\1”", text).replace("``", "“").replace("''", "”")
    return _TEX_COMMAND.sub(lambda found: found[1] or " ", text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, stop, text) of each block quotation, without the line that names its source."""
    for found in _BLOCK.finditer(text):
        inner = _SOURCE_LINE.sub("", _OF_BLOCK.sub("", found[0]).rstrip())
        if (cited := _last(inner)) and len(inner) - cited.end() < 3:
            inner = inner[: cited.start()]
        yield found.start(), found.end(), inner.strip().strip('"“”„«»').strip()


def _marked(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, stop, text) of what stands between quotation marks within a paragraph."""
    for paragraph in _PARAGRAPH.finditer(text):
        at = paragraph.start()
        while at < paragraph.end():
            stop = _end_of(text, at, min(paragraph.end(), at + _LONGEST)) if _opens(text, at) else None
            if stop is not None:
                yield at, stop, text[at + 1 : stop - 1]
            at = stop or at + 1


def _opens(text: str, at: int) -> bool:
    """Whether a mark opens a quotation: a straight one, or an apostrophe, only where a word begins."""
    if text[at] not in _CLOSING:
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    has_room = after.isspace() and text[at] != "«"  # in French a space follows the mark
    return bool(after) and not has_room and (text[at] not in '"‘' or not before.isalnum())


def _end_of(text: str, start: int, limit: int) -> int | None:
    """Return one past the mark that closes the quotation opened at `start`; None if none does."""
    opening = text[start]
    closing, depth = _CLOSING[opening], 1
    for at in range(start + 1, limit):
        character, after = text[at], text[at + 1 : at + 2]
        if character in closing and not (character in '’"' and after.isalnum()):
            depth -= 1
            if not depth:
                return at + 1
        elif character == opening and opening not in closing:
            depth += 1
    return None


def _pieces(text: str) -> tuple[str, ...]:
    """Return what stands between ellipses and brackets, without single words; () if it is too short."""
    pieces = [piece.strip(" ,;:") for piece in _GAP.split(text)]
    if sum(map(n_words, pieces)) < FEWEST_WORDS:
        return ()
    return tuple(piece for piece in pieces if n_words(piece) > 1) or (text,)


def n_words(text: str) -> int:
    """The words of a text; of a script without spaces, two characters count as a word."""
    found = SPACED_OR_RUN.findall(text)
    return sum(len(word) // _CHARACTERS_OF_A_WORD if UNSPACED_RUN.match(word) else 1 for word in found)


def _cited(text: str, start: int, stop: int) -> Cited | None:
    """Return the source that is cited nearest to a quotation: after it, else before it in its sentence."""
    after = re.split(r"\n\s*\n|[“„«]", text[stop : stop + _NEAR])[0]
    inside = _CITED.search(text, max(start, stop - _NEAR), stop)
    before = re.split(r"\n\s*\n|[.!?]\s(?=[^\W\d_])", text[max(start - _NEAR, 0) : start])[-1]
    return next((_as_cited(found) for found in (_CITED.search(after), inside, _last(before)) if found), None)


def _last(text: str) -> re.Match[str] | None:
    found: Sequence[re.Match[str]] = list(_CITED.finditer(text))
    return found[-1] if found else None


def _as_cited(found: re.Match[str]) -> Cited:
    name = (found["key"] or found["tex"] or found["link"] or "").strip()
    author, year = found["author"] or found["said"] or "", found["year"] or found["when"] or ""
    if not author and (in_key := _KEY_WITH_YEAR.match(name)):
        author, year = in_key[1], in_key[2]
    surname = re.split(r",| (?:and|und|et|&)\b", author)[0].split()[-1:] or [""]
    return Cited(name.rpartition("/")[2], surname[0], year)
