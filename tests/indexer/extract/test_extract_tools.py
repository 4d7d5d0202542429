"""Files that programs read: DjVu, MOBI and a person's own adapters, within the limits of the child."""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError, TimedOutError
from longsearch.indexer.extract import tools
from longsearch.indexer.extract.formats import Format, format_of, is_readable, use_adapters
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.extract.tools import folder_of
from tests.indexer.extract.book_writing import archive, docx_parts, epub_parts, paragraph
from tests.indexer.extract.mail_writing import eml
from tests.indexer.extract.mobi_writing import mobi
from tests.indexer.extract.office_writing import xlsx_parts, zipped
from tests.indexer.extracting import page_text

Programs = Callable[[Mapping[str, str]], None]


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {' and '.join(missing)}")


@pytest.fixture(autouse=True)
def no_adapters() -> Iterator[None]:
    yield
    use_adapters({})


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Make shell scripts the only programs on the path, besides those of POSIX."""

    def make(scripts: Mapping[str, str]) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o700)
        # mobitool and the like may be installed in /usr/bin, so these scripts need the shell alone
        monkeypatch.setenv("PATH", str(folder))

    return make


@pytest.fixture
def extract(tmp_path: Path) -> Iterator[Callable[..., Extraction]]:
    """Extract in a child that starts after the test has set its environment."""
    with ExtractorProcess(document_timeout_s=60.0) as extractor:

        def extract(data: bytes, name: str) -> Extraction:
            (tmp_path / name).write_bytes(data)
            return extractor.extract(tmp_path / name)

        yield extract


Extract = Callable[[bytes, str], Extraction]


def test_an_adapter_prints_the_text_of_a_file(extract: Extract, programs: Programs) -> None:
    programs({"shout": 'echo "$1 $3"; read line < "$2"; printf "%s\\f%s" "$line" second'})
    use_adapters({".XYZ": ("shout", "--loud", "{path}", "end")})
    found = extract("Zeile mit Umläuten\n".encode(), "a.xyz")
    assert page_text(found, 1).strip() == "--loud end\nZeile mit Umläuten"
    assert page_text(found, 2) == "second"


def test_an_adapter_goes_before_the_reader_of_the_same_ending(extract: Extract, programs: Programs) -> None:
    assert format_of("a.md") is Format.MARKDOWN
    assert not is_readable("a.xyz")
    programs({"say": 'echo "read by say: $1"'})
    use_adapters({".md": ("say",), ".xyz": ("say",)})
    assert is_readable("A.XYZ")
    assert extract(b"# One", "a.md").document.text.startswith("read by say: /")
    use_adapters({})
    assert not is_readable("a.xyz")
    assert extract(b"# One", "b.md").document.text == "One"


def test_a_program_that_fails_or_is_missing_gives_a_reason(extract: Extract, programs: Programs) -> None:
    programs(
        {"fail": 'echo "no such \x1b[31mthing" >&2; exit 3', "quiet": "exit 4", "dumb": ":", "binary": r"printf '\0\1'"}
    )
    use_adapters({f".{name}": (name,) for name in ("fail", "quiet", "dumb", "binary", "gone")})
    reasons = {
        "fail": "fail cannot read it: no such thing",
        "quiet": "quiet cannot read it: status 4",
        "dumb": "no text in it",
        "binary": "not text: binary data",
        "gone": "needs gone, which is not installed",
    }
    for name, reason in reasons.items():
        with pytest.raises(ExtractionError) as caught:
            extract(b"x", f"a.{name}")
        assert caught.value.message == reason


def test_a_program_that_never_ends_is_killed_and_its_folder_removed(programs: Programs, tmp_path: Path) -> None:
    programs({"hang": 'echo $$ > "$TMPDIR/pid"; : > "$TMPDIR/left"; while :; do :; done'})
    use_adapters({".xyz": ("hang",)})
    (tmp_path / "a.xyz").write_bytes(b"x")
    with ExtractorProcess(document_timeout_s=4.0) as extractor:
        with pytest.raises(TimedOutError, match="took more than 4 s"):
            extractor.extract(tmp_path / "a.xyz")
        (tmp_path / "a.txt").write_text("still reads")
        assert extractor.extract(tmp_path / "a.txt").document.text == "still reads"
        assert extractor.child_pid is not None
        assert not folder_of(extractor.child_pid).exists()
    assert not list(folder_of(1).parent.glob(f"{folder_of(1).name[:-1]}*/left"))


def test_a_program_that_prints_without_end_is_stopped(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs({"flood": f"while echo {'x' * 1000}; do :; done"})
    monkeypatch.setattr(tools, "MAX_TEXT_FILE_BYTES", 2_000_000)
    with pytest.raises(ExtractionError, match="flood prints more than 2 MB of text"):
        tools.text_from(["flood"], "/a.xyz")


def test_a_program_may_write_into_its_own_folder_which_is_removed(extract: Extract, programs: Programs) -> None:
    programs({"write": 'echo words > "$2/out"; read line < "$2/out"; echo "$line in $PWD"; test "$PWD" = "$2"'})
    use_adapters({".xyz": ("write", "{path}", "{folder}")})
    folder = Path(extract(b"x", "a.xyz").document.text.removeprefix("words in "))
    assert folder.name.startswith("longsearch-child-")
    assert not folder.exists()


def test_djvu_and_mobi_say_which_program_they_need(extract: Extract, programs: Programs) -> None:
    programs({})
    with pytest.raises(ExtractionError, match="DjVu needs djvutxt") as caught:
        extract(b"AT&TFORM", "a.djvu")
    assert "djvulibre" in caught.value.hint
    with pytest.raises(ExtractionError, match="MOBI needs mobitool or ebook-convert"):
        extract(b"BOOKMOBI", "a.mobi")
    found = extract(eml(attachments=[("a.djvu", b"AT&TFORM")]), "a.eml")
    assert found.partial_reason.startswith("attachments that cannot be read: a.djvu: ")


def test_a_mobi_is_read_through_the_epub_that_a_program_makes_of_it(
    extract: Extract, programs: Programs, tmp_path: Path
) -> None:
    copy = 'while IFS= read -r line; do :; done < "$1"; /bin/cp "${0%/*}/made.epub" "$2"'
    programs({"ebook-convert": copy})
    book = zipped(epub_parts({"a.xhtml": "<h1>One</h1>words", "b.xhtml": "more"}, "Bees"))
    (tmp_path / "bin" / "made.epub").write_bytes(book)  # beside the program: it may read nothing of a person's
    found = extract(b"BOOKMOBI\n", "a.azw3")
    assert found.document.title == "Bees"
    assert page_text(found, 2) == "more"


def test_a_mobi_without_a_book_in_it_says_so(extract: Extract, programs: Programs) -> None:
    programs({"mobitool": ":"})
    with pytest.raises(ExtractionError, match="mobitool found no book in it"):
        extract(b"BOOKMOBI", "a.mobi")


BOOK = mobi(
    b"<html><body><h1>First part</h1><p>The bees swarm in May.</p><h1>Second</h1><p>Rest.</p></body></html>", b"Bees"
)


@needs("mobitool")
def test_mobitool_reads_a_mobi(extract: Extract) -> None:
    document = extract(BOOK, "a.mobi").document
    assert document.text == "First part\n\nThe bees swarm in May.\n\nSecond\n\nRest."
    assert document.title == "Bees"
    assert [value.value for value in document.metadata if value.field == "author"] == ["Ann Author"]


@needs("mobitool")
@pytest.mark.parametrize("data", [BOOK[:300], b"BOOKMOBI", bytes(5000)], ids=["cut off", "a few bytes", "zeros"])
def test_mobitool_refuses_a_damaged_mobi(extract: Extract, data: bytes) -> None:
    with pytest.raises(ExtractionError, match="mobitool"):
        extract(data, "a.mobi")


@needs("djvutxt", "cjb2", "djvused", "djvm")
def test_djvutxt_reads_the_text_layer_of_each_page(extract: Extract, tmp_path: Path) -> None:
    pages = []
    for number, words in enumerate(("the first page", "the second page"), start=1):
        picture, page, text = (tmp_path / f"{number}.{suffix}" for suffix in ("pbm", "djvu", "txt"))
        picture.write_bytes(b"P4 8 8\n" + bytes(8))
        text.write_text(f'(page 0 0 8 8 "{words}")')
        subprocess.run(["cjb2", picture, page], check=True)
        subprocess.run(["djvused", page, "-e", f"select 1; set-txt {text}", "-s"], check=True)
        pages.append(page)
    subprocess.run(["djvm", "-c", tmp_path / "all.djvu", *pages], check=True)
    found = extract((tmp_path / "all.djvu").read_bytes(), "a.djvu")
    assert page_text(found, 1).strip() == "the first page"
    assert page_text(found, 2).strip() == "the second page"
    with pytest.raises(ExtractionError, match=r"no text in it|djvutxt cannot read it"):
        extract(b"AT&TFORM" + bytes(40), "b.djvu")
    with pytest.raises(ExtractionError, match=r"no text in it|djvutxt cannot read it"):
        extract(b"no DjVu", "c.djvu")


# Finds the folder and the file among the arguments of LibreOffice, and answers with a file that lies beside itself.
SOFFICE = """while [ $# -gt 1 ]; do [ "$1" = --outdir ] && out=$2; [ "$1" = --convert-to ] && to=$2; shift; done
IFS= read -r head < "$1"
case "$head" in *broken*) echo "no filter" >&2; exit 1;; esac
"""
OLE = b"\xd0\xcf\x11\xe0"


def test_old_office_files_are_read_through_libreoffice(extract: Extract, programs: Programs, tmp_path: Path) -> None:
    programs({"soffice": f'{SOFFICE}{shutil.which("cp")} "${{0%/*}}/${{1##*/}}.$to" "$out/made.$to"'})
    archive(tmp_path / "bin" / "a.doc.docx", docx_parts(paragraph("Words of 1997.")))
    assert extract(OLE + b"\n", "a.doc").document.text == "Words of 1997."
    (tmp_path / "bin" / "b.xls.xlsx").write_bytes(zipped(xlsx_parts({"A": [["shown"]]})))
    assert extract(OLE + b"\n", "b.xls").document.text == "A\nshown"
    with pytest.raises(ExtractionError, match="soffice cannot read it: no filter"):
        extract(OLE + b"broken\n", "c.ppt")


def test_old_office_files_need_libreoffice_unless_they_are_something_else(extract: Extract, programs: Programs) -> None:
    programs({})
    with pytest.raises(ExtractionError, match="needs LibreOffice"):
        extract(OLE + b"\n", "a.doc")
    assert extract(rb"{\rtf1 Rich words.}", "b.doc").document.text == "Rich words."
    assert extract(b"<html><p>A page.</p></html>", "c.doc").document.text == "A page."
    with pytest.raises(ExtractionError, match="not an office file"):
        extract(b"just words", "d.doc")
