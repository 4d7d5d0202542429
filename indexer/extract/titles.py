"""Choose a document's title among the candidates that a file offers. Pure functions; they know no format."""

import re
from collections.abc import Callable, Iterable, Sequence

from longsearch.engine.types.documents import Heading
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.wire.limits import MAX_TITLE_CHARACTERS

# Titles that programs fill in by themselves. Of 50 papers, 35 have no title in their metadata and 13 have one of these.
_FILLED_IN = re.compile(
    r"microsoft (word|powerpoint|excel)\b.*|powerpoint presentation|untitled.*|no title|title|document\d*|slide \d+|"
    r"(proceedings )?template\b.*|.*\btemplate - word|template for .*|layout \d+|presentation\d*|"
    r"(scan|img|image|page)[ _-]?\d*|"
    r"arxiv:.*|\S*@\S*|doi:.*|https?://.*|none|null|unknown|tmp.*|temp|print|full page fax print|pii: .*|"
    r"\S+\.(dvi|docx?|pdf|tex|ps|eps|indd|qxd|rtf|odt|pptx?|xlsx?|txt|md|html?|fm|cdr|pmd)|.*\.(dvi|docx?|indd|qxd|pptx?)",
    re.IGNORECASE,
)
# Identifiers: no spaces, but a dot, or digits and punctuation.
_IDENTIFIER = re.compile(r"[\d\W_]*|[a-z]{0,4}\d[\w.-]*|[^\s_]+_\S*", re.IGNORECASE)
# Lines that are large or first on a paper's page but are not its title: sections, the publisher, place and date.
_HEAD = re.compile(
    r"[\d.ivx ]*(abstract|summary|introduction|preface|(table of )?contents|foreword|acknowledg\w+|references)\W*|"
    r"((to )?appear(s|ed)?|published|submitted|submission|accepted)( (in|to|for|at)\b|:).*|(in )?proceedings of .*|"
    r"(the )?university of .*|department of .*|technical report\b.*|research (report|paper)\b.*|"
    r"(international )?journal of .*|vol(ume|\.) ?\d.*|copyright\b.*|©.*|permission to .*|https?:.*|(?-i:[A-Z&]{2,8})|"
    r"(?-i:[A-Z][A-Z ,.&-]* (SOCIETY|ASSOCIATION|UNIVERSITY|INSTITUTE|PRESS|COMPANY)\W*)|"
    r"running head: .*|"
    r"(this (is|paper|article|work|essay)|in this (paper|article|work)|we (present|describe|propose|show)) .*",
    re.IGNORECASE,
)
LARGEST_TYPE, HEADING, FIRST_LINE = "largest type", "heading", "first line"
"""Sources of titles that stand in the text."""
STATED = frozenset({"mail header"})
"""Sources whose titles are titles whatever they look like: a subject may be "Invoice 2020-0815"."""
_STATED_IF_TYPED = frozenset(
    {
        "Word properties", "Excel properties", "PowerPoint properties", "OpenDocument properties", "RTF properties",
        "Org keyword", "EPUB package", "FB2 description", "LaTeX", "front matter", "notebook metadata", "HTML title",
        "citation_title", "dc.title", "dcterms.title", "og:title",
    }
)  # fmt: skip
"""Sources whose titles a person typed, as "1887", unless they are what a program fills in."""
_STAMP = re.compile(r"^\[[a-z-]+-\d{5,}, v\d+\]\s*")  # HAL puts it before the authors' title
# publishers leave their markup in the metadata: <Emphasis Type="Italic">Unconditional</Emphasis>
_MARKUP = re.compile(
    r"</?(?:i|b|em|tt|sc|sub|sup|subscript|superscript|strong|italic|bold|emphasis|span|(?:mml|jats):\w+)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_TEX_DASH = re.compile(r"(?<=\w)\{(?=\w)")
"""An en dash in TeX's old fonts, of which a PDF without a table of letters makes a brace: "Okapi at TREC{3"."""
_CONTINUES = re.compile(r".*(?:[:,–—]|\b(?:of|in|and|the|for|with|a|an|to|on|from|by|or|using|via))", re.IGNORECASE)
_SENTENCES = re.compile(r".*[a-z]{3}\. [A-Z][a-z]+ [a-z].*")
"""The end of a sentence and the beginning of another: a title is neither."""
_YEARS = re.compile(r"\s*\(\d{4}(?:[-–]\d{2,4})?\)")  # "Early LISP History (1956-1959)"
_WORD = re.compile(r"\w+")
_MIN_LETTERS = 3
_LETTER_SHARE = 0.6
_MAX_FIRST_LINE = 200
_LINES_TRIED = 20
_TIMES_LONGER, _WORDS_LONGER = 2, 6


def is_title(text: str) -> bool:
    """Return whether `text`, one line, could be a title: words, and neither a file name nor a program's default."""
    text = _YEARS.sub("", text)
    letters = sum(character.isalpha() for character in text)
    spaces = text.count(" ")
    if letters < _MIN_LETTERS or letters <= _LETTER_SHARE * (len(text) - spaces):
        return False
    if _FILLED_IN.fullmatch(text) or _IDENTIFIER.fullmatch(text):
        return False
    return any(len(word) > 1 for word in _WORD.findall(text))


def is_stated(title: str, source: str) -> bool:
    """Return whether `title` is one because the file says so, however it looks."""
    if source in STATED:
        return bool(title)
    typed = source in _STATED_IF_TYPED and _FILLED_IN.fullmatch(title) is None
    return typed and any(map(str.isalnum, title))


def is_title_of_paper(text: str) -> bool:
    """Return whether a line of a PDF's first page could be its title: no section, publisher, acronym or address."""
    return is_title(text) and _HEAD.fullmatch(text) is None and "@" not in text


def page_confirms(title: str, large_text: str, page: str) -> bool:
    """Return whether the first page confirms the title in the metadata.

    It does if its large type holds half of the title's words, if the page holds all of them, or if nothing on it is in
    large type. Programs sometimes write a section's name or an older document's title into the metadata.
    """
    words, large, all_words = (set(_WORD.findall(part.casefold())) for part in (title, large_text, page))
    return not large or len(words & large) * 2 >= len(words) or words <= all_words


def is_cut_short(title: str, large_text: str) -> bool:
    """Return whether the large type of the first page holds this title and more: "MapReduce" for a longer title."""
    words, large = (_WORD.findall(part.casefold()) for part in (title, large_text))
    is_longer = len(words) < len(large) <= _TIMES_LONGER * len(words) + _WORDS_LONGER
    return is_longer and bool(words) and set(words) < set(large) and is_title_of_paper(large_text)


def choose_title(
    candidates: Iterable[tuple[str, str]], text: str, accepts: Callable[[str], bool] = is_title
) -> tuple[str, str]:
    """Return the first candidate that could be a title, else the text's first line that passes `accepts`, or "".

    A candidate is (title, where it was found), and so is the result.
    """
    for candidate, source in candidates:
        title = _STAMP.sub("", one_line(_MARKUP.sub("", candidate), MAX_TITLE_CHARACTERS))
        if "}" not in title:
            title = _TEX_DASH.sub("\u2013", title)
        if is_title(title) or is_stated(title, source):
            return title, source
    return first_line(text, accepts), FIRST_LINE


def title_of_text(title: str, source: str, text: str, headings: Sequence[Heading]) -> tuple[str, str]:
    """Return the title of a document whose reader found `title` in `source`, "" for a heading, and where it was found.

    If the text begins with the first heading, that is the title though it looks unlike one, as "1887" does.
    """
    first = headings[0].title if headings else ""
    found = choose_title(((title, source or HEADING),), text)
    begins = not source and (text == first or text.startswith(f"{first}\n"))
    is_long = sum(map(str.isalnum, first)) >= _MIN_LETTERS and _FILLED_IN.fullmatch(first) is None
    return (first, HEADING) if found[1] == FIRST_LINE and begins and is_long else found


def first_line(text: str, accepts: Callable[[str], bool] = is_title) -> str:
    """Return the first line that passes `accepts`, or "" if a paragraph comes before it."""
    lines = [line for line in text[: _LINES_TRIED * _MAX_FIRST_LINE].split("\n")[:_LINES_TRIED] if line.strip()]
    for index, line in enumerate(lines):
        if len(line) > _MAX_FIRST_LINE:
            return ""
        title = one_line(line, MAX_TITLE_CHARACTERS)
        if _SENTENCES.fullmatch(title):
            return ""  # the text has begun
        if accepts(title):
            following = one_line((lines[index + 1 : index + 2] or [""])[0], _MAX_FIRST_LINE)
            goes_on = accepts is is_title_of_paper and _CONTINUES.fullmatch(title) and accepts(following)
            return one_line(f"{title} {following}", MAX_TITLE_CHARACTERS) if goes_on else title
    return ""
