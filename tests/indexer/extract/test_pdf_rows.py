"""Tables, columns, numbered lines, letters set apart, glued words and fonts of numbers: what a page shows, in order."""

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longsearch.indexer.extract.pdf.ciphers import is_garbage, shift_of, shifted, unswapped
from longsearch.indexer.extract.pdf.gaps import glued_lines, letters_in, may_be_glued
from longsearch.indexer.extract.pdf.pages import LINE_END, clean_line, clean_lines
from longsearch.indexer.extract.reader import Extraction
from tests.indexer.pdf_writing import DEFAULT_FONT, Line, pdf, stream

Extract = Callable[..., Extraction]
SHIPS = [("Ship", "Master", "Tons"), ("Heron", "Tor Vik", "112"), ("Loon", "Siv Aas", "86"), ("Auk", "Jon Bru", "240")]
COLUMNS = (72, 220, 400)
LEFT = [
    "The keeper of the light at Vik",
    "wrote down each ship that",
    "passed the point in a storm,",
    "and counted the lost boats.",
]
RIGHT = [
    "His daughter trimmed the lamp",
    "every second hour until dawn,",
    "and slept in the afternoon by",
    "the warm wall of the stairs.",
]
PROSE = "The keeper wrote down each ship that passed the point in a storm, and counted the lost boats in spring."


def read(extract: Extract, lines: Sequence[Line]) -> str:
    return extract(pdf([list(lines)])).document.text


def cells(rows: Sequence[Sequence[str]], by_columns: bool, right: bool = False) -> list[Line]:
    placed = [
        (column, Line(text, 700 - 16 * row, COLUMNS[column] + (60 - 5.5 * len(text) if right and column == 2 else 0)))
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
        if text
    ]
    return [line for _, line in (sorted(placed, key=lambda one: one[0]) if by_columns else placed)]


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_each_row_of_a_table_is_a_line_however_it_was_drawn(extract: Extract, by_columns: bool, right: bool) -> None:
    text = read(extract, [Line("Ships of the fjord", 740), *cells(SHIPS, by_columns, right)])
    assert text.endswith("Ship  Master  Tons\nHeron  Tor Vik  112\nLoon  Siv Aas  86\nAuk  Jon Bru  240")


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_long_table_says_the_names_of_its_columns_again(extract: Extract, by_columns: bool) -> None:
    rows = [(f"Windcatcher {number}", "Konstantin Vik", str(100 + number)) for number in range(30)]
    text = read(extract, cells([SHIPS[0], *rows], by_columns))
    assert text.count("Ship  Master  Tons\n") == 3
    assert [line for line in text.split("\n") if line != "Ship  Master  Tons"] == ["  ".join(row) for row in rows]


@pytest.mark.parametrize("first", [("Ship", "Master", "1887"), ("Ship", "Master", ""), ("Heron", "Tor Vik", "86")])
def test_a_first_row_that_may_be_no_names_is_said_once(extract: Extract, first: tuple[str, str, str]) -> None:
    rows = [(f"Windcatcher {number}", "Konstantin Vik", str(100 + number)) for number in range(30)]
    assert read(extract, cells([first, *rows], False)).count("  ".join(filter(None, first)) + "\n") == 1


def test_the_first_row_of_a_table_of_words_is_said_once(extract: Extract) -> None:
    rows = [(f"Windcatcher {number}", "Konstantin Vik", f"salt {number}") for number in range(30)]
    assert read(extract, cells([SHIPS[0], *rows], False)).count("Ship  Master  Tons") == 1


def test_a_table_follows_a_paragraph_on_a_line_of_its_own(extract: Extract) -> None:
    before = Line("The ships that lay in the fjord when the ice came are listed in this table with their", 740)
    assert "with their\nShip  Master  Tons\n" in read(extract, [before, *cells(SHIPS, False)])


def test_a_cell_of_several_lines_stays_in_its_row(extract: Extract) -> None:
    rows = [
        *[Line(text, 700, x) for text, x in zip(("Ship", "Cargo", "Tons"), COLUMNS, strict=True)],
        *[Line(text, 676, x) for text, x in zip(("Heron", "salt from the", "112"), COLUMNS, strict=True)],
        Line("south, in sacks", 663, COLUMNS[1]),
        *[Line(text, 639, x) for text, x in zip(("Loon", "timber", "86"), COLUMNS, strict=True)],
    ]
    assert "Heron  salt from the south, in sacks  112\nLoon  timber  86" in read(extract, rows)


TITLE = [Line("The Boats of Vik and", 760, 150, 24), Line("their Keepers", 734, 190, 24)]
BELOW = [
    *[Line(text, 700 - 14 * row, 72) for row, text in enumerate(LEFT)],
    *[Line(text, 700 - 14 * row, 320) for row, text in enumerate(RIGHT)],
]


def test_a_title_that_was_drawn_last_stands_before_the_text_and_after_the_running_head(extract: Extract) -> None:
    text = read(extract, [Line("Yearbook 1887", 780), *BELOW, *TITLE, Line("W", 640, 72, 28)])
    assert text.startswith("Yearbook 1887\n\nThe Boats of Vik and\n\ntheir Keepers\n\nThe keeper of the light at Vik")


