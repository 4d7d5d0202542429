"""Dates in free text and in paths; lying dates are no dates."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.dates import date_in_path, first_day, last_day, make_date, parse_date


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("D:20040612103000+02'00'", "2004-06-12"),
        ("D:2004", "2004"),
        ("2021-05-17T10:00:00Z", "2021-05-17"),
        ("2021/5", "2021-05"),
        ("20210517", "2021-05-17"),
        ("<2021-05-17 Mon>", "2021-05-17"),
        ("17 May 2021", "2021-05-17"),
        ("1st March, 1999", "1999-03-01"),
        ("May 17, 2021", "2021-05-17"),
        ("Sept. 2021", "2021-09"),
        ("3. Mai 2021", "2021-05-03"),
        ("1er août 2021", "2021-08-01"),
        ("3 de mayo de 2021", "2021-05-03"),
        ("1º de outubro de 2021", "2021-10-01"),
        ("3 мая 2021 г.", "2021-05-03"),
        ("Dezember 2021", "2021-12"),
        ("juillet 2021", "2021-07"),
        ("juin 2021", "2021-06"),
        ("03.05.2021", "2021-05-03"),
        ("31. 12. 2021", "2021-12-31"),
        ("31.31.2021", "2021"),
        ("2021年5月3日", "2021-05-03"),
        ("2021년 5월", "2021-05"),
        ("2021年", "2021"),
        ("maintained 2021", "2021"),
        ("Spring 2021", "2021"),
        ("1776", "1776"),
        ("03/04/2021", "2021"),
        ("0000-00-00", ""),
        ("9999-12-31", ""),
        ("0101-01-01T00:00:00+00:00", ""),
        ("2021-13-45", ""),
        ("12", ""),
        ("", ""),
    ],
)
def test_a_date_says_no_more_than_the_text(text: str, found: str) -> None:
    assert parse_date(text) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("2021-05-17 notes.md", "2021-05-17"),
        ("img_20210517.txt", "2021-05-17"),
        ("2021_05.md", "2021-05"),
        ("report 2019.pdf", "2019"),
        ("a-mathematical-theory-of-communication-1948.pdf", "1948"),
        ("1706.03762v5.pdf", "2017-06"),
        ("2019/05/17/walk.md", "2019-05-17"),
        ("2019/05/17 walk.md", "2019-05-17"),
        ("2019/13 monkeys.md", "2019"),
        ("journal/2020/2021-03-04.md", "2021-03-04"),
        ("1984.epub", ""),
        ("2048-bit keys.pdf", ""),
        ("x2019.pdf", ""),
        ("202105.md", ""),
        ("1999 to 2003.md", ""),
        ("a/b.md", ""),
    ],
)
def test_a_path_may_name_a_date(path: str, found: str) -> None:
    assert date_in_path(path) == found


@given(st.one_of(st.text(), st.from_regex(r"[0-9/. -]{0,30}"), st.integers().map(str)))
def test_any_text_gives_a_date_between_the_year_1000_and_next_year_or_none(text: str) -> None:
    for found in (parse_date(text), date_in_path(text)):
        if found:
            parts = [int(part) for part in found.split("-")]
            assert 1000 <= parts[0] <= date.today().year + 1
            assert make_date(*parts) == found


@given(st.dates(date(1000, 1, 1), date(2020, 12, 31)))
def test_every_day_is_read_back_and_lies_in_its_month_and_its_year(day: date) -> None:
    assert parse_date(day.isoformat()) == day.isoformat()
    assert parse_date(f"D:{day:%d}"[:2] + f"{day.year:04}{day.month:02}{day.day:02}000000Z") == day.isoformat()
    for length in (4, 7, 10):
        part = day.isoformat()[:length]
        assert first_day(part) <= day.isoformat() <= last_day(part)
        assert len(first_day(part)) == len(last_day(part)) == 10
