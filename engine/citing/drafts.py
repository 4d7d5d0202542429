"""Finds the quotations in a draft, and the sources that the draft cites beside each. Pure.

A draft is Markdown, LaTeX, Org, Typst or plain text; `draft_formats.with_blocks` makes one of a document of another
format. Quotation marks of all languages count, nested ones belong to the outer quotation, and a block quotation counts
as one. Code and comments hold no quotations.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longsearch.engine.citing.cited import Citation, Citations, Cited
from longsearch.engine.citing.draft_formats import blanked, with_markdown_marks
from longsearch.engine.citing.tex_quotes import is_tex, printed
from longsearch.engine.languages.scripts import SPACED_OR_RUN, UNSPACED_RUN
from longsearch.engine.sentences import cut_sentences

FEWEST_WORDS = 5
"""A shorter quotation is counted, not judged: too many documents say it."""
_FEWEST_OF_CLAIM = 1
_CHARACTERS_OF_A_WORD = 2
"""In a script without spaces, so many characters count as a word."""
_MAX_PIECE = 1_500
"""Characters that are looked up at once."""

_CLOSING = {
    "“": "”", "„": "“”", "”": "”", "«": "»", "»": "«»", "‹": "›", "›": "‹›", "‘": "’", "‚": "‘’", "’": "’",
    "「": "」", "『": "』", "〝": "〞〟", '"': '"', "'": "'",
}  # fmt: skip
_ONE_SIDED = "\"'‘’”»›"
"""Marks that also close, or are apostrophes: they open a quotation only where a word begins."""
_APOSTROPHES = "\"'‘’"
_LETTER = "[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]"
"""Of a script with spaces between words."""
_IN_TEXT = re.compile(rf"{_LETTER}|[.,;:!?)\]…]")
_CLOSER = {
    mark: re.compile(rf"[{closing}]" + f"(?!{_LETTER})" * (closing in _APOSTROPHES))
    for mark, closing in _CLOSING.items()
}
_MARK = {mark: re.compile(f"[{mark}{closing}]") for mark, closing in _CLOSING.items()}
_ELISION = re.compile(r"['’](?:\d|(?:n|tis|twas|em|til|cause|round|s|t)\b)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"s['’] [^\W\d_]")
_LONGEST = 8_000
"""Characters; a mark that is not closed within them opens nothing."""
_PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")
_BLOCK = re.compile(r"(?:^[ ]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_OF_BLOCK = re.compile(r"^[ ]{0,3}>[ ]?", re.MULTILINE)
_SOURCE_LINE = re.compile(r"\n\s*(?:—|–|--)[^\n]*\s*\Z")
_GAP = re.compile(
    r"\s*(?:(?:[^\W\d_]+(?=\[[^\W\d_]{0,6}\](?!\w)))?\[[^\]]*\]"  # depend[s]: its end is the draft's own
    r"|\(\s*(?:…|\.{3}|sic!?|(?:emphasis|italics) (?:added|mine|ours)|my emphasis|Hervorhebung [^()]{1,40}"
    r"|(?:je souligne|nous soulignons))\s*\)|…|(?:\.\s?){3,})\s*",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\((?:<[^>\n]{1,500}>|[^)\s]{1,500})\)|\{[.#][^}\n]{0,100}\})")
"""A link, or pandoc's mark for a span: [Raft]{.smallcaps}."""
_MARK_OF_NOTE = re.compile(r"\[\^[^\]\s]{1,50}\]")
_AFTER_SOURCE = re.compile(r"[\s,;:]*(?:(?:pp?|S|pages?|Seite)\.?\s*[\divx–-]+)?[\s).\]]*\Z")
_SENTENCE_END = ".!?…\"'”’»“"
_OWN_CASE = re.compile(r"(?<!\w)\[([^\W\d_])\](?=[^\W\d_])")
"""A first letter that was made small or large: [t]he."""
_NEXT_SENTENCE = re.compile(r"[.!?]['\"”’»“]?\s+[^\W\d_]")
_LAST_SENTENCE = re.compile(r"\n\s*\n|(?<!\bal)[.!?]\s+(?=[^\W\d_]|\W?$)")
_NEAR = 160
"""Characters after a quotation in which its source may stand."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation in a draft."""

    text: str
    line: int
    """The line of the draft on which it begins, from 1."""
    pieces: tuple[str, ...]
    """Its parts: ellipses and brackets are the draft's own, and part it. () if it is too short to be judged."""
    cited: tuple[Cited, ...]
    """The sources beside it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a draft that cites sources."""

    text: str
    """Without the citations."""
    line: int
    cited: tuple[Cited, ...]


