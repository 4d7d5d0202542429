"""Pictures in a terminal: what it is asked, what is understood, and that what it gets is the page."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.settings import kinds
from longsearch.engine.page_image import Highlight, HighlightBoxes, PageImage, PageQuestion
from longsearch.tui.graphics.encoders import braille_lines, iterm2, kitty, png, sixel
from longsearch.tui.graphics.picture import Colours, View, Wish, canvas_of, corner_at_passage, make_picture
from longsearch.tui.graphics.terminal import (
    AUTO,
    BLOCKS,
    Graphics,
    GraphicsProtocol,
    graphics_of,
    is_complete,
    is_light,
    typed_among,
)
from tests.tui.decoding import from_iterm2, from_kitty, from_png, from_sixel

NAMES = kinds.GRAPHICS.expected
KITTY = b"\x1b_Gi=31;OK\x1b\\"
KITTY_REFUSES = b"\x1b_Gi=31;ENOTSUPPORTED:\x1b\\"
CELL = b"\x1b[6;18;9t"
PLAIN, WITH_SIXEL = b"\x1b[?62;22c", b"\x1b[?62;4;22c"


def some_pixels(height: int, width: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize(
    ("answers", "environment", "protocol"),
    [
        (KITTY + CELL + PLAIN, {}, GraphicsProtocol.KITTY),
        (KITTY + CELL + WITH_SIXEL, {}, GraphicsProtocol.KITTY),
        (KITTY_REFUSES + CELL + WITH_SIXEL, {}, GraphicsProtocol.SIXEL),
        (b"\x1bP>|iTerm2 3.5.10\x1b\\" + CELL + PLAIN, {}, GraphicsProtocol.ITERM2),
        (CELL + PLAIN, {"TERM_PROGRAM": "iTerm.app"}, GraphicsProtocol.ITERM2),
        (b"\x1bP>|foot(1.16)\x1b\\" + CELL + WITH_SIXEL, {}, GraphicsProtocol.SIXEL),
        (b"\x1b[?64;14;42c", {}, GraphicsProtocol.BLOCKS),
        (b"\x1b[?6c", {}, GraphicsProtocol.BLOCKS),
        (b"", {}, GraphicsProtocol.BLOCKS),
    ],
)
def test_the_answers_of_a_terminal_choose_its_best_protocol(
    answers: bytes, environment: dict[str, str], protocol: GraphicsProtocol
) -> None:
    assert graphics_of(answers, None, environment).protocol is protocol


def test_the_settings_choose_a_protocol_whatever_the_terminal_answers() -> None:
    assert graphics_of(KITTY + CELL + PLAIN, None, {}, wished="blocks") == BLOCKS
    assert graphics_of(b"", (8, 16), {}, is_multiplexed=True, wished="kitty") == Graphics(GraphicsProtocol.KITTY, 8, 16)
    named = set(re.findall(r"\w+", NAMES)) - {"or"}
    assert {AUTO, *GraphicsProtocol} == {"auto", "kitty", "iterm2", "sixel", "blocks"} == named


def test_inside_tmux_only_sixel_passes() -> None:
    assert graphics_of(KITTY + PLAIN, None, {"TERM_PROGRAM": "iTerm.app"}, is_multiplexed=True) == BLOCKS
    assert graphics_of(WITH_SIXEL, (8, 16), {}, is_multiplexed=True) == Graphics(GraphicsProtocol.SIXEL, 8, 16)


def test_the_size_of_a_cell_comes_from_the_terminal_then_from_the_system_and_is_never_absurd() -> None:
    assert graphics_of(KITTY + CELL + PLAIN, (8, 16), {}) == Graphics(GraphicsProtocol.KITTY, 9, 18)
    assert graphics_of(KITTY + PLAIN, (8, 16), {}) == Graphics(GraphicsProtocol.KITTY, 8, 16)
    assert graphics_of(KITTY + PLAIN, None, {}) == Graphics(GraphicsProtocol.KITTY, 10, 20)
    assert graphics_of(KITTY + b"\x1b[6;99999;0t" + PLAIN, None, {}) == Graphics(GraphicsProtocol.KITTY, 10, 20)


def test_keys_pressed_meanwhile_are_told_from_answers() -> None:
    answers = b"wh" + KITTY + b"y" + b"\x1bP>|kitty(0.35)\x1b\\" + CELL + b" not" + PLAIN
    assert typed_among(answers) == b"why not"
    assert is_complete(answers) and not is_complete(KITTY + CELL)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (b"rgb:ffff/ffff/dddd\x1b\\", True),
        (b"rgb:fd/f6/e3\x07", True),
        (b"rgba:ffff/ffff/ffff/ffff\x1b\\", True),
        (b"rgb:0000/2b2b/3636\x1b\\", False),
        (b"rgb:/ff/\x1b\\", False),
        (b"oil\x1b\\", False),
    ],
)
def test_the_terminal_tells_whether_its_background_is_light(told: bytes, expected: bool) -> None:
    answers = b"wh" + KITTY + b"\x1b]11;" + told + CELL + b"y" + PLAIN
    assert is_light(answers) is expected
    assert typed_among(answers) == b"why"


@pytest.mark.parametrize("size", [(1, 1), (6, 7), (40, 61), (200, 130)])
def test_every_protocol_carries_the_same_pixels(size: tuple[int, int]) -> None:
    pixels = some_pixels(*size)
    keys, decoded = from_kitty(kitty(pixels, 3, 2))
    assert np.array_equal(decoded, pixels)
    assert (keys["c"], keys["r"], keys["C"], keys["q"]) == ("3", "2", "1", "2")
    keys, decoded = from_iterm2(iterm2(pixels, 3, 2))
    assert np.array_equal(decoded, pixels)
    assert (keys["width"], keys["height"], keys["inline"]) == ("3", "2", "1")
    assert np.array_equal(from_png(png(pixels)), pixels)
    assert np.abs(from_sixel(sixel(pixels)).astype(int) - pixels).max() <= 26  # six levels: 51 apart


@given(st.integers(1, 20), st.integers(1, 30), st.integers(0, 1_000))
def test_sixel_keeps_its_own_colours_exactly(height: int, width: int, seed: int) -> None:
    levels = np.random.default_rng(seed).integers(0, 6, (height, width, 3)) * 51
    pixels = levels.astype(np.uint8)
    assert np.array_equal(from_sixel(sixel(pixels)), pixels)


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 1_000))
def test_dark_pixels_are_dots_of_braille_on_the_lightest_colour(rows: int, columns: int, seed: int) -> None:
    is_dark = np.random.default_rng(seed).random((4 * rows, 2 * columns)) < 0.4
    pixels = np.where(is_dark[..., None], np.uint8(20), np.uint8(240)).repeat(3, axis=2)
    lines = braille_lines(pixels)
    assert [line.cell_length for line in lines] == [columns] * rows
    places = ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1))  # of the dots 1 to 8, as in Unicode
    for row, line in enumerate(lines):
        cells = [(letter, segment.style) for segment in line for letter in segment.text]
        for column, (letter, style) in enumerate(cells):
            dark = [is_dark[4 * row + y, 2 * column + x] for y, x in places]
            dots = 0 if all(dark) else sum(1 << at for at, is_dot in enumerate(dark) if is_dot)
            assert letter == (chr(0x2800 + dots) if dots else " ")
            assert style and style.bgcolor and style.bgcolor.triplet == ((20,) * 3 if all(dark) else (240,) * 3)
            assert style.color and style.color.triplet == ((120,) * 3 if not any(dark) else (10,) * 3)


def page_of_two_colours() -> PageImage:
    """Return a white page of 20 x 30 pixels with a black line, an excerpt within a passage, and another passage."""
    pixels = np.full((30, 20, 3), 255, np.uint8)
    pixels[10] = 0
    highlights = (
        HighlightBoxes(Highlight.EXCERPT, ((5, 9, 10, 12),)),
        HighlightBoxes(Highlight.CURRENT, ((0, 8, 20, 14),)),
        HighlightBoxes(Highlight.PASSAGE, ((0, 20, 20, 22),)),
    )
    return PageImage(20, 30, pixels.tobytes(), 1, highlights)


def test_passages_are_lit_like_a_markers_and_ink_stays_dark() -> None:
    colours = Colours((1, 2, 3))
    canvas = canvas_of(page_of_two_colours(), View(0, 0, 24, 40), colours)
    assert canvas.shape == (40, 24, 3)
    page = canvas[:30, 2:22]  # a page that is narrower than the pane stands in its middle
    assert tuple(page[8, 0]) == colours.current and tuple(page[9, 6]) == colours.excerpt
    assert tuple(page[21, 3]) == colours.passage and tuple(page[25, 3]) == (255, 255, 255)
    assert not page[10].any()
    assert (
        (canvas[30:] == (1, 2, 3)).all() and (canvas[:, :2] == (1, 2, 3)).all() and (canvas[:, 22:] == (1, 2, 3)).all()
    )


@given(st.integers(-5, 25), st.integers(-5, 40), st.integers(1, 40), st.integers(1, 50))
def test_a_part_of_the_page_is_the_same_as_cut_from_the_whole(left: int, top: int, width: int, height: int) -> None:
    image, colours = page_of_two_colours(), Colours((1, 2, 3))
    whole = canvas_of(image, View(0, 0, 20, 30), colours)
    picture = make_picture(
        Wish(PageQuestion("", 1, 20, None), width, height, (left, top), (1, 2, 3)),
        lambda _: image,
        Graphics(GraphicsProtocol.KITTY, 1, 1),
    )
    _, shown = from_kitty(picture.sequence)
    left, top = min(max(left, 0), max(20 - width, 0)), min(max(top, 0), max(30 - height, 0))
    part = whole[top : top + height, left : left + width]
    beside = (width - 20) // 2 if width > 20 else 0
    assert np.array_equal(shown[: part.shape[0], beside : beside + part.shape[1]], part)


def test_after_a_jump_into_the_middle_of_a_line_the_whole_column_is_in_view() -> None:
    lines = HighlightBoxes(Highlight.EXCERPT, ((60, 40, 70, 44), (20, 44, 70, 48)))
    image = PageImage(200, 100, bytes(200 * 100 * 3), 1, (lines,))
    assert corner_at_passage(image, (80, 40)) == (20 - 10, 40 - 10)
    assert corner_at_passage(image, (40, 40)) == (60 - 5, 40 - 10), "the answer first, where the column is too wide"


def test_after_a_jump_the_excerpt_is_a_quarter_below_the_top() -> None:
    image = page_of_two_colours()
    wish = Wish(PageQuestion("", 1, 20, None), 20, 8, None, (0, 0, 0))
    assert make_picture(wish, lambda _: image, Graphics(GraphicsProtocol.KITTY, 1, 1)).view.top == 9 - 8 // 4
    assert make_picture(replace(wish, columns=10, rows=4), lambda _: image, BLOCKS).view.top == 9 - 16 // 4