@pytest.mark.parametrize(
    "late",
    [
        [Line("The Boats of Vik and their Keepers", 760, 150)],  # no larger than the text: a running head
        [Line("The Boats", 760, 72, 24)],  # above one column
        [Line("The Boats of Vik and", 695, 150, 24)],  # within the text
    ],
)
def test_what_may_be_no_title_stays_where_it_was_drawn(extract: Extract, late: list[Line]) -> None:
    assert read(extract, [*BELOW, *late]).startswith(LEFT[0])


def test_only_the_first_page_has_its_title_first(extract: Extract) -> None:
    text = extract(pdf([[*BELOW], [*BELOW, *TITLE]])).document.text
    assert text.endswith("their Keepers")


@pytest.mark.parametrize("by_columns", [False, True])
def test_columns_of_text_are_read_one_after_another(extract: Extract, by_columns: bool) -> None:
    left = [Line(text, 700 - 14 * row, 72) for row, text in enumerate(LEFT)]
    right = [Line(text, 700 - 14 * row, 320) for row, text in enumerate(RIGHT)]
    across = [line for pair in zip(left, right, strict=True) for line in pair]
    text = " ".join(read(extract, [*left, *right] if by_columns else across).split())
    assert text == " ".join([*LEFT, *RIGHT])


def test_the_numbers_of_the_lines_of_a_transcript_are_left_out(extract: Extract) -> None:
    words = [f"and the {name} witness said that she had seen the boat" for name in "abcdefghijkl"]
    lines = [
        part
        for number, text in enumerate(words, start=1)
        for part in (Line(str(number), 720 - 20 * number, 72), Line(text, 720 - 20 * number, 130))
    ]
    text = " ".join(read(extract, lines).split())
    assert text == " ".join(words)


def test_a_numbered_table_keeps_its_numbers(extract: Extract) -> None:
    rows = [(str(number), f"Boat {number}", str(10 * number)) for number in range(1, 11)]
    assert "3  Boat 3  30\n4  Boat 4  40" in read(extract, cells(rows, False))


def test_lines_set_to_the_full_width_stay_a_paragraph(extract: Extract) -> None:
    words = [
        ["wide", "gaps", "in", "every", "line"],
        ["make", "no", "table", "out", "of"],
        ["a", "plain", "sentence", "here", "today"],
    ]
    places = [(72, 140, 230, 300, 420), (72, 160, 210, 330, 431), (72, 110, 190, 300, 418)]
    lines = [
        Line(word, 700 - 13 * row, x)
        for row, texts in enumerate(words)
        for word, x in zip(texts, places[row], strict=True)
    ]
    assert read(extract, lines).split() == [word for texts in words for word in texts]


@pytest.mark.parametrize("pitch", [12, 16])
def test_letters_set_apart_are_words_again(extract: Extract, pitch: float) -> None:
    x, lines = 72.0, []
    for letter in "NOTICE TO MARINERS":
        lines += [Line(letter, 700, x)] if letter != " " else []
        x += pitch if letter != " " else 1.3 * pitch
    assert "NOTICE TO MARINERS" in read(extract, [*lines, Line(PROSE[:60], 660)])


def test_a_hyphen_joins_no_footnote_and_still_joins_words(extract: Extract) -> None:
    text = read(
        extract,
        [
            Line("The harbour master kept the con-", 700),
            Line("tract in the chest under the bo-", 686),
            Line("3 See the ledger.", 90, size=8),
        ],
    )
    assert "contract in the chest" in text
    assert "bo3" not in text and "\n3 See the ledger." in text


def test_a_sign_that_says_nothing_far_below_its_line_is_no_line(extract: Extract) -> None:
    private = b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <5A> <F8FA> endbfchar endcmap"
    lines = [Line(PROSE[:26], 700), Line("Z", 690, 230, size=16), Line(PROSE[27:], 660)]
    font = DEFAULT_FONT.replace(b">>", b"/ToUnicode 1001 0 R >>")
    text = extract(pdf([lines], font=font, extra={1001: stream(b"begincmap " + private)})).document.text
    assert text == f"{PROSE[:26]}\n{PROSE[27:]}"


def test_a_name_with_a_hyphen_and_a_number_keeps_both(extract: Extract) -> None:
    assert "IEEE-754 numbers" in read(
        extract, [Line("All the boats of this harbour use IEEE-", 700), Line("754 numbers", 686)]
    )


def test_words_that_stand_close_are_parted(extract: Extract) -> None:
    glued = b"BT /F1 11 Tf 72 700 Td [(Thecontainershipsofthe) -190 (harbourcompany)] TJ ET"
    text = extract(pdf([glued])).document.text
    assert text == "Thecontainershipsofthe harbourcompany"


