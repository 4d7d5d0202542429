"""Every spelling of a number, a date or an identifier has a form in common with every other."""

import re
from datetime import date

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from longsearch.engine.languages import written_forms
from longsearch.engine.languages.asked_forms import asked
from longsearch.engine.languages.written_forms import written
from longsearch.engine.quantities import POINT

_MONTHS = (
    "Januar enero stycznia",
    "Februar febrero lutego",
    "März marzo marca",
    "April abril kwietnia",
    "Mai mayo maja",
    "Juni junio czerwca",
    "Juli julio lipca",
    "August agosto sierpnia",
    "September septiembre września",
    "Oktober octubre października",
    "November noviembre listopada",
    "Dezember diciembre grudnia",
)
"""In German, Spanish and Polish."""


def forms(text: str) -> set[str]:
    """The forms of a text as the index has them."""
    return {form for one in written(text) for form in one.forms}


def meet(document: str, query: str) -> bool:
    """Whether a query for one spelling finds a text with the other: by a form, or by the words themselves."""
    text = f"It says {document} here."
    held = f"{spaced(text)}{spaced(' '.join(forms(text)))}"
    wanted = {form for one in asked(query) if one.is_all_of(query) for form in one.forms} | {query}
    return any(spaced(form) in held for form in wanted)


def spaced(text: str) -> str:
    """A text as the word index compares phrases."""
    words = re.findall(r"[^\W_]+", text.lower().replace(POINT, "p"))
    return f" {' '.join(words)} "


def spellings_of_amount(cents: int) -> list[str]:
    whole, part = divmod(cents, 100)
    plain, end = f"{whole:,}", f"{part:02}"
    separated = [plain.replace(",", sign) for sign in (".", "'", "’", " ", "\u00a0", "\u202f")]
    return [f"{whole}.{end}", f"{whole},{end}", f"{plain}.{end}", *(f"{one},{end}" for one in separated)]


def spellings_of_day(day: date) -> list[str]:
    d, m, y = day.day, day.month, day.year
    english = day.strftime("%B"), day.strftime("%b")
    german, spanish, polish = _MONTHS[m - 1].split()
    named = [f"{d} {english[0]} {y}", f"{english[0]} {d}, {y}", f"{d} {english[1]} {y}", f"{english[1]}. {d} {y}"]
    named += [f"{y} {english[0]} {d}"]
    others = [f"{d}. {german} {y}", f"{d} de {spanish} de {y}", f"{d} {polish} {y}", f"{y}年{m}月{d}日"]
    numbers = [
        f"{y}-{m:02}-{d:02}",
        f"{d:02}.{m:02}.{y}",
        f"{d}.{m}.{y}",
        f"{d}/{m}/{y}",
        f"{m}/{d}/{y}",
        f"{y}/{m:02}/{d:02}",
    ]
    return [*named, *others, *numbers, f"{y}{m:02}{d:02}", f"{d:02}.{m:02}.{y % 100:02}"]


@given(st.integers(0, 10**11), st.data())
def test_any_spelling_of_an_amount_finds_any_other(cents: int, data: st.DataObject) -> None:
    spelt = st.sampled_from(spellings_of_amount(cents))
    assert meet(data.draw(spelt), data.draw(spelt))


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)), st.data())
@example(date(2021, 5, 17), None)
def test_any_spelling_of_a_day_finds_any_other(day: date, data: st.DataObject | None) -> None:
    spelt = spellings_of_day(day)
    pairs = (
        [(one, other) for one in spelt for other in spelt]
        if data is None
        else [(data.draw(st.sampled_from(spelt)), data.draw(st.sampled_from(spelt)))]
    )
    for one, other in pairs:
        assert meet(one, other), (one, other)


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)), st.dates(date(1970, 1, 1), date(2069, 12, 31)), st.data())
def test_another_day_is_not_found(one: date, other: date, data: st.DataObject) -> None:
    assume({one.day, one.month} != {other.day, other.month} or one.year != other.year)
    spelt = data.draw(st.sampled_from(spellings_of_day(one))), data.draw(st.sampled_from(spellings_of_day(other)))
    assert not meet(*spelt)


@given(st.from_regex(r"[A-Z]{2}[0-9]{2}([A-Z]{4})?([0-9]{4}){3,5}[0-9]{0,3}", fullmatch=True), st.data())
def test_an_iban_is_found_with_and_without_groups(iban: str, data: st.DataObject) -> None:
    grouped = " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))
    spelt = st.sampled_from([iban, grouped, grouped.replace(" ", "\u00a0"), grouped.replace(" ", "-")])
    assert meet(data.draw(spelt), data.draw(spelt))
    assert meet(grouped, grouped.lower())


