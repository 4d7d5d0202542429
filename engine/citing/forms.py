"""The forms in which a quotation is copied, and the formats in which a basket is exported. Pure."""

from collections.abc import Callable, Mapping, Sequence

from longsearch.engine.citing.bibtex import latex, to_bibtex
from longsearch.engine.citing.csl import to_csl
from longsearch.engine.citing.documents import made_key, page_words, paragraphs, plain
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.markdown import link_of, quoted, source_line, to_markdown
from longsearch.engine.citing.table import to_csv
from longsearch.engine.places import place_name
from longsearch.engine.printable import printable

FORMATS: Mapping[str, tuple[str, Callable[[Sequence[Evidence]], str]]] = {
    "markdown": (".md", to_markdown),
    "csv": (".csv", to_csv),
    "csl": (".json", to_csl),
    "bibtex": (".bib", to_bibtex),
}
"""The formats by name: the ending of such a file, and the function that writes it."""


def _plain(one: Evidence) -> str:
    place = printable(place_name(one.path, one.page, one.heading, is_ocr=one.is_ocr))
    named = f", {place}" if place else ""
    return f"{printable(one.quote, keep=chr(10))}\n— {plain(one.title)}{named} ({printable(one.path)})\n"


def _markdown(one: Evidence) -> str:
    link = link_of(one)
    source = source_line(one)
    return quoted(one, f"[{source}]({link})" if link else source)


def _pandoc(one: Evidence) -> str:
    place = f", {page_words(one)}" if one.page is not None else ""
    return quoted(one).rstrip("\n") + f" [@{one.citekey or made_key(one)}{place}]\n"


def _latex(one: Evidence) -> str:
    place = f"[p.~{one.page}]" if one.page is not None else ""
    quote = "\n\n".join(map(latex, paragraphs(one.quote)))
    return f"\\begin{{quote}}\n{quote} \\cite{place}{{{one.citekey or made_key(one)}}}\n\\end{{quote}}\n"


def _org(one: Evidence) -> str:
    # a line that begins with a comma is only text, also one that Org would take for the end of the block
    quote = "\n\n".join(f",{text}" if text.startswith(("*", "#+", ",")) else text for text in paragraphs(one.quote))
    place = f" {page_words(one)}" if one.page is not None else ""
    return f"#+begin_quote\n{quote} [cite:@{one.citekey or made_key(one)}{place}]\n#+end_quote\n"


FORMS: Mapping[str, Callable[[Evidence], str]] = {
    "plain": _plain,
    "markdown": _markdown,
    "pandoc": _pandoc,
    "latex": _latex,
    "org": _org,
}
"""The functions that write one quotation for the clipboard, by name. The first is the default."""


def format_of(file_name: str) -> str:
    """Return the format that the ending of a file's name stands for; "" if none does."""
    return next((name for name, (ending, _) in FORMATS.items() if file_name.lower().endswith(ending)), "")