def tight(parts: Sequence[str], gap: int) -> bytes:
    """Return a page that shows the parts of one line, each drawn alone, `gap` thousandths of the font size apart."""
    shown = b" [-%d] TJ " % gap
    line = shown.join(b"(%s) Tj" % part.encode() for part in parts)
    font = DEFAULT_FONT.replace(b"Helvetica", b"Times-Roman")
    return pdf([b"BT /F1 11 Tf 72 700 Td " + line + b" ET"], font=font)


def test_words_with_narrow_gaps_are_parted_where_a_small_word_shows_that_gaps_are_narrow(extract: Extract) -> None:
    text = extract(tight(["The fjord improves", "the boats, and each tablet", "server of the harbour"], 180))
    assert text.document.text == "The fjord improves the boats, and each tablet server of the harbour"


@pytest.mark.parametrize(
    ("parts", "gap"),
    [
        (["The fjord improves", "the boats"], 120),  # no gap between words
        (["The fjord improves our boats, and each tablet", "server of it"], 180),  # no small word shows it
        (["The island of a thousand proofs, onto the command of the pro", "of"], 0),
    ],
)
def test_words_without_a_sign_of_narrow_gaps_stay(extract: Extract, parts: list[str], gap: int) -> None:
    assert extract(tight(parts, gap)).document.text == "".join(parts)


@pytest.mark.parametrize("shift", [3, 29, 31, -2])
def test_a_page_whose_letters_are_moved_is_put_right(shift: int) -> None:
    words = PROSE.replace(" ", "").replace(",", "")
    garbage = "".join(chr(ord(character) - shift) for character in words)
    assert shift_of(garbage) == shift
    assert shifted(garbage, shift) == words


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        PROSE.upper(),
        "Der Steuermann schrieb jeden Tag das Wetter und den Wind in sein großes Buch, auch sonntags.",
        "Sternik codziennie zapisywał pogodę i wiatr w swojej wielkiej księdze, także w niedziele.",
        "Kormidelník každý den zapisoval počasí a vítr do své velké knihy, i v neděli, když pršelo.",
        "GATTACAGATTACCAGATTACAGATTACAGGATTACAGATTACAGATTACATTAGACCATA" * 4,
        "0.12 4.71 13.2 88.1 0.003 12.9 " * 20,
        "MKVLAAGIVGLCAKAYWEHDPRSTQNFMKVLAAGIVGLCAKAYWEHDPRSTQNF" * 5,
    ],
)
def test_text_and_data_are_not_taken_for_garbage(text: str) -> None:
    assert shift_of(text) == 0
    assert not is_garbage(text)
    assert unswapped(text) == text


def test_letters_of_a_font_of_symbols_are_put_in_their_place() -> None:
    assert unswapped("".join(chr(0xF000 + ord(letter)) if letter > " " else letter for letter in PROSE)) == PROSE
    bullets = "\uf0b7 one \uf041 two and much more text beside these signs"
    assert unswapped(bullets) == bullets


def test_letters_whose_bytes_are_swapped_are_put_right() -> None:
    garbage = "".join(chr(ord(character) << 8) if character != " " else " " for character in PROSE)
    assert unswapped(garbage) == PROSE


def test_hundreds_of_letters_without_vowels_are_unreadable(extract: Extract) -> None:
    garbage = "".join("bcdfghjklmnpqrstvwxz"[ord(character) % 20] for character in PROSE * 5 if character != " ")
    assert is_garbage(garbage)


@given(st.text(st.sampled_from("aßzAÞZ .,:/@9é_-"), max_size=30) | st.text("ab/ 9", min_size=18, max_size=60))
def test_the_quick_search_for_glued_words_finds_what_three_patterns_find(text: str) -> None:
    patterns = (r"(?<!\S)[^\s/@\\:]{22,}(?!\S)", r"[a-zß-ÿ][.,;:!?][^\W\d_]{2}", r"[a-zß-ÿ]{3}[A-ZÀ-Þ][a-zß-ÿ]{2}")
    assert may_be_glued(text) == any(re.search(pattern, text) for pattern in patterns)


@given(
    st.lists(
        st.text(st.sampled_from("aabßzAÞZ .,:/@9é字”_-"), max_size=30) | st.text("ab/ 9é", max_size=60), max_size=6
    )
)
def test_a_page_is_searched_for_glued_words_as_its_lines_are(texts: list[str]) -> None:
    assert glued_lines(texts, letters_in(texts)) == {number for number, text in enumerate(texts) if may_be_glued(text)}


@given(
    st.lists(
        st.sampled_from("ab \t\n\rß目录가é\u0301ﬁ\xa0\u3000\xad\ufffe\uf0b7\x85\x93\x0b\x1b[3m\x07\x00\u2028\ud800")
        | st.sampled_from((LINE_END, "  ", "目 录")),
        max_size=12,
    ).map("".join)
)
@example("\x93\r\na\x85")
@example("\x1b[3\r\nm")
def test_the_lines_of_a_page_are_cleaned_at_once_as_one_by_one(page: str) -> None:
    assert clean_lines(page) == list(map(clean_line, page.split(LINE_END)))
