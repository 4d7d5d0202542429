"""Web pages as a browser shows them: what is hidden, numbers of lists, rows of tables, long headings."""

from html import escape

import pytest

from longsearch.indexer.extract.readers.html import parse
from longsearch.indexer.extract.titles import choose_title


def text_of(body: str, head: str = "") -> str:
    return parse(f"<html><head>{head}</head><body>{body}</body></html>").text


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>gone</p>",
        '<p style="color:red; DISPLAY : none !important">gone</p>',
        "<div style='visibility:hidden'><p>gone</p></div>",
        "<span style='mso-hide:all;font-size:1px'>gone</span>",
        "<ul hidden><li>gone</li></ul>",
        "<dialog><p>gone</p></dialog>",
        "<template><p>gone</p></template>",
        "<p class='x y'>gone</p>",
        "<div id=n><b>gone</b></div>",
        "<datalist><option>gone</datalist>",
    ],
)
def test_what_a_page_hides_is_left_out(hidden: str) -> None:
    style = "<style>/* a */ .x { display: none } #n{color:red;visibility:hidden}</style>"
    assert text_of(f"<p>before</p>{hidden}<ol><li>after</li></ol>", style) == "before\n\n1. after"


@pytest.mark.parametrize(
    ("shown", "head"),
    [
        ("<p hidden=until-found>here</p>", ""),
        ('<p style="display:none-of-it">here</p>', ""),
        ("<dialog open><p>here</p></dialog>", ""),
        ("<p class=x>here</p>", "<style>@media print { .x { display: none } } @media screen { p {} }</style>"),
        ("<p class=x>here</p>", "<style>.x{display:none} p.x{display:block}</style>"),
        ("<p class=x>here</p>", "<style>.x:hover{display:none} .y{display:none}</style>"),
        ("<p class=x>here</p>", "<style>.x{display:none}</style><script>show()</script>"),
        ("<p>here</p>", "<style>}{ not a style { display:none"),
    ],
)
def test_what_a_page_shows_or_may_show_is_read(shown: str, head: str) -> None:
    if not head.endswith("none"):
        assert text_of(shown, head) == "here"
    else:
        assert "display" not in text_of(shown, head + "</style>")


def test_what_was_typed_into_a_form_and_what_a_drawing_says_is_read() -> None:
    fields = (
        "<input value='Ane Berg'><input type=checkbox checked>paid<input type=radio>cash<textarea>Two\nlines</textarea>"
        "<select><option>north<option selected>south</select><input type=hidden value=gone>"
        "<input type=password value=gone><select multiple><option>gone</select>"
    )
    assert text_of(f"<form><label>Owner {fields}</label></form>") == "Owner Ane Berg [x] paidcash Two lines south"
    assert text_of("<p>Map</p><svg><title>icon</title><g><text>Norby <tspan>light</tspan></text></g></svg>") == (
        "Map\n\nNorby light"
    )


def test_words_of_blocks_that_few_pages_have_are_not_glued() -> None:
    assert text_of("<center>one</center><dialog open>two</dialog><search>three</search>four") == (
        "one\n\ntwo\n\nthree\n\nfour"
    )


def test_items_of_numbered_lists_have_their_numbers() -> None:
    nested = "<ol type=a><li>x</li><li>y</li></ol>"
    assert text_of(f"<ol start=3><li>one</li><li>two{nested}</li><li value=9>nine</li><li>ten</li></ol>") == (
        "3. one\n4. two\na. x\nb. y\n9. nine\n10. ten"
    )
    assert text_of("<ol reversed type=I><li>a</li><li>b</li></ol><ul><li>c</li></ul>") == "II. a\nI. b\n- c"


def test_a_row_of_values_is_a_line_and_cells_that_reach_down_are_repeated() -> None:
    rows = (
        "<tr><th>Harbour</th><th>Pier</th><th>Tons</th></tr><tr><td rowspan=2>Norby</td><td><p>east</p><p>side</p></td>"
        "<td>1</td></tr><tr><td>west<br>side</td><td>2</td></tr><tr><td>Furt</td><td></td><td>3</td></tr>"
    )
    assert text_of(f"<table>{rows}</table>") == (
        "Harbour | Pier | Tons\nNorby | east side | 1\nNorby | west side | 2\nFurt |  | 3"
    )


def test_a_cell_that_a_page_hides_takes_no_column() -> None:
    assert text_of("<table><tr><th>Pier<th hidden>gone<th>Tons<tr><td>east<td hidden>gone<td>9</table>") == (
        "Pier | Tons\neast | 9"
    )


