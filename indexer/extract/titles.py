"""Which of the things a file calls itself is its title. Pure; knows no format."""

import re
from collections.abc import Callable, Iterable

from indexer.extract.clean import one_line
from indexer.extract.limits import MAX_TITLE_CHARACTERS

# What programs write into the title field by themselves. 35 of 50 papers have no title there, 13 one of these.
_JUNK = re.compile(
    r"microsoft (word|powerpoint|excel)\b.*|powerpoint presentation|untitled.*|no title|title|document\d*|slide \d+|"
    r"(proceedings )?template\b.*|.*\btemplate - word|template for .*|layout \d+|presentation\d*|"
    r"(scan|img|image|page)[ _-]?\d*|"
    r"arxiv:.*|\S*@\S*|doi:.*|https?://.*|none|null|unknown|tmp.*|temp|print|full page fax print|pii: .*|"
    # a file's name, and identifiers: no space in them, a dot or digits and punctuation
    r"\S+\.(dvi|docx?|pdf|tex|ps|eps|indd|qxd|rtf|odt|pptx?|xlsx?|txt|md|html?|fm|cdr|pmd)|.*\.(dvi|docx?|indd|qxd|pptx?)|"
    r"[\d\W_]*|[a-z]{0,4}\d[\w.-]*|[^\s_]+_\S*",
    re.IGNORECASE,
)
# What stands large or first on a paper's page and is not its title: sections, who published it, where and when.
_HEAD = re.compile(
    r"[\d.ivx ]*(abstract|summary|introduction|preface|(table of )?contents|foreword|acknowledg\w+|references)\W*|"
    r"((to )?appear(s|ed)?|published|submitted|accepted) (in|to|for|at) .*|(in )?proceedings of .*|"
    r"(the )?university of .*|department of .*|technical report\b.*|research (report|paper)\b.*|"
    r"(international )?journal of .*|vol(ume|\.) ?\d.*|copyright\b.*|©.*|permission to .*|https?:.*|(?-i:[A-Z&]{2,8})",
    re.IGNORECASE,
)
_STAMP = re.compile(r"^\[[a-z-]+-\d{5,}, v\d+\]\s*")  # HAL's, before what its authors wrote
_WORD = re.compile(r"\w+")
_MIN_LETTERS = 3
_LETTER_SHARE = 0.6
_MAX_FIRST_LINE = 200
_LINES_TRIED = 20


def is_title(text: str) -> bool:
    """Whether `text`, one line, could be a title: words, not a file name or what a program writes by itself."""
    letters = sum(character.isalpha() for character in text)
    spaces = text.count(" ")
    return letters >= _MIN_LETTERS and letters > _LETTER_SHARE * (len(text) - spaces) and _JUNK.fullmatch(text) is None


def is_title_of_paper(text: str) -> bool:
    """`is_title`, for a line of a PDF's first page: not a section's name, a publisher's, or a single word."""
    return is_title(text) and _HEAD.fullmatch(text) is None


def is_said(title: str, large_text: str, page: str) -> bool:
    """Whether a page says the title its file claims: half of the words in its large type, or all of them anywhere.

    True where nothing stands in large type: programs also take a section's name, or an older document's, for the title.
    """
    words, large, all_words = (set(_WORD.findall(part.casefold())) for part in (title, large_text, page))
    return not large or len(words & large) * 2 >= len(words) or words <= all_words


def choose_title(candidates: Iterable[str], text: str, is_first: Callable[[str], bool] = is_title) -> str:
    """The first candidate that could be a title, else the text's first line that `is_first`, or ""."""
    for candidate in candidates:
        title = _STAMP.sub("", one_line(candidate, MAX_TITLE_CHARACTERS))
        if is_title(title):
            return title
    return first_line(text, is_first)


def first_line(text: str, is_first: Callable[[str], bool] = is_title) -> str:
    """The first of the text's lines that `is_first`, or "" where a paragraph comes before it."""
    for line in text[: _LINES_TRIED * _MAX_FIRST_LINE].split("\n")[:_LINES_TRIED]:
        if len(line) > _MAX_FIRST_LINE:
            return ""
        title = one_line(line, MAX_TITLE_CHARACTERS)
        if is_first(title):
            return title
    return ""
