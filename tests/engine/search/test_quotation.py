"""A quotation is found in its document and on its page: verbatim, differently printed, scanned badly or changed."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import QueryError
from longsearch.engine.query_language.file_filter import FileFilter
from longsearch.engine.search.quotations import quotation
from longsearch.engine.search.quotations.quotation import MAX_CHARACTERS
from longsearch.engine.store.store import Store
from tests.engine.search.search_helpers import add
from tests.engine.store.store_helpers import of_store

find_quotation = of_store(quotation.find_quotation)

FIRST = "The committee found that the same valve had failed nine times before at plants of this design."
SECOND = "No instrument in the control room showed the “first” position of the valve itself: only the solenoid's infor-"
THIRD = (
    "mation was shown, and the oﬃcers on duty — it’s recorded — believed it until the café closed at half past nine."
)
OTHERS = [
    f"Page {number} speaks of {subject}, of the valve, of plants and of times before."
    for number, subject in enumerate(("pumps", "pipes", "towers", "cranes", "gates"))
]


@pytest.fixture
def report(store: Store) -> Store:
    add(store, "report.pdf", [*OTHERS[:2], FIRST, SECOND, THIRD, *OTHERS[2:]], title="Report")
    add(store, "other.md", OTHERS, title="Other")
    return store


def test_a_verbatim_quotation_says_its_document_page_and_place(report: Store) -> None:
    (found,) = find_quotation(report, "the same valve  had failed\nnine times")
    assert (found.path, found.title, found.page, found.heading) == ("/papers/report.pdf", "Report", 3, "On report.pdf")
    assert (found.text, found.similarity, found.is_verbatim) == ("the same valve had failed nine times", 1.0, True)
    with report.reading() as db:
        from longsearch.engine.store import documents

        assert documents.text(db, found.document_id).text[found.start : found.stop] == found.text


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("THE SAME VALVE HAD FAILED", "the same valve had failed"),
        ('showed the "first" position', "showed the “first” position"),
        ("the solenoid’s information was shown", "the solenoid's infor-\nmation was shown"),
        ("solenoid's infor- mation WAS", "solenoid's infor-\nmation was"),
        ("and the officers on duty, it's recorded, believed", "and the oﬃcers on duty — it’s recorded — believed"),
        ("until the cafe closed", "until the café closed"),
        ("“only the solenoid's information…”", "only the solenoid's infor-\nmation"),
    ],
)
def test_differences_in_print_are_none(report: Store, quote: str, text: str) -> None:
    (found,) = find_quotation(report, quote)
    assert (found.text, found.similarity, found.is_verbatim) == (text, 1.0, False)


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("הַוַּעֲדָה מָצְאָה כִּי הַשַּׁסְתּוֹם נִכְשַׁל תֵּשַׁע פְּעָמִים", "הַשַּׁסְתּוֹם נִכְשַׁל תֵּשַׁע"),
        ("הַוַּעֲדָה מָצְאָה כִּי הַשַּׁסְתּוֹם נִכְשַׁל תֵּשַׁע פְּעָמִים", "השסתום נכשל תשע"),
        ("وَجَدَتِ اللَّجْنَةُ أَنَّ الصِّمَامَ نَفْسَهُ قَدْ فَشِلَ تِسْعَ مَرَّاتٍ", "أَنَّ الصِّمَامَ نَفْسَهُ قَدْ فَشِلَ"),
        ("وَجَدَتِ اللَّجْنَةُ أَنَّ الصِّمَامَ نَفْسَهُ قَدْ فَشِلَ تِسْعَ مَرَّاتٍ", "أن الصمام نفسه قد فشل"),
        ("यह पुस्तक उन लोगों के लिए है जो योगदान देना चाहते हैं", "लोगों के लिए है जो योगदान"),
        ("เอกสารนี้อธิบายวิธีการติดตั้งระบบและการตั้งค่าเครือข่าย", "วิธีการติดตั้งระบบ"),
        ("このガイドは、オープンソースを始めたい人のために書かれました。", "始めたい人のために"),
        ("協定は署名の日から三十日後に効\n力を生ずるものとする", "三十日後に効力を生ずる"),
    ],
    ids=["hebrew", "hebrew-without", "arabic", "arabic-without", "hindi", "thai", "japanese", "japanese-wrapped"],
)
def test_a_quotation_in_any_script_is_found_with_its_vowel_signs_and_without(
    store: Store, sentence: str, quote: str
) -> None:
    known = add(store, "first.md", [*OTHERS, sentence], title="First")
    add(store, "other.md", OTHERS, title="Other")
    assert [found.document_id for found in find_quotation(store, quote)] == [known]


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        (
            "この協定は署名の日から三十日後に効力を生ずるものとし相互に通知する",
            "協定は署名の日から三十月後に効力を生ずるものとし",
        ),
        (
            "委员会发现同一个阀门在此之前已经在类似的工厂中失效过九次",
            "委员会发现同一个阀门在此以前已经在类似的工厂中失效",
        ),
        ("เอกสารนี้อธิบายวิธีการติดตั้งระบบและการตั้งค่าเครือข่าย", "อธิบายวิธีการติดตั้งระบบกับการตั้งค่าเครือข่าย"),
        (
            "위원회는 같은 밸브가 이전에도 아홉 번이나 고장 났다는 사실을",
            "위원회는 같은 벨브가 이전에도 아홉 번이나 고장 났다는",
        ),
    ],
    ids=["japanese", "chinese", "thai", "korean"],
)
def test_a_changed_quotation_is_found_in_scripts_without_spaces(store: Store, sentence: str, quote: str) -> None:
    known = add(store, "first.md", [*OTHERS, sentence], title="First")
    add(store, "other.md", OTHERS, title="Other")
    (found,) = find_quotation(store, quote)
    assert found.document_id == known
    assert 0.7 < found.similarity < 1


@pytest.mark.parametrize(
    "quote",
    [
        "Tbe cornmittee f0und that the sarne valve had fai1ed nine tirnes",
        "the committee found that the valve had failed nine times before",
        "The committee discovered that the same valve had failed nine times",
        "plants of this design. No instruments in the control rooms showed the first position",
    ],
)
def test_a_quotation_that_was_scanned_or_changed_is_found_with_its_similarity(report: Store, quote: str) -> None:
    found = find_quotation(report, quote)[0]
    assert found.path == "/papers/report.pdf"
    assert 0.7 <= found.similarity < 1
    assert not found.is_verbatim


@pytest.mark.parametrize(
    "quote",
    [
        "The committee never looked at a single one of the pumps that afternoon in March.",
        "the smae valve",
        "nowhere",
        "dismal fjords beckon quietly",
    ],
)
def test_a_quotation_that_nobody_wrote_is_not_found(report: Store, quote: str) -> None:
    assert find_quotation(report, quote) == []


def test_each_place_is_listed_once_and_verbatim_ones_leave_the_others_out(report: Store) -> None:
    add(report, "copy.md", [FIRST], title="Copy")
    add(report, "changed.md", [FIRST.replace("nine", "ten").replace("plants", "works")], title="Changed")
    found = find_quotation(report, FIRST)
    assert [one.title for one in found] == ["Copy", "Report"]
    assert [one.title for one in find_quotation(report, FIRST, k=1)] == ["Copy"]
    near = find_quotation(report, FIRST.replace("found", "saw"))
    assert [one.title for one in near] == ["Copy", "Report", "Changed"]
    assert near[0].similarity > near[2].similarity


def test_only_admitted_files_are_searched(report: Store) -> None:
    add(report, "old/copy.md", [FIRST], title="Copy")
    assert [one.title for one in find_quotation(report, FIRST, file_filter=FileFilter("old"))] == ["Copy"]
    typed = FileFilter.of([("type", "pdf", False)])
    assert [one.title for one in find_quotation(report, FIRST, file_filter=typed)] == ["Report"]


def test_a_quotation_without_words_or_of_a_whole_page_is_refused(report: Store) -> None:
    for quote in ("", " … ", "“”"):
        with pytest.raises(QueryError, match="no words"):
            find_quotation(report, quote)
    with pytest.raises(QueryError, match="characters"):
        find_quotation(report, "valve " * MAX_CHARACTERS)


@given(st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_may_be_looked_for(report: Store, quote: str) -> None:
    try:
        find_quotation(report, quote)
    except QueryError as error:
        assert "no words" in error.message


def test_any_piece_of_a_document_is_found_in_it(store: Store, tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(400)]
    chosen = random.Random(7)
    sentences = [" ".join(chosen.choices(words, k=20)) for _ in range(30)]
    known = add(store, "long.md", sentences)
    whole = "\n".join(sentences)
    for _ in range(40):
        start = chosen.randrange(len(whole) - 120)
        quote = whole[start : start + 120].strip()
        found = find_quotation(store, quote)[0]
        assert (found.document_id, found.is_verbatim) == (known, True)
        assert whole[found.start : found.stop] == found.text