def quotations_in(draft: str, suffix: str = "") -> list[Quoted]:
    """Return the quotations of a draft in their order. `suffix`: of its file, such as ".tex"."""
    text = with_markdown_marks(draft, suffix)
    citations = Citations(text)
    found = sorted([*_blocks(text), *_marked(_BLOCK.sub(blanked, text))])
    lines = [at for at, character in enumerate(text) if character == "\n"]
    quoted = []
    for start, stop, linked in found:
        raw = _MARK_OF_NOTE.sub("", _LINK.sub(r"\1", linked))
        said = printed(raw) if is_tex(suffix) else " ".join(raw.split())
        if said:
            cited = _cited(text, citations, start, stop)
            quoted.append(Quoted(said, bisect_left(lines, start) + 1, _pieces(said), cited))
    return quoted


def claims_in(draft: str, suffix: str = "") -> list[Claim]:
    """Return the sentences of a draft that cite sources, in their order. Pieces of lists of sources are none."""
    text = with_markdown_marks(draft, suffix)
    citations, spans = Citations(text), cut_sentences(text)
    found: list[Claim] = []
    before = ""
    for start, stop in (part for span in spans for part in _parted(text, citations, *span)):
        own = citations.cites(start, stop)
        said = _without(text, start, stop, own, suffix)
        if own and (n_words(said) > _FEWEST_OF_CLAIM or before):
            sources = tuple(dict.fromkeys(source for one in own for source in one.sources))
            claim = said if n_words(said) > _FEWEST_OF_CLAIM else before  # the citation stands after the full stop
            found.append(Claim(claim, text.count("\n", 0, start) + 1, sources))
        before = said
    return found


