"""References of a reference manager: reading `.bib` files, and finding the one that a passage's document belongs to."""

from dataclasses import replace

import pytest

from longsearch.engine.citing.bib_reader import bib_entries, without_latex
from longsearch.engine.citing.evidence import Evidence
from longsearch.engine.citing.references import Reference, References

BIB = r"""
@comment{jabref-meta: databaseType:biblatex;}
@string{jot = "Journal of " # {Towers}}
@string(acm = {ACM})
@preamble{"\newcommand{\x}{y}"}

@article{lee2004,
  title = {The {Cooling} of {\"U}ber-{T}owers},
  author = {Lee, Ann and M{\"u}ller, J{\"o}rg},
  journaltitle = jot, month = jun, volume = 12,
  doi = "10.1000/A_B{"}c",
  file = {/home/ada/papers/lee.pdf;/home/ada/papers/lee 2.pdf}
}
some text between entries, with an e-mail: ada@example.org, and more
@Book (plato,
  Title={Politeia} # " in " # {Greek},
  file={Full Text:C\:\\books\\plato.pdf:application/pdf;Snapshot:books/pl\;ato.html:text/html},
)
@online{shannon1948, eprint = {1706.03762v2}, archiveprefix = {arXiv}}
@misc{empty,}
@article{never closed
@misc{last, title = {it is never closed
"""


def test_entries_are_read_as_reference_managers_write_them() -> None:
    entries = {entry.key: entry for entry in bib_entries(BIB)}
    assert list(entries) == ["lee2004", "plato", "shannon1948", "empty", "last"]
    lee = entries["lee2004"].fields
    assert lee["title"] == r"The {Cooling} of {\"U}ber-{T}owers"
    assert (lee["journaltitle"], lee["month"], lee["volume"]) == ("Journal of Towers", "jun", "12")
    assert lee["doi"] == '10.1000/A_B{"}c'
    assert entries["lee2004"].files == ["/home/ada/papers/lee.pdf", "/home/ada/papers/lee 2.pdf"]
    assert entries["plato"].fields["title"] == "Politeia in Greek"
    assert entries["plato"].files == [r"C:\books\plato.pdf", "books/pl;ato.html"]
    assert entries["empty"].fields == {}
    assert entries["last"].fields["title"] == "it is never closed"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"{\"U}ber {K}{\"o}ln", "Über Köln"),
        (r"Erd\H{o}s and \v{C}ech, \'{\i}", "Erdős and Čech, í"),
        (r"Stra{\ss}e, \o{} \L{}", "Straße, ø Ł"),
        (r"{\'E}cole \& \textit{caf\'e}~noir", "École & café noir"),
        ("plain", "plain"),
    ],
)
def test_latex_is_read_as_it_is_printed(written: str, printed: str) -> None:
    assert without_latex(written) == printed


@pytest.mark.parametrize(
    "text", ["", "@", "@a{", "@a{k", "@a{k,", "@a{k,x", "@a{k,x=", "@a{k,x={", '@a{k,x="', "@a{k,x=#}", "}{" * 9]
)
def test_a_broken_file_is_read_as_far_as_it_goes(text: str) -> None:
    assert [entry.key for entry in bib_entries(text)] in ([], ["k"])


LEE = Reference(
    citekey="lee2004",
    title="The Cooling of Über-Towers",
    doi="10.1000/A",
    arxiv="1706.03762",
    paths=("/p/lee.pdf",),
    collections=("Towers",),
    links=(("/p/lee.pdf", "zotero://open-pdf/library/items/F?page="),),
    link="zotero://select/library/items/L",
)
PASSAGE = Evidence("What it says", "/elsewhere/x.pdf", "x", page=7)


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/p/lee.pdf"},
        {"doi": "https://doi.org/10.1000/a"},
        {"arxiv": "arXiv:1706.03762v5"},
        {"title": "the cooling of uber towers"},
    ],
)
def test_a_document_is_known_by_its_file_its_numbers_or_its_title(changes: dict[str, str]) -> None:
    assert References([LEE]).cite(replace(PASSAGE, **changes)).citekey == "lee2004"


def test_a_document_that_nobody_knows_stays_as_it_is() -> None:
    known = References([LEE, Reference("intro", "Introduction")])
    assert known.cite(PASSAGE) == PASSAGE
    assert known.of(replace(PASSAGE, title="Introduction")) is None  # too short to name one document


def test_two_references_with_one_title_are_not_known_by_it() -> None:
    known = References([LEE, replace(LEE, citekey="lee2004b", doi="", arxiv="", paths=())])
    assert known.of(replace(PASSAGE, title=LEE.title)) is None
    assert known.of(replace(PASSAGE, doi=LEE.doi)) == LEE


def test_a_link_opens_the_file_at_the_page_else_selects_the_document() -> None:
    known = References([LEE])
    assert known.cite(replace(PASSAGE, path="/p/lee.pdf")).link == "zotero://open-pdf/library/items/F?page=7"
    assert known.cite(replace(PASSAGE, path="/p/lee.pdf", page=None)).link == "zotero://open-pdf/library/items/F"
    assert known.cite(replace(PASSAGE, doi=LEE.doi)).link == "zotero://select/library/items/L"
    assert known.cite(replace(PASSAGE, doi=LEE.doi)).collections == ("Towers",)
