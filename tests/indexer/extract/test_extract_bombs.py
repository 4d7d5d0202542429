"""Small files that demand much work: false page trees, streams that inflate, depth. Each ends soon."""

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from tests.indexer.extract.book_writing import archive
from tests.indexer.extract.office_writing import xlsx_parts
from tests.indexer.extracting import result_of
from tests.indexer.pdf_writing import assemble, lines_of, pdf, stream

PAGE = lines_of("The page called one has words\nand a second line")
DEFLATED = b"/Filter /FlateDecode"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
"""Far more than any of these files takes (1 to 3 s). Without limits they take hours or all memory."""


@pytest.fixture(scope="module")
def extractor() -> Iterator[ExtractorProcess]:
    with ExtractorProcess(page_timeout_s=5.0, document_timeout_s=6.0) as extractor:
        yield extractor


@pytest.fixture(scope="module")
def patient_extractor() -> Iterator[ExtractorProcess]:
    """An extractor that has time for the pages after one that ran into its limit, on a busy machine too."""
    with ExtractorProcess(page_timeout_s=5.0, document_timeout_s=25.0) as extractor:
        yield extractor


@pytest.fixture
def impatient_extractor() -> Iterator[ExtractorProcess]:
    """An extractor for a file of which nothing need be read."""
    with ExtractorProcess(page_timeout_s=1.0, document_timeout_s=2.0) as extractor:
        yield extractor


def read(extractor: ExtractorProcess, path: Path, data: bytes) -> Extraction | ExtractionError:
    """Extract `data`, which is small. The limits of the extractor end what would take hours."""
    assert len(data) < 200_000
    path.write_bytes(data)
    return result_of(extractor, path)


def page(number: int, parent: int = 2) -> dict[int, bytes]:
    """Return the objects of a page and its content stream."""
    body = b"BT /F1 11 Tf 72 700 Td (Some words on a page that is shared) Tj ET"
    resources = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    entry = b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources %s >>"
    return {number: entry % (parent, number + 1, resources), number + 1: stream(body)}


def shared_tree(depth: int, fan_out: int) -> Mapping[int, bytes]:
    """Return a page tree in which each level lists the next one `fan_out` times: `fan_out ** depth` times one page."""
    objects = {1: CATALOG} | page(100)
    for level in range(depth):
        kid = 3 + level if level + 1 < depth else 100
        kids = b"%d 0 R " % kid * fan_out
        objects[2 + level] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (fan_out ** (depth - level), kids)
    return objects


def test_a_million_references_to_one_page_are_limited(impatient_extractor: ExtractorProcess, tmp_path: Path) -> None:
    result = read(impatient_extractor, tmp_path / "a.pdf", assemble(shared_tree(6, 10), root=1))
    if isinstance(result, ExtractionError):
        assert result.hint
    else:
        assert result.partial_reason
        assert len(result.document.page_starts) <= 1_000_000


def test_a_million_pages_with_nothing_on_them_are_given_up_soon(tmp_path: Path) -> None:
    objects = {1: CATALOG, 2: b"<< /Type /Pages /Count 60000 /Kids [%s] >>" % (b"3 0 R " * 60_000)}
    objects[3] = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>"
    (tmp_path / "a.pdf").write_bytes(assemble(objects, root=1))
    with ExtractorProcess(document_timeout_s=60.0) as extractor:
        found = result_of(extractor, tmp_path / "a.pdf")
    assert isinstance(found, ExtractionError)
    assert "10,000 pages in a row with nothing on them" in found.message


def test_a_long_text_that_a_sheet_repeats_ends_at_the_limit_for_tables(tmp_path: Path) -> None:
    members = xlsx_parts({"Big": []})
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c><c r="B{n}" t="s"><v>0</v></c></row>' for n in range(999)
    )
    members["xl/s1.xml"] = f"<worksheet><sheetData>{rows}</sheetData></worksheet>"
    members["xl/sharedStrings.xml"] = f"<sst><si><t>{'ab' * 200_000}</t></si></sst>"
    with ExtractorProcess(document_timeout_s=60.0) as extractor:
        found = extractor.extract(archive(tmp_path / "a.xlsx", members))
    assert found.partial_reason.startswith("read to its limit for tables only")
    assert len(found.document.text) < 6_000_000


