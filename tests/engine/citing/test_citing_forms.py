"""Kept passages are written as Markdown, CSV, CSL-JSON and BibTeX, and no text of a document acts as markup there."""

import csv
import io
import json
from dataclasses import replace

import pytest

from longsearch.engine.citing.bibtex import latex, to_bibtex
from longsearch.engine.citing.csl import to_csl
from longsearch.engine.citing.documents import cited_documents, made_key, name_of
from longsearch.engine.citing.evidence import Evidence, evidence_of
from longsearch.engine.citing.forms import FORMATS, FORMS, format_of
from longsearch.engine.citing.markdown import escaped, to_markdown
from longsearch.engine.citing.table import to_csv
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import DocumentHit, PassageHit

TOWERS = Evidence(
    quote="Cooling towers\nlose water.\n\nThe loss is 5 % & more.",
    path="/home/ada/papers/towers.pdf",
    title="The {Cooling} of Towers",
    id="00000001",
    page=12,
    authors=("Lee, Ann", "Ludwig van Beethoven"),
    date="2004-06",
    doi="10.1000/x_y",
    content="aa",
    note="cf. chapter 3",
)
PUMPS = Evidence("Pumps fail.", "/home/ada/notes/pumps.md", "pumps", "00000002", heading="Why")
HOSTILE = Evidence(
    quote='=cmd|" /C calc"!A0 <script>alert(1)</script> \\input{/etc/passwd} }} **b** [x](http://e) \x1b[31m\u202e',
    path="/tmp/\udcff{a`b\n}.pdf",
    title="# }\\write18{rm} & $x$ % \u2028 <b>",
    id="00000003",
    authors=("=HYPERLINK(1)",),
    note="@evil } {",
)


def test_evidence_is_made_of_a_hit_and_survives_as_json() -> None:
    values = (
        MetadataValue("author", "Ann Lee", "XMP"),
        MetadataValue("author", "Bo Li", "XMP"),
        MetadataValue("date", "2004", "XMP"),
        MetadataValue("arxiv", "2004.01234", "page 1"),
    )
    passage = PassageHit(3, "Results", 10, 21, "What it says", 0.5)
    hit = DocumentHit(1, 7, "/p/\udcff.pdf", "A title", 0.5, (passage,), "/p", "papers", values, "en")
    one = evidence_of(hit, passage, "a query", 12.5)
    assert (one.authors, one.year, one.arxiv, one.page) == (("Ann Lee", "Bo Li"), "2004", "2004.01234", 3)
    assert Evidence.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert "citekey" not in one.to_json()
    written = (MetadataValue("date", "2026-11-23", "file time"),)
    assert evidence_of(replace(hit, metadata=written), passage).date == ""  # nobody cites the time of a file


@pytest.mark.parametrize("wrong", [{"quote": 3}, {"page": "three"}, {"title": None}])
def test_json_that_is_no_evidence_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no"):
        Evidence.from_json({**TOWERS.to_json(), **wrong})


@pytest.mark.parametrize(
    ("author", "family", "given"),
    [
        ("Lee, Ann", "Lee", "Ann"),
        ("Ann Mary Lee", "Lee", "Ann Mary"),
        ("Ludwig van Beethoven", "van Beethoven", "Ludwig"),
        ("Plato", "Plato", ""),
        ("", "", ""),
    ],
)
def test_a_name_is_taken_apart(author: str, family: str, given: str) -> None:
    name = name_of(author)
    assert (name.family, name.given) == (family, given)


def test_keys_are_made_of_author_year_and_title_and_no_two_are_the_same() -> None:
    assert made_key(TOWERS) == "lee2004cooling"
    assert made_key(replace(TOWERS, authors=("José Müller",), title="Über Öl")) == "muller2004uber"
    assert made_key(Evidence("q", "/p", "…")) == "document"
    others = [replace(TOWERS, path=f"/{number}", content="") for number in range(3)]
    assert [one.key for one in cited_documents(others)] == ["lee2004cooling", "lee2004coolinga", "lee2004coolingb"]
    own = [others[0], replace(others[1], citekey="lee2004cooling")]
    assert [one.key for one in cited_documents(own)] == ["lee2004coolinga", "lee2004cooling"]


def test_passages_of_one_document_come_together_even_from_two_copies() -> None:
    copy = replace(TOWERS, id="4", path="/elsewhere/copy.pdf", quote="Another sentence.")
    documents = cited_documents([TOWERS, PUMPS, copy])
    assert [len(document.passages) for document in documents] == [2, 1]


def test_bibtex_has_an_entry_for_each_document() -> None:
    entries = to_bibtex([TOWERS, PUMPS, replace(TOWERS, id="4", page=13, quote="More.", note="")])
    assert entries.count("@misc{") == 2
    for line in (
        "@misc{lee2004cooling,",
        r"  title = {{The {\textbraceleft}Cooling{\textbraceright} of Towers}},",
        "  author = {Lee, Ann and Ludwig van Beethoven},",
        "  year = {2004},",
        "  month = jun,",
        "  doi = {10.1000/x_y},",
        "  file = {/home/ada/papers/towers.pdf},",
        r"  annote = {p.~12: ``Cooling towers lose water. \par The loss is 5 \% \& more.'' --- cf. chapter 3"
        r" \par p.~13: ``More.''},",
    ):
        assert line in entries.splitlines()
    assert to_bibtex([]) == ""


