"""`longsearch verify`: verbatim, changed, from elsewhere, invented."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from longsearch.app.backend import AppBackend
from longsearch.app.cli import EXIT_CANNOT, main
from longsearch.app.evidence.verifying import Verdict, text_of, verify
from longsearch.app.paths import index_path
from longsearch.app.search.outside import read_now
from longsearch.engine.citing.drafts import quotations_in
from longsearch.engine.citing.wording import Difference, differences
from longsearch.engine.errors import QueryError
from longsearch.engine.store import documents
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, MetadataValue, Passage
from longsearch.engine.types.results import SearchMode
from tests.app.made_folders import make_folder

VALVE = "The same valve had failed nine times before at plants of this design, and nobody had told the crew about it."
HEAT = "Decay heat went on at six percent of full power, which is enough to boil a swimming pool within an hour."


@pytest.fixture
def papers(home: Path) -> Path:
    return make_folder(home / "papers", {"miller-1979.md": VALVE, "heat.md": HEAT})


def verified(capsys: pytest.CaptureFixture[str], papers: Path, draft: str, name: str = "draft.md") -> dict[str, Any]:
    (papers.parent / name).write_text(draft)
    main(["verify", str(papers.parent / name), str(papers), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("the same valve had failed nine times before", "verbatim"),
        ("The same valve ha­d failed nine times be-\nfore", "verbatim"),
        ("the same valve … nobody had told the crew", "verbatim"),
        ("the same valve [of the second pump] had failed nine times", "verbatim"),
        ("the same valve had failed seven times before at plants of this design", "changed"),
        ("the blue tulips of the garden were sold on a rainy Tuesday", "nowhere"),
        ("nobody had told the crew … decay heat went on at six percent", "changed"),
        ("old and the same valve had failed nine times before", "changed"),
        ("ame valve had failed nine times bef", "changed"),
        ("Decay heat went on at −six percent", "verbatim"),
        ("the sale of lawn mowers in ten towns", "nowhere"),
    ],
)
def test_a_quotation_is_verbatim_changed_or_nowhere(
    papers: Path, capsys: pytest.CaptureFixture[str], said: str, status: str
) -> None:
    (one,) = verified(capsys, papers, f"He writes “{said}”.")["quotations"]
    assert one["status"] == status
    assert one["line"] == 1


def test_what_differs_is_named(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = verified(capsys, papers, "“the same valve had failed seven times before at plants of this design”")
    (one,) = found["quotations"]
    assert one["differences"] == [{"draft": "seven", "document": "nine"}]
    assert one["document"].endswith("miller-1979.md")
    assert found["counts"] == {"verbatim": 0, "changed": 1, "elsewhere": 0, "nowhere": 0}


@pytest.mark.parametrize(
    ("cited", "status", "note"),
    [
        ("[@miller1979]", "verbatim", None),
        ("(Miller, 1979, p. 4)", "verbatim", None),
        ("[the report](papers/heat.md)", "elsewhere", None),
        ("[@unknown2001]", "verbatim", "no document is known as unknown2001"),
    ],
)
def test_the_cited_source_is_compared(
    papers: Path, capsys: pytest.CaptureFixture[str], cited: str, status: str, note: str | None
) -> None:
    (one,) = verified(capsys, papers, f"“the same valve had failed nine times before” {cited}")["quotations"]
    assert (one["status"], one["note"]) == (status, note)


def test_a_bib_file_beside_the_draft_knows_the_sources_of_keys(
    papers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bib = "@book{a, author = {Miller, Jane}, year = 1979}\n@misc{b, file = {papers/heat.md}}\n@misc{c, title={Gone}}"
    (papers.parent / "own.bib").write_text(bib)
    found = verified(capsys, papers, f"“{SAID}” [@a]. “{SAID}” [@b]. “{SAID}” [@a; @b]. “{SAID}” [@c].")["quotations"]
    assert [(one["status"], one["note"]) for one in found] == [
        ("verbatim", None),
        ("elsewhere", None),
        ("verbatim", None),
        ("verbatim", "no document is known as c"),
    ]


def test_a_source_that_is_not_read_yet_is_said(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (papers / "smith-2001.md").write_text("new")
    (papers.parent / "other.md").write_text("new")
    draft = f"“{SAID}” [@smith2001]. “{SAID}” [it](other.md)."
    notes = [one["note"] for one in verified(capsys, papers, draft)["quotations"]]
    assert notes == [f"smith2001 is not read yet: {papers}/smith-2001.md", "other.md is not indexed"]


def test_the_exit_code_says_whether_all_are_verbatim(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, none = (papers.parent / name for name in ("good.md", "bad.tex", "none.txt"))
    good.write_text("“the same valve had failed nine times before” and “nine times”")
    bad.write_text("one\n``the blue tulips of the garden were sold \x1b[31m''")
    none.write_text("nothing is quoted")
    assert main(["verify", str(good), str(papers)]) == 0
    assert capsys.readouterr().out == "1 quotation: 1 verbatim; 1 of fewer than five words not judged\n"
    assert main(["verify", str(bad), str(papers)]) == 1
    said = capsys.readouterr().out
    assert "✗ line 2" in said and "1 nowhere" in said and "\x1b" not in said
    assert main(["verify", str(none), str(papers)]) == 0
    assert capsys.readouterr().out == "the draft quotes nothing\n"


SAID = "the same valve had failed nine times before"


def as_word(path: Path) -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    styles = '<w:style w:styleId="Zi" w:type="paragraph"><w:name w:val="Intense Quote"/></w:style>'
    set_off = f'<w:p><w:pPr><w:pStyle w:val="Zi"/></w:pPr><w:r><w:t>{SAID} (Miller, 1979)</w:t></w:r></w:p>'
    body = f"<w:p><w:r><w:t>He writes “{SAID}”.</w:t></w:r></w:p>{set_off}"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = f'<Relationship Id="r1" Type="{office}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
        made.writestr("word/styles.xml", f'<w:styles xmlns:w="{word}">{styles}</w:styles>')
        made.writestr("word/_rels/document.xml.rels", f"<Relationships>{relations}</Relationships>")


def as_open_document(path: Path) -> None:
    names = 'xmlns:office="o" xmlns:text="t" xmlns:style="s"'
    own = '<style:style style:name="P1" style:parent-style-name="Quotations"/>'
    body = f'<text:p text:style-name="P0">“{SAID}”</text:p><text:p text:style-name="P1">{SAID} (Miller 1979)</text:p>'
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("styles.xml", f'<office:s {names}><style:style style:name="Quotations"/></office:s>')
        made.writestr(
            "content.xml",
            f"<office:d {names}><office:styles>{own}</office:styles><office:body><office:text>{body}</office:text>"
            "</office:body></office:d>",
        )


def as_html(path: Path) -> None:
    path.write_text(f"<p>He writes <q>{SAID}</q>.</p><blockquote><p>{SAID} (Miller 1979)</p></blockquote>")


@pytest.mark.parametrize(("name", "make"), [("a.docx", as_word), ("a.odt", as_open_document), ("a.html", as_html)])
def test_quotations_of_office_files_and_pages_stand_in_marks_or_have_a_style(
    papers: Path, capsys: pytest.CaptureFixture[str], name: str, make: Callable[[Path], None]
) -> None:
    make(papers.parent / name)
    main(["verify", str(papers.parent / name), str(papers), "--json"])
    found = json.loads(capsys.readouterr().out)["quotations"]
    assert [(one["quotation"], one["status"], one["cited"]) for one in found] == [
        (SAID, "verbatim", None),
        (SAID, "verbatim", "Miller 1979"),
    ]


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def linked_word(path: Path, target: str) -> None:
    """Cite by a link, by a field, and by a link in each of two notes."""

    def run(text: str) -> str:
        return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'

    def field(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    def note(number: int) -> str:
        return f'{run(f"“{SAID}”")}<w:r><w:footnoteReference w:id="{number}"/></w:r>'

    link = f'<w:hyperlink r:id="r9">{run("there")}</w:hyperlink>'
    code = f"<w:r><w:instrText> HYPERLINK &quot;{target}&quot; </w:instrText></w:r>"
    by_field = field("begin") + code + field("separate") + run("there") + field("end")
    simple = f'<w:fldSimple w:instr="HYPERLINK &quot;{target}&quot;">{run("there")}</w:fldSimple>'
    cited = [f"<w:p>{run(f'“{SAID}” ')}{one}</w:p>" for one in (link, by_field, simple)]
    notes = "".join(f'<w:footnote w:id="{number}"><w:p>{link}</w:p></w:footnote>' for number in (2, 3))
    names = f'xmlns:w="{WORD}" xmlns:r="{OFFICE}"'
    to_file = f'<Relationship Id="r9" Type="{OFFICE}/hyperlink" Target="{target}" TargetMode="External"/>'
    to_notes = f'<Relationship Id="r1" Type="{OFFICE}/footnotes" Target="footnotes.xml"/>'
    body = "".join(cited) + f"<w:p>{note(2)}{run(' and ')}{note(3)}</w:p>"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("word/document.xml", f"<w:document {names}><w:body>{body}</w:body></w:document>")
        made.writestr("word/footnotes.xml", f"<w:footnotes {names}>{notes}</w:footnotes>")
        made.writestr("word/_rels/document.xml.rels", f"<Relationships>{to_file}{to_notes}</Relationships>")
        made.writestr("word/_rels/footnotes.xml.rels", f"<Relationships>{to_file}</Relationships>")


def open_document_body(target: str) -> str:
    link = f'<text:a xlink:href="{target}"><text:span>there</text:span></text:a>'
    note = f'<text:note text:note-class="footnote"><text:note-body><text:p>{link}</text:p></text:note-body></text:note>'
    names = 'xmlns:office="o" xmlns:text="t" xmlns:xlink="x"'
    cited = f"<text:p>“{SAID}” {link}</text:p>" * 3 + f"<text:p>“{SAID}”{note} and “{SAID}”{note}</text:p>"
    return f"<office:document {names}><office:body><office:text>{cited}</office:text></office:body></office:document>"


def linked_open_document(path: Path, target: str) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("content.xml", open_document_body(f"../{target}"))


def linked_flat_document(path: Path, target: str) -> None:
    path.write_text(open_document_body(target))


def linked_html(path: Path, target: str) -> None:
    """Cite by a link, by the attribute of a quotation and of a block, and by a link in each of two notes."""
    marks = "".join(f'<q>{SAID}</q><a href="#n{n}" id="r{n}"><sup>{n}</sup></a> and ' for n in (1, 2))
    notes = "".join(f'<li id="n{n}"><p>See <a href="{target}">it</a>. <a href="#r{n}">↩</a></p></li>' for n in (1, 2))
    path.write_text(
        f'<p>“{SAID}” <a href="{target}">there</a>.</p><p><q cite="{target}">{SAID}</q></p>'
        f'<blockquote cite="{target}"><p>{SAID}</p></blockquote><p>{marks} so on.</p><ol>{notes}</ol>'
    )


@pytest.mark.parametrize("target", ["papers/heat.md", "papers/my%20heat.md#page=3"])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.docx", linked_word),
        ("a.odt", linked_open_document),
        ("a.fodt", linked_flat_document),
        ("a.html", linked_html),
    ],
)
def test_the_links_and_notes_of_office_files_and_pages_say_which_source_is_cited(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, make: Callable[[Path, str], None], target: str
) -> None:
    papers = make_folder(home / "papers", {"miller.md": VALVE, "heat.md": HEAT, "my heat.md": HEAT + " It did."})
    make(home / name, target)
    main(["verify", str(home / name), str(papers), "--json"])
    found = json.loads(capsys.readouterr().out)["quotations"]
    cited = target.replace("%20", " ")
    assert [(one["quotation"], one["status"], one["cited"]) for one in found] == [(SAID, "elsewhere", cited)] * 5


@pytest.mark.parametrize(
    "target",
    [
        "https://doi.org/10.1000/heat.7",
        "https://arxiv.org/abs/1706.03762v2",
        "https://arxiv.org/pdf/1706.03762.pdf",
        "file://PAPERS/heat-1706.03762.md#page=2",
        r"papers\heat-1706.03762.md",
        r"C:\old\heat-1706.03762.md",
        "https://there.org/papers/heat-1706.03762.md#page=2",
    ],
)
def test_a_link_names_a_source_by_its_number_its_file_or_the_file_of_another_machine(
    home: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    papers = make_folder(home / "papers", {"miller.md": VALVE, "heat-1706.03762.md": HEAT})
    with Store.open(index_path(papers), root=papers) as store:
        with store.reading() as db:
            _, heat = documents.all_ids(db).tolist()
        store.describe(heat, "", [MetadataValue("doi", "10.1000/heat.7", "page 1")])
    link = target.replace("PAPERS", str(papers))
    (one,) = verified(capsys, papers, f"“{SAID}” [there](<{link}>)")["quotations"]
    assert (one["status"], one["note"]) == ("elsewhere", None)


def test_the_text_of_a_document_says_nothing_of_where_its_links_lead(tmp_path: Path) -> None:
    for name, make in (("a.docx", linked_word), ("a.odt", linked_open_document), ("a.html", linked_html)):
        make(tmp_path / name, "papers/heat.md")
        text = read_now(tmp_path / name).document.text
        assert "there" in text and "heat.md" not in text and "[^" not in text


@pytest.mark.parametrize(
    "note",
    [
        '<p><a href="#_r1" name="_n1">[1]</a> Smith 2001, p. 4</p>',
        '<p id="_n1">Smith 2001, p. 4</p>',
        '<p><a name="_n1"></a>1. Smith 2001, p. 4</p>',
        '<table><tr><td id="_n1">Smith 2001, p. 4</td></tr></table>',
    ],
)
def test_a_note_of_a_page_is_found_by_the_name_that_its_number_leads_to(tmp_path: Path, note: str) -> None:
    page = tmp_path / "a.html"
    page.write_text(f'<h1 id="top">On valves</h1><p>“{SAID}”<a href="#_n1" name="_r1">[1]</a> so on.</p>{note}')
    (quoted,) = quotations_in(*text_of(page))
    assert [one.text for one in quoted.cited] == ["Smith 2001"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("never a sound from the pumps of the second loop was heard that night", "verbatim"),
        ("sound from the pumps of the second loop was heard that night by anybody in the hall", "verbatim"),
        ("never a sound from the pipes of the second loop was heard that night", "changed"),
    ],
)
def test_a_quotation_may_go_on_behind_a_figure(
    home: Path, capsys: pytest.CaptureFixture[str], said: str, status: str
) -> None:
    text = (
        "There was never a sound from the pumps of the\n\nLoop A Loop B\n\nFigure 2: The loops\n\n"
        "second loop was heard that night by anybody in the hall."
    )
    papers = make_folder(home / "papers", {"loops.md": text})
    (one,) = verified(capsys, papers, f"“{said}”")["quotations"]
    assert one["status"] == status


def test_a_draft_that_is_not_there_is_named(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(papers.parent / "gone.docx"), str(papers)]) == 3
    assert "is not a file" in capsys.readouterr().err


def test_words_that_were_added_or_left_out_are_differences() -> None:
    assert differences("the valve stayed wide open", "the old valve stayed open") == [
        Difference("", "old"),
        Difference("wide", ""),
    ]


def test_each_claim_gets_what_its_source_says_nearest_to_it(papers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = papers.parent / "claims.md"
    draft.write_text("The valve had failed before [@miller1979]. Water boils soon (Gone 1999).")
    assert main(["verify", "--claims", str(draft), str(papers), "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["claims"]
    assert (first["text"], first["document"], first["note"]) == (VALVE, str(papers / "miller-1979.md"), None)
    assert (second["document"], second["level"], second["note"]) == (None, None, "no document is known as Gone 1999")
    draft.write_text("The valve had failed before [@miller1979].")
    assert main(["verify", "--claims", str(draft), str(papers)]) == 0
    said = capsys.readouterr().out
    assert "line 1  The valve had failed before." in said and "> The same valve had failed nine times" in said
    assert said.endswith("1 claim\n")


def test_the_names_of_authors_support_no_claim(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, said = "Jane Miller, Valve Works Ltd.", "The pilot valve was made of brass by a small company in the north."
    papers = make_folder(home / "papers", {"miller-1979.md": f"{names}\n\n{said}"})
    passages = [Passage(0, len(names), 5), Passage(len(names) + 2, len(names) + 2 + len(said), 12)]
    with Store.open(index_path(papers), root=papers) as store:
        text = DocumentText(f"{names}\n\n{said}", (), "")
        stamp = FileStamp("miller-1979.md", len(text.text), 1, 1)
        store.add_document(stamp, hashlib.sha256(b"new").digest(), text, passages)
    draft = home / "claims.md"
    draft.write_text("Miller's works made the valve [@miller1979].")
    main(["verify", "--claims", str(draft), str(papers), "--json"])
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert claim["text"] == said


def test_the_app_lists_the_quotations_of_a_draft_with_what_is_wrong_first(papers: Path) -> None:
    draft = papers.parent / "my draft.md"
    draft.write_text(f"“{SAID}”.\n\n“the same valve had failed seven times before at plants of this design”")
    backend = AppBackend(papers)
    results = backend.search(f"verify: {draft}", SearchMode.WORDS)
    assert results.note == "1 verbatim, 1 changed"
    assert [hit.title.partition(": ")[0] for hit in results.hits] == ["changed, line 3", "verbatim, line 1"]
    assert "seven → nine" in results.hits[0].title
    (passage,) = results.hits[1].passages
    assert backend.document(results.hits[1].document_id).text[passage.start : passage.stop] == passage.text
    assert passage.text.casefold() == SAID
    with pytest.raises(QueryError, match="no draft of this name"):
        backend.search(f"verify: {draft}x", SearchMode.WORDS)


def test_what_was_judged_before_ctrl_c_is_printed(
    papers: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Iterator[Verdict]:
        yield next(verify(*given))
        raise KeyboardInterrupt

    draft = papers.parent / "draft.md"
    draft.write_text(f"“{SAID}” and “the blue tulips of the garden were sold” on a Tuesday.")
    monkeypatch.setattr("longsearch.app.evidence.verifying.verify", interrupted)
    assert main(["verify", str(draft), str(papers), "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert (found["counts"]["verbatim"], len(found["quotations"]), found["not_looked_up"]) == (1, 1, 1)
    assert main(["verify", str(draft), str(papers)]) == 130
    assert "2 quotations: 1 verbatim; 1 not looked up" in capsys.readouterr().out


@pytest.mark.parametrize("claims", [(), ("--claims",)], ids=["quotations", "claims"])
def test_of_an_index_that_is_too_old_the_error_alone_is_said(
    papers: Path, capsys: pytest.CaptureFixture[str], claims: tuple[str, ...]
) -> None:
    draft = papers.parent / "draft.md"
    draft.write_text("The pump “had failed nine times before at plants of this design” (Miller 1979).")
    db = apsw.Connection(str(index_path(papers)))
    db.pragma("user_version", 1)
    db.close()
    assert main(["verify", str(draft), str(papers), *claims]) == EXIT_CANNOT
    said = capsys.readouterr()
    assert said.out == ""
    assert "older longsearch" in said.err