def test_a_page_that_its_parser_never_finishes_is_read_without_its_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longsearch.indexer.extract.reader.HTML_TIMEOUT_S", 0.5)
    monkeypatch.setattr("longsearch.indexer.extract.reader.HTML_S_PER_MB", 0.0)
    deep = "<div>" * 700_000 + "<script>gone<b></script>The ice &amp; the<p>fog<style>gone" + "</div>" * 700_000
    (tmp_path / "a.html").write_text(deep)
    with ExtractorProcess() as extractor:
        found = extractor.extract(tmp_path / "a.html")
    assert found.document.text == "The ice & the fog"
    assert found.partial_reason == "too deep or too odd for its parser: read without its marks"


@pytest.mark.parametrize("count", [-1, 0, 7, 1_000_000, 2_000_000, 2**31 - 1, 2**63])
def test_a_page_tree_that_lies_about_its_pages_is_read_or_refused(
    extractor: ExtractorProcess, tmp_path: Path, count: int
) -> None:
    tree = {1: CATALOG, 2: b"<< /Type /Pages /Count %d /Kids [100 0 R] >>" % count} | page(100)
    result = read(extractor, tmp_path / "a.pdf", assemble(tree, root=1))
    if isinstance(result, ExtractionError):
        assert result.hint
    else:
        assert "Some words on a page" in result.document.text


def test_a_page_tree_of_two_thousand_levels_is_read_or_refused(extractor: ExtractorProcess, tmp_path: Path) -> None:
    depth = 2000
    tree = {1: CATALOG} | {n: b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (n + 1) for n in range(2, depth)}
    result = read(extractor, tmp_path / "a.pdf", assemble(tree | page(depth, parent=depth - 1), root=1))
    assert isinstance(result, Extraction) or result.hint


@pytest.mark.parametrize("kids", [b"2 0 R", b"2 0 R 2 0 R", b"3 0 R"], ids=["itself", "itself twice", "in a circle"])
def test_a_circular_page_tree_is_read_or_refused(extractor: ExtractorProcess, tmp_path: Path, kids: bytes) -> None:
    tree = {
        1: CATALOG,
        2: b"<< /Type /Pages /Count 2 /Kids [%s 100 0 R] >>" % kids,
        3: b"<< /Type /Pages /Count 1 /Kids [2 0 R] >>",
    } | page(100)
    result = read(extractor, tmp_path / "a.pdf", assemble(tree, root=1))
    assert isinstance(result, Extraction) or result.hint


def deflated_again(data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return data


SWELLING = {
    "100 MB of spaces": stream(deflated_again(b" " * 100_000_000, 1), DEFLATED),
    "100 MB twice deflated": stream(deflated_again(b" " * 100_000_000, 2), b"/Filter [/FlateDecode /FlateDecode]"),
    "20 MB of operators": stream(zlib.compress(b"0 0 m 9 9 l S " * 1_400_000, 9), DEFLATED),
    "20 MB of one word": stream(
        zlib.compress(b"BT /F1 9 Tf 72 700 Td (" + b"words " * 3_400_000 + b") Tj ET", 9), DEFLATED
    ),
}


@pytest.mark.parametrize("name", SWELLING)
def test_a_stream_that_inflates_loses_only_its_own_page(
    patient_extractor: ExtractorProcess, tmp_path: Path, name: str
) -> None:
    data = pdf([PAGE, b"q Q", PAGE], extra={13: SWELLING[name]})
    result = read(patient_extractor, tmp_path / "a.pdf", data)
    assert isinstance(result, Extraction)
    assert result.document.text.count("The page called one") == 2


def test_the_extractor_still_reads_a_normal_file_afterwards(extractor: ExtractorProcess, tmp_path: Path) -> None:
    result = read(extractor, tmp_path / "a.pdf", pdf([PAGE]))
    assert isinstance(result, Extraction)
    assert result.partial_reason == ""