def test_an_organisation_with_and_in_its_name_stays_one_author() -> None:
    assert "author = {{Simon and Schuster}}" in to_bibtex([replace(TOWERS, authors=("Simon and Schuster",))])


def test_latex_prints_every_special_character() -> None:
    assert latex('a_b 5% $x$ & # { } ~ ^ \\ "') == (
        r"a\_b 5\% \$x\$ \& \# {\textbraceleft} {\textbraceright} {\textasciitilde} {\textasciicircum}"
        r" {\textbackslash} {\char34}"
    )


def test_csl_json_has_names_dates_and_quotations() -> None:
    towers, pumps = json.loads(to_csl([TOWERS, PUMPS]))
    assert towers["id"] == "lee2004cooling"
    assert towers["author"][0] == {"family": "Lee", "given": "Ann"}
    assert towers["issued"] == {"date-parts": [[2004, 6]]}
    assert towers["DOI"] == "10.1000/x_y"
    assert towers["custom"]["quotations"][0]["page"] == 12
    assert pumps["custom"]["path"] == PUMPS.path
    assert "author" not in pumps
    assert "issued" not in pumps


def test_csv_has_a_row_for_each_passage() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv([TOWERS, PUMPS]))))
    assert rows[0]["quote"] == "Cooling towers lose water.\n\nThe loss is 5 % & more."
    assert (rows[0]["page"], rows[0]["year"], rows[0]["authors"]) == ("12", "2004", "Lee, Ann; Ludwig van Beethoven")
    assert (rows[1]["page"], rows[1]["citekey"]) == ("", "pumps")


def test_markdown_has_quotations_under_their_documents_with_a_link_to_the_page() -> None:
    text = to_markdown([TOWERS, PUMPS])
    assert text.startswith("## The {Cooling} of Towers\n\nAnn Lee, Ludwig van Beethoven · 2004-06 · doi:10.1000/x\\_y")
    assert "> Cooling towers lose water.\n>\n> The loss is 5 % &amp; more.\n>\n> — [p. 12](file:///home/ada" in text
    assert "towers.pdf#page=12)\n\ncf. chapter 3\n" in text
    linked = to_markdown([replace(TOWERS, link="zotero://open-pdf/library/items/AB?page=12", citekey="lee04")])
    assert "[p. 12](zotero://open-pdf/library/items/AB?page=12)" in linked
    assert "[@lee04]" in linked


@pytest.mark.parametrize(
    ("text", "expected"),
    [("# no heading", "\\# no heading"), ("1. no list", "&#49;. no list"), ("- no list", "\\- no list"),
     ("12) no", "&#49;2) no"), ("<b>&amp;", "\\<b\\>&amp;amp;"), ("2004 was dry", "2004 was dry")],
)  # fmt: skip
def test_no_text_acts_as_markdown(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.mark.parametrize("name", [*FORMATS, *FORMS])
def test_hostile_text_is_only_text_in_every_form(name: str) -> None:
    text = FORMATS[name][1]([HOSTILE]) if name in FORMATS else FORMS[name](HOSTILE)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\u2028" not in text
    text.encode()
    if name in ("bibtex", "latex"):
        depths = [text[: at + 1].count("{") - text[: at + 1].count("}") for at in range(len(text))]
        assert min(depths) >= 0
        assert depths[-1] == 0
        assert "\\input" not in text
        assert "\\write" not in text
    if name in ("markdown", "pandoc"):
        assert "<script" not in text.replace("\\<", "")
        assert "](http:" not in text.replace("\\]", "")
    if name == "csv":
        for row in csv.DictReader(io.StringIO(text)):
            assert all(not value.startswith(("=", "+", "-", "@")) for value in row.values())
    if name == "csl":
        assert json.loads(text)[0]["type"] == "document"


def test_the_forms_of_a_copied_quotation() -> None:
    assert FORMS["plain"](PUMPS) == "Pumps fail.\n— pumps (/home/ada/notes/pumps.md)\n"
    assert FORMS["plain"](replace(PUMPS, quote="two\nlines", title="T\x1b", path="/a/b\udcff.pdf", page=2)) == (
        "two\nlines\n— T\ufffd, p. 2 (/a/b\ufffd.pdf)\n"
    )
    scanned = replace(PUMPS, path="/a/scan.pdf", page=2, is_ocr=True)
    assert FORMS["plain"](scanned).endswith("— pumps, p. 2 (OCR) (/a/scan.pdf)\n"), "letters may be wrong"
    assert "*pumps*, p. 2 (OCR)](file:" in FORMS["markdown"](scanned)
    assert Evidence.from_json(scanned.to_json()) == scanned
    assert FORMS["pandoc"](replace(TOWERS, citekey="lee04")).endswith("more. [@lee04, p. 12]\n")
    assert FORMS["latex"](PUMPS) == "\\begin{quote}\nPumps fail. \\cite{pumps}\n\\end{quote}\n"
    assert "\\cite[p.~12]{lee2004cooling}" in FORMS["latex"](TOWERS)
    assert "> — [Ann Lee, Ludwig van Beethoven (2004), *The {Cooling} of Towers*, p. 12](file:" in FORMS["markdown"](
        TOWERS
    )


def test_the_ending_of_a_file_names_its_format() -> None:
    names = ("a.MD", "b.csv", "c.json", "d.bib", "e.txt")
    assert [format_of(name) for name in names] == ["markdown", "csv", "csl", "bibtex", ""]
