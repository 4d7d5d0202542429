"""Cuts a text into whole sentences, in the language of its document. Pure: text in, spans out.

A block is cut first: a paragraph, a heading, an item of a list, a row of a table. Then `sentencex` (Wikimedia, MIT)
finds the ends of sentences inside it, by the language's abbreviations and marks. A line break inside a paragraph ends
no sentence: PDFs and mail break lines anywhere.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from sentencex import get_sentence_boundaries

from longsearch.engine.late_patterns import late_pattern

Span = tuple[int, int]
"""(start, stop) in characters."""

PAGE_BREAK = "\f"
"""In place of a line break where a page begins: on a slide nothing carries on before a capital."""
_DIGITS = r"\d{1,3}(?:\.\d{1,3})"
_ITEM = late_pattern(rf"\s*(?:[-*+•‣◦▪●■–—·]|\(?(?:{_DIGITS}*|[A-Za-z]|[ivxIVX]{{1,5}})[.)]|{_DIGITS}+)\s+\S")
_NAME_OF_ITEM = late_pattern(  # not M. Dupont
    rf"\s*(?:§+\s*)?(?:\(?{_DIGITS}*[.)]|\(?(?:[A-Za-z]|[ivxIVX]{{1,5}})\)|{_DIGITS}+)(?:\s+[^\W\d_][\w'’-]*){{0,2}}\.?\s*"
)
_NUMBER_IN_BRACKETS = late_pattern(r"\s*\(\w{1,5}\)\s")
_HEADING = late_pattern(r"\s*#{1,6}\s")
ROW = late_pattern(r"[^\n]*(?:\t|\s\|\s)|\s*\|")
_ENDED = late_pattern(r"[.!?…。！？][\"'”’»)\]」』）]*\s*$")
_GOES_ON = tuple(",-–—([")
_CAPITAL = late_pattern(r"[\"'“‘«(\[¿¡]*[A-ZÀ-ÞΑ-ΩА-Я]")
# What sentencex takes for an end and is none. An abbreviation that it does not know, before a number or a small letter:
# "vol. 2", "5 Mio. Euro", "f.eks. torsk". The number of a day or a century before a small letter: "3. mai".
_ABBREVIATION = late_pattern(r"(?<![\w.])(?:[^\W\d_]{1,4}\.){1,3}$")
_ORDINAL = late_pattern(r"(?<![\w.,:])\d{1,2}\.$")
_ORDINALS = {
    "az", "bs", "cs", "da", "de", "et", "fi", "hr", "hu", "is", "lb", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr",
    "tr",
}  # fmt: skip
"""Languages that write "3rd" as "3."."""
# In German a noun comes next, with a capital: "im 19. Jahrhundert", "den 1. und 3. Samstag".
_GERMAN_ORDINAL = late_pattern(
    r"(?<!\w)(?:(?:d(?:er|ie|as|e[mns])|[ai]m|zu[mr]|vom|beim|[ai]ns|(?:jed|dies|[kmds]?ein|ihr|unser)(?:e[mnrs]?)?)\s+"
    r"|\d{1,2}\.\s+(?:\w+\s+)?(?:und|oder|bis)\s+)\d{1,2}\.$",
    re.IGNORECASE,
)
_GERMAN, _TURKIC = ("de", "lb"), ("tr", "az")
_ROMAN = late_pattern(r"(?<!\w)[IVX]{2,5}\.$")
# A word that never ends a sentence. sentencex knows it in some languages alone.
_TITLE = late_pattern(
    r"(?<!\w)(?:[DM]r|Mrs|Prof|Mme|Mlle|Mgr|Ste?|Sra?|Srta|Dña|Sig|Dott|Ing|Dipl|Fa|Hl|[Ii]nkl|[Ee]xkl|dr|prof)\.$"
)
_INITIAL = late_pattern(r"(?<!\w)[^\W\d_a-z]\.$")
_LETTER, _LETTER_FIRST = late_pattern(r"(?<!\w)[^\W\d_]\.$"), late_pattern(r"[^\W\d_]\.")
_HYPHEN = late_pattern(r"-\w")
_ENDING, _LONG_ENDING = 8, 30  # characters that tell an abbreviation: to search a whole sentence took half the time
_AFTER_SPEECH = ("」", "』")
_CARRIES_SPEECH_ON = late_pattern(r"[とっな]")
_SHORT = 0.6  # a line shorter than this share of the longest that stands out before a capital: a heading, not a wrap


def cut_sentences(text: str, language: str = "en", near: Span | None = None) -> list[Span]:
    """(start, stop) of each sentence, heading, list item and table row of `text`, in order, without white space.

    `language`: the ISO 639 code of the document, "" if it is unclear. What holds no letter or digit is no sentence.
    `near`: only those of the paragraphs that share something with this span.
    """
    first, last = near or (0, len(text))
    return [
        (start, stop)
        for block in cut_blocks(text)
        if block[0] < last and first < block[1]
        for start, stop in _sentences(text, *block, language or "en")
        if _has_word(text[start:stop])
    ]


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def cut_blocks(text: str) -> Iterator[Span]:
    """Yield the spans of paragraphs, headings, list items and table rows."""
    lines = [match.span() for match in re.finditer(r"[^\n\f]+", text)]
    if not lines:
        return
    longest = max(stop - start for start, stop in lines)
    first = lines[0][0]
    for (start, stop), (following, its_stop) in pairwise(lines):
        line, after = text[start:stop], text[following:its_stop]
        between = text[stop:following]
        is_over = PAGE_BREAK in between and (_ENDED.search(line) is not None or not _carries_on(line, after))
        is_apart = "\n" in between[1:] or is_over
        if is_apart or _starts_block(line, after, longest):
            yield first, stop
            first = following
    yield first, lines[-1][1]


def _starts_block(line: str, after: str, longest: int) -> bool:
    """Whether the line `after` begins a block of its own, and does not carry on `line`."""
    if (
        not (_has_word(line) and _has_word(after))
        or _ITEM.match(after)
        or _HEADING.match(after)
        or _HEADING.match(line)
    ):
        return True
    if ROW.match(line) or ROW.match(after):
        return True
    return len(line.rstrip()) < _SHORT * longest and not _carries_on(line, after)


def _carries_on(line: str, after: str) -> bool:
    return line.rstrip().endswith(_GOES_ON) or not _CAPITAL.match(after.lstrip())


def _sentences(text: str, start: int, stop: int, language: str) -> Iterator[Span]:
    """Yield the sentences of a block."""
    block = text[start:stop]
    # sentencex would take two line breaks for the end of a paragraph
    flat = block.replace("\n", " ").replace(PAGE_BREAK, " ")
    # and would end no sentence behind the first bracket of a text: "(a) The lease ends. The tenant leaves."
    read = flat.replace("(", "[", 1) if _NUMBER_IN_BRACKETS.match(flat) else flat
    spans = [(found["start_index"], found["end_index"]) for found in get_sentence_boundaries(language, read)]
    merged: list[Span] = []
    for span in spans:
        if merged and _goes_on(flat[slice(*merged[-1])], flat[slice(*span)], language):
            merged[-1] = (merged[-1][0], span[1])
        else:
            merged.append(span)
    for first, last in merged:
        own = block[first:last]
        yield start + first + len(own) - len(own.lstrip()), start + first + len(own.rstrip())


def _goes_on(sentence: str, following: str, language: str) -> bool:
    """Whether `following` is the rest of `sentence`, which sentencex took for a whole one."""
    rest, ending = following.lstrip(), sentence.rstrip()[-_ENDING:]
    if not ending or not rest or _NAME_OF_ITEM.fullmatch(sentence):  # 1. Rent. The rent is due in advance.
        return True
    if ending.endswith(_AFTER_SPEECH):
        return bool(_CARRIES_SPEECH_ON.match(rest))
    if not ending.endswith("."):
        return False
    if _INITIAL.search(ending) or _TITLE.search(ending) or _is_hyphenated(sentence, following):
        return True
    if language in _TURKIC and _ROMAN.search(ending):  # III. Selim
        return True
    if _LETTER.search(ending) and _LETTER_FIRST.match(rest):  # 44 a.C.
        return True
    if language in _ORDINALS and _ORDINAL.search(ending):
        is_german = language in _GERMAN and _GERMAN_ORDINAL.search(sentence.rstrip()[-_LONG_ENDING:]) is not None
        return rest[0].islower() or is_german
    return bool(_ABBREVIATION.search(ending) and (rest[0].islower() or rest[0].isdigit()))


def _is_hyphenated(sentence: str, following: str) -> bool:
    """Whether a hyphen joins the two, as in Dipl.-Ing."""
    return _HYPHEN.match(following) is not None and not sentence[-1].isspace()
