"""The forms in which a quotation is copied, and the formats in which a basket is exported. Pure."""

from collections.abc import Callable, Mapping, Sequence

from longsearch.engine.citing.bibtex import latex, to_bibtex
from longsearch.engine.citing.csl import to_csl
from longsearch.engine.citing.documents import made_key, page_words, paragraphs, plain
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.markdown import link_of, quoted, source_line, to_markdown
from longsearch.engine.citing.table import to_csv
from longsearch.engine.places import place_of
from longsearch.engine.printable import printable

FORMATS: Mapping[str, tuple[str, Callable[[Sequence[Evidence]], str]]] = {
    "markdown": (".md", to_markdown),
    "csv": (".csv", to_csv),
    "csl": (".json", to_csl),
    "bibtex": (".bib", to_bibtex),
}
"""The formats by name: the ending of such a file, and the function that writes it."""


def _plain(evidence: Evidence) -> str:
    place = printable(place_of(evidence.path, evidence, evidence.is_ocr))
    named = f", {place}" if place else ""
    return f"{printable(evidence.quote, keep=chr(10))}\n— {plain(evidence.title)}{named} ({printable(evidence.path)})\n"


def _markdown(evidence: Evidence) -> str:
    link = link_of(evidence)
    source = source_line(evidence)
    return quoted(evidence, f"[{source}]({link})" if link else source)


def _pandoc(evidence: Evidence) -> str:
    place = f", {page_words(evidence)}" if evidence.page is not None else ""
    return quoted(evidence).rstrip("\n") + f" [@{evidence.citekey or made_key(evidence)}{place}]\n"


def _latex(evidence: Evidence) -> str:
    place = f"[p.~{latex(evidence.page_label) or evidence.page}]" if evidence.page is not None else ""
    quote = "\n\n".join(map(latex, paragraphs(evidence.quote)))
    return f"\\begin{{quote}}\n{quote} \\cite{place}{{{evidence.citekey or made_key(evidence)}}}\n\\end{{quote}}\n"


def _org(evidence: Evidence) -> str:
    # a line that begins with a comma is only text, also one that Org would take for the end of the block
    quote = "\n\n".join(
        f",{text}" if text.startswith(("*", "#+", ",")) else text for text in paragraphs(evidence.quote)
    )
    place = f" {page_words(evidence)}" if evidence.page is not None else ""
    return f"#+begin_quote\n{quote} [cite:@{evidence.citekey or made_key(evidence)}{place}]\n#+end_quote\n"


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