@pytest.mark.parametrize(
    "spelt",
    [
        ["+49 30 1234567", "+49 (0)30 1234567", "0049 30 1234567", "030 1234567", "030/1234567", "(030) 123-45-67",
         "0301234567", "+49301234567"],
        ["(415) 555-2671", "+1 415 555 2671", "415-555-2671", "1-415-555-2671", "415.555.2671", "+14155552671"],
        ["8 (495) 123-45-67", "+7 495 123 45 67", "8-495-123-45-67"],
        ["4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"],
        ["7XK-440-B", "7XK 440 B", "7xk440b", "7XK440B", "7xk-440-b"],
        ["ISO 9001", "ISO-9001", "ISO9001", "iso 9001"],
        ["CVE-2021-44228", "CVE 2021-44228", "cve-2021-44228"],
        ["978-3-16-148410-0", "9783161484100", "ISBN 3-16-148410-X", "isbn:316148410X", "ISBN 978 3 16 148410 0"],
        ["arXiv:1706.03762", "arXiv:1706.03762v5", "https://arxiv.org/abs/1706.03762", "1706.03762",
         "https://arxiv.org/pdf/1706.03762v2.pdf"],
        ["12,5 %", "12.5%", "12.50 %"],
        ["12,34,567.5", "1,234,567.5", "1234567.50"],
        ["0049 (0)89 12 34 56-78", "089 12345678"],
    ],
)  # fmt: skip
def test_the_spellings_of_one_number_find_each_other(spelt: list[str]) -> None:
    for one in spelt:
        for other in spelt:
            assert meet(one, other), (one, other)


def test_a_part_number_may_be_typed_in_words_of_any_case() -> None:
    assert ("7xk440b",) in [one.forms for one in asked("7xk 440 b")]


def test_a_doi_is_looked_up_without_what_stands_before_it() -> None:
    for spelt in ("doi:10.1000/xyz123", "https://doi.org/10.1000/xyz123", "10.1000/XYZ123", "doi 10.1000/xyz123."):
        assert [one.forms for one in asked(spelt)] == [("10.1000/xyz123",)]


def test_an_address_is_looked_up_as_others_write_it() -> None:
    ((known,),) = (one.forms for one in asked("https://www.example.org/a/b/?utm_source=x"))
    assert known == "example.org/a/b"
    assert [one.forms for one in asked("mailto:eva.lind@example.org,")] == [("eva.lind@example.org",)]
    orcid = {form for one in asked("https://orcid.org/0000-0002-1825-0097") for form in one.forms}
    assert {"0000000218250097", "0000-0002-1825-0097"} <= orcid


@pytest.mark.parametrize("typed", ["15:00", "15h00", "3 pm", "3pm", "3 p.m.", "3:00 PM"])
def test_a_time_of_day_has_the_forms_of_both_clocks(typed: str) -> None:
    found = {form for one in asked(typed) for form in one.forms}
    assert {"15 00", "3 pm", "3pm", "3 00 pm", "3 p m"} <= found


@pytest.mark.parametrize("typed", ["10:20:30", "1:3", "25:00", "3 pmt", "3.15"])
def test_what_is_no_time_of_day_has_no_other_clock(typed: str) -> None:
    assert not any(" pm" in form or " am" in form for one in asked(typed) for form in one.forms)


def test_what_is_ambiguous_has_both_forms() -> None:
    assert {"20210403", "20210304"} <= forms("due 03/04/2021")
    assert meet("1,234 km", "1234")
    assert meet("1.234 km", "1,234")


def test_an_amount_is_not_found_by_another() -> None:
    assert not meet("12 pages", "12,000")
    assert not meet("page 9001", "ISO-9001")
    assert not meet("1.234,56", "1.234,57")


def test_a_month_finds_its_days_and_a_day_does_not_find_its_month() -> None:
    assert meet("17 May 2021", "2021-05")
    assert meet("17.05.2021", "May 2021")
    assert not meet("in May 2021", "2021-05-17")


@pytest.mark.parametrize("text", ["in 2021", "1914-1918", "10:30", "v1.2.3", "page 17", "a-b"])
def test_a_plain_number_has_no_other_form(text: str) -> None:
    assert forms(text) == set()


@given(st.text(max_size=120) | st.text(alphabet="0123456789 .,-/()+ABdeXxMay年月'’٣ISOisbn:\n", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    for one in [*written(text), *asked(text)]:
        assert 0 <= one.start < one.stop <= len(text)
        assert all(one.forms)


_SCRAPS = """
10. 10.1000/x 2101.12345 978-0-306-40615-7 DE44500105175407324931 2021/mayo/3 2021年5月 2021-05 17/05/2021 05/2021
AB-12-CD 2021 -05- /3/ 17. 5. May de d'abril 年 5月 +49 030 1234567 ( ) 555-0199 RFC SHA-256 A4 Q2 - ‑ – . , / _ x v2
1e3 ٢٠٢١ １２ ² isbn doi: é
"""


@example([("2021/mayo/3", ""), ("AB-12-CD", " ")])
@given(
    st.lists(st.tuples(st.sampled_from(_SCRAPS.split()), st.sampled_from(["", " ", "\n", "\u00a0", "  "])), max_size=12)
)
def test_a_kind_that_is_passed_over_by_the_shape_of_a_text_is_not_in_it(scraps: list[tuple[str, str]]) -> None:
    text = "".join(map("".join, scraps))
    slow = [kind._replace(needs=re.compile(""), n_digits=0) for kind in written_forms._KINDS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(written_forms, "_KINDS", slow)
        expected = written(text)
    assert written(text) == expected


@pytest.mark.parametrize("row", ["0000001 ", "0f1a", "A0. ", "0.0 ", "1 km ", "a1-", "٣"])
def test_half_a_million_characters_without_an_end_are_read_in_one_pass(row: str) -> None:
    # a pattern that begins anew at each of them would take ten minutes, not a second
    assert isinstance(written((row * 500_000)[:500_000]), list)


def test_a_number_in_other_digits_has_its_form_unless_it_is_longer_than_any_word() -> None:
    assert written("٣٤")[0].forms == ("34",)
    assert written("٣" * 5_000) == []