def test_cells_after_one_over_two_columns_stand_under_their_heads() -> None:
    rows = (
        "<tr><th>Harbour<th>Pier<th>Side<th>Tons</tr><tr><td rowspan=2 colspan=2>Norby<td>east<td>1</tr>"
        "<tr><td>west<td>2</tr><tr><td>Furt<td colspan=2>closed<td>3</tr>"
    )
    assert text_of(f"<table>{rows}</table>") == (
        "Harbour | Pier | Side | Tons\nNorby |  | east | 1\nNorby |  | west | 2\nFurt | closed |  | 3"
    )


def test_the_page_that_a_frame_holds_is_read_in_its_place() -> None:
    frame = "<style>.x{display:none}</style><h2>Tides</h2><p class=x>gone</p><p>High &amp;amp; low</p>"
    assert text_of(f"<p>before<iframe src=x srcdoc='{frame}'>old</iframe>after</p>") == (
        "before\n\nTides\n\nHigh & low\n\nafter"
    )
    row = f"<table><tr><td>Norby<td><iframe srcdoc='{frame}'></iframe></tr></table>"
    assert text_of(row) == "Norby | Tides High & low"


@pytest.mark.parametrize("how", ["hidden", "style='display:none'", "width=0 height=0"])
def test_a_frame_that_is_hidden_is_left_out(how: str) -> None:
    assert text_of(f"<p>before</p><iframe {how} srcdoc='<p>gone</p>'></iframe>") == "before"


def test_frames_in_frames_are_read_to_a_depth() -> None:
    page = "innermost"
    for depth in range(20):
        page = f'<p>{depth}</p><iframe srcdoc="{escape(page)}"></iframe>'
    assert text_of(page).split() == [str(depth) for depth in range(19, 14, -1)]


def test_a_table_that_lays_out_the_page_keeps_its_blocks() -> None:
    assert text_of("<table><tr><td><h1>News</h1><p>One.</p></td><td><p>Two.</p></td></tr></table>") == (
        "News\n\nOne.\n\nTwo."
    )


def test_the_text_of_a_long_heading_is_whole_and_only_its_name_is_cut() -> None:
    words = "word " * 150 + "end"
    found = parse(f"<h2>{words}</h2><p>x</p>")
    assert found.text == f"{words}\n\nx"
    assert found.headings[0][1].endswith("…")


def test_formulas_are_read_once_and_quotations_have_their_marks() -> None:
    assert text_of("<math><mi>x</mi><annotation>\\x</annotation></math> is <q>it</q>") == "x is “it”"


def test_a_long_table_says_the_names_of_its_columns_again() -> None:
    rows = "".join(f"<tr><td>Mill {number}<td>{'word ' * 10}</tr>" for number in range(100))
    lines = text_of(f"<table><tr><th>Name<th>Remark</tr>{rows}</table><table><tr><td>a<td>b</table>").split("\n")
    assert [line for line in lines if line.startswith("Name")] == ["Name | Remark"] * 4
    assert len(lines) == 100 + 4 + 1


def test_a_template_that_a_browser_shows_is_read() -> None:
    body = "<x-a><template shadowrootmode=open><p>seen</p></template></x-a><template><p>unseen</p></template><p>end</p>"
    assert text_of(body) == "seen\n\nend"


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac>", "(a+1)/2"),
        ("<semantics><msup><mi>x</mi><mn>2</mn></msup><annotation>x^2</annotation></semantics>", "x^2"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msqrt><mi>x</mi></msqrt>", "∑_i^n√(x)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot><mover><mi>v</mi><mo>→</mo></mover>", "3√(x)v→"),
        ("<mtable><mtr><mtd>a</mtd><mtd>b</mtd></mtr><mtr><mtd>c</mtd></mtr></mtable>", "a b; c"),
        (
            "<mi>f</mi><mo>&#x2061;</mo><mfenced><mi>x</mi><mi>y</mi></mfenced><mtext>if</mtext><mi>z</mi>",
            "f(x,y) if z",
        ),
        ("<mrow>" * 5000 + "<mi>x</mi>", "x"),
    ],
)
def test_a_formula_of_mathml_is_one_line(inner: str, line: str) -> None:
    assert text_of(f"<p>Let <math>{inner}</math> be.</p>") == f"Let {line} be."


@pytest.mark.parametrize(
    ("title", "source", "chosen"),
    [
        ("1887", "EPUB package", "1887"),
        ("Invoice 2020-0815", "Word properties", "Invoice 2020-0815"),
        ("report_final", "HTML title", "report_final"),
        ("1887", "Org keyword", "1887"),
        ("Microsoft Word - x.doc", "Word properties", ""),
        ("Untitled 1", "OpenDocument properties", ""),
        ("...", "EPUB package", ""),
        ("1887", "PDF info", ""),
    ],
)
def test_a_title_that_a_file_states_is_its_title_unless_a_program_filled_it_in(
    title: str, source: str, chosen: str
) -> None:
    assert choose_title(((title, source),), "")[0] == chosen