def _parted(text: str, citations: Citations, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence in parts, if a note after a full stop hides the end of one."""
    for one in citations.cites(start, stop):
        if text[one.start - 1 : one.start] in (".", "!", "?") and one.stop < stop:
            yield start, one.stop
            start = one.stop
    yield start, stop


def _without(text: str, start: int, stop: int, citations: Sequence[Citation], suffix: str) -> str:
    """Return a sentence without its citations."""
    parts, at = [], start
    for one in citations:
        if text[one.start].isalpha():  # Miller (1979) says: the name belongs to the sentence
            continue
        before = text[at : max(at, one.start)]
        is_link = text.startswith("](", one.start)  # its words belong to the sentence
        parts.append("".join(before.rpartition("[")[::2]) if is_link else before)
        at = max(at, min(one.stop, stop))
    said = "".join([*parts, text[at:stop]])
    plain = printed(said) if is_tex(suffix) else " ".join(said.split())
    return re.sub(r"\s+([.,;:!?])", r"\1", re.sub(r"^[>#*\s-]+", "", plain)).strip()


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, stop, text) of each block quotation, without what names its source."""
    for found in _BLOCK.finditer(text):
        inner = _SOURCE_LINE.sub("", _OF_BLOCK.sub("", found[0]).rstrip())
        cited = Citations(inner).all
        if cited and _AFTER_SOURCE.match(inner, cited[-1].stop):
            inner = _without_last(inner, cited[-1])
        if not inner.startswith("[!"):  # a callout, such as [!NOTE]
            yield found.start(), found.end(), inner.strip().strip('"“”„«»').strip()


def _without_last(block: str, source: Citation) -> str:
    """Return a block without the source at its end. The words of a link belong to a sentence that they end."""
    if not block.startswith("](", source.start):
        return block[: source.start]
    before = block[: max(block.rfind("[", 0, source.start), 0)]
    alone = before.rstrip(" \n(—–-")
    is_apart = alone and (alone[-1] in _SENTENCE_END or before.endswith("\n"))
    return alone if is_apart else block


def _marked(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, stop, text) of what stands between quotation marks in a paragraph."""
    for paragraph in _PARAGRAPH.finditer(text):
        at = paragraph.start()
        while at < paragraph.end():
            stop = None
            if _opens(text, at):
                stop = _end_of(text, at, min(paragraph.end(), at + _LONGEST))
                end = stop - 1 if stop else paragraph.end()
                stop = stop or _goes_on(text, at, paragraph.end())
            if stop is not None:
                yield at, stop, text[at + 1 : end]
            at = stop or at + 1


def _opens(text: str, at: int) -> bool:
    """Whether a mark opens a quotation."""
    mark = text[at]
    if mark not in _CLOSING or _ELISION.match(text, at):
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    has_room = after.isspace() and mark != "«"  # in French a space follows the mark
    return bool(after) and not has_room and (mark not in _ONE_SIDED or not _IN_TEXT.match(before))


def _end_of(text: str, start: int, limit: int) -> int | None:
    """Return one past the mark that closes the quotation opened at `start`; None if none does."""
    opening = text[start]
    depth, possessive = 1, None
    if not _CLOSER[opening].search(text, start + 1, limit):
        straight = text.find('"', start + 1, limit) if opening in "“„" else -1  # „so"
        return straight + 1 if straight >= 0 else None
    for found in _MARK[opening].finditer(text, start + 1, limit):
        at, character = found.start(), found[0]
        if _CLOSER[opening].match(text, at):
            if depth == 1 and character in "'’" and _POSSESSIVE.match(text, at - 1):
                possessive = possessive or at + 1  # the boys' toys, unless no later mark closes it
                continue
            depth -= 1
            if not depth:
                return at + 1
        elif character == opening and opening not in _CLOSING[opening]:
            depth += 1
    return possessive


def _goes_on(text: str, start: int, stop: int) -> int | None:
    """Return the end of a paragraph whose quotation goes on in the next one, which opens it again; else None."""
    is_long = stop - start > _LONGEST
    return stop if text[start] in "“„«「" and not is_long and text[stop:].lstrip("\n")[:1] == text[start] else None


def _pieces(text: str) -> tuple[str, ...]:
    """Return what stands between ellipses and brackets, without single words; () if it is too short."""
    pieces = [piece.strip(" ,;:") for piece in _GAP.split(_OWN_CASE.sub(r"\1", text))]
    if sum(map(n_words, pieces)) < FEWEST_WORDS:
        return ()
    kept = [piece for piece in pieces if n_words(piece) > 1] or [text]
    return tuple(part for piece in kept for part in _parts(piece))


def _parts(piece: str) -> Iterator[str]:
    """Yield a piece in parts that can be looked up, cut between words."""
    while len(piece) > _MAX_PIECE:
        cut = piece.rfind(" ", _MAX_PIECE // 2, _MAX_PIECE) + 1 or _MAX_PIECE
        yield piece[:cut].strip()
        piece = piece[cut:]
    yield piece


def n_words(text: str) -> int:
    """The words of a text; of a script without spaces, two characters count as a word."""
    found = SPACED_OR_RUN.findall(text)
    return sum(len(word) // _CHARACTERS_OF_A_WORD if UNSPACED_RUN.match(word) else 1 for word in found)


def _cited(text: str, citations: Citations, start: int, stop: int) -> tuple[Cited, ...]:
    """Return the sources cited nearest to a quotation: after it, in it, under it, else before it in its sentence."""
    begin = stop - (text[stop - 1] == "\n")  # of a block, whose own line ends here
    after = re.split(r"\n\s*\n|[“„«]", text[begin : stop + _NEAR])[0]
    behind = citations.between(stop, begin + len(after))
    if behind and not _NEXT_SENTENCE.search(text, stop - 2, behind[0].start + 1):
        return behind[0].sources
    if inside := citations.between(max(start, stop - _NEAR), stop):
        return inside[0].sources
    if below := citations.below(text.find("\n\n", stop - 1)):
        return below
    first = max(start - 2 * _NEAR, 0)
    before = text[first:start].rstrip(">")
    if (said := before.rstrip()).endswith(":"):  # he says:, and then a block
        before = said
    in_sentence = citations.between(first + len(before) - len(_LAST_SENTENCE.split(before)[-1]), start)
    return in_sentence[-1].sources if in_sentence else ()
