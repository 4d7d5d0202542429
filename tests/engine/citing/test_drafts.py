"""The quotations of a draft: their marks, lines, pieces, and the source cited beside each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.citing.drafts import Cited, claims_in, quotations_in

SAID = "the valve stayed open for two hours"


def texts(draft: str, suffix: str = "") -> list[str]:
    return [quoted.text for quoted in quotations_in(draft, suffix)]


@pytest.mark.parametrize(
    "draft",
    [
        f'He says "{SAID}" and goes on.',
        f"He says “{SAID}” and goes on.",
        f"Er sagt „{SAID}“ und geht.",
        f"On dit «{SAID}» ici.",
        f"On dit « {SAID} » ici.",
        f"Er sagt »{SAID}« und geht.",
        f"‘{SAID}’, he says.",
        f"‚{SAID}‘, sagt er.",
        f"「{SAID}」",
        f"Han sade ”{SAID}” och gick.",
        f"»{SAID}», sanoi hän.",
        f"'{SAID}', he said. 'Tis the crew's.",
        f"> {SAID}\n",
        "> the valve stayed\n> open for two hours\n> — the report, p. 4\n",
        f"> {SAID} (Miller, 1979)\n",
    ],
)
def test_a_quotation_stands_between_the_marks_of_any_language_or_in_a_block(draft: str) -> None:
    assert texts(draft) == [SAID]


@pytest.mark.parametrize(
    "draft",
    [
        f"He says ``{SAID}'' here.",
        rf"He says \enquote{{{SAID}}} here.",
        r"He says \enquote{the \emph{valve} stayed~open for two hours} here.",
        rf"\begin{{quote}}{SAID}\end{{quote}}",
        r"% ``a comment of five words or more''" + f"\n``{SAID}''",
    ],
)
def test_latex_has_marks_commands_and_blocks_of_its_own(draft: str) -> None:
    assert texts(draft, suffix=".tex") == [SAID]


@pytest.mark.parametrize(
    ("draft", "suffix"),
    [
        (rf"\textcquote[4]{{miller1979}}{{{SAID}}} here", ".tex"),
        (rf"\textquote[\cite{{miller1979}}]{{{SAID}}} here", ".tex"),
        (rf"\begin{{displaycquote}}[4]{{miller1979}}{SAID}\end{{displaycquote}}", ".tex"),
        (f"#+begin_quote\n{SAID}\n#+end_quote\n[cite:@miller1979 p. 4]", ".org"),
        (f"#quote(attribution: [Miller])[{SAID}] #cite(<miller1979>)", ".typ"),
        (f"“{SAID}”.[^1]\n\n[^1]: See @miller1979.\n", ".md"),
    ],
)
def test_a_quotation_and_its_key_are_found_in_the_ways_of_each_format(draft: str, suffix: str) -> None:
    (quoted,) = quotations_in(draft, suffix)
    assert (quoted.text, quoted.cited) == (SAID, (Cited("miller1979", "miller", "1979"),))


@pytest.mark.parametrize(
    ("draft", "suffix"),
    [
        (f"“{SAID}” [there](papers/a.pdf).", ""),
        (rf"``{SAID}'' \href{{papers/a.pdf}}{{there}}.", ".tex"),
        (rf"``{SAID}'' \url{{papers/a.pdf}}.", ".tex"),
        (f"“{SAID}” (see papers/a.pdf, p. 3).", ".txt"),
        (f"“{SAID}” [papers/a.pdf].", ".txt"),
        (f"“{SAID}” [other.pdf](papers/a.pdf).", ""),
        (f"> {SAID}! [Source](papers/a.pdf)\n\n> another block of some words\n", ""),
        (f"> {SAID}!\n>\n> ([Source](papers/a.pdf), p. 3)\n", ""),
        (f"\\begin{{quote}}\n{SAID}!\n\\href{{papers/a.pdf}}{{there}}\n\\end{{quote}}", ".tex"),
        (f"> {SAID.replace('hours', '[hours](papers/a.pdf)')}\n", ""),
        (f"“{SAID.replace('valve', '[valve](papers/a.pdf)')}”", ""),
        (f"“{SAID}” [there](<papers/a.pdf>).", ""),
        (f"“{SAID}” [2].\n\n[2] See papers/a.pdf, p. 3.\n", ".txt"),
        (f"“{SAID}”.[^n]\n\n[^n]: papers/a.pdf, p. 3\n", ""),
        (f"“{SAID}” (by [me](mailto:me@there.org), [there](papers/a.pdf)).", ""),
        (f"“{SAID}”.[^n]\n\n[^n]: See [there](papers/a.pdf).\n", ""),
        (f"“{SAID}[^n]”\n\n[^n]: See [there](papers/a.pdf).\n", ""),
        (f"> {SAID}.[^n]\n\n[^n]: See [there](papers/a.pdf).\n", ""),
    ],
)
def test_a_link_or_the_name_of_a_file_is_a_source_and_the_words_of_a_link_inside_are_quoted(
    draft: str, suffix: str
) -> None:
    quoted = quotations_in(draft, suffix)[0]
    assert (quoted.text.rstrip("!."), [one.name for one in quoted.cited]) == (SAID, ["papers/a.pdf"])


def test_a_quotation_of_latex_is_read_as_it_is_printed() -> None:
    draft = r"\enquote{the \enquote{valve} stayed \emph{\textbf{open}}\footnote{ha} \textelp{} for two~hours}"
    (quoted,) = quotations_in(draft, ".tex")
    assert quoted.pieces == ("the “valve” stayed open", "for two hours")


def test_a_nested_quotation_belongs_to_the_outer_one() -> None:
    assert texts("“He said ‘it is shut’ and left the room”") == ["He said ‘it is shut’ and left the room"]
    assert texts("“She called it “a small break” in the report”") == ["She called it “a small break” in the report"]


def test_apostrophes_inches_and_marks_that_nobody_closes_open_nothing() -> None:
    assert texts("The reactor's 5\" pipe, the crew’s, rock ’n’ roll") == []
    assert texts("“never closed\n\nanother paragraph” here") == []


def test_code_holds_no_quotation() -> None:
    assert texts('`"one two three four five"`\n```\n"one two three four five six"\n```\n') == []


def test_a_quotation_knows_its_line() -> None:
    draft = f'first\n\nthird "{SAID}"\n\n> {SAID}\n'
    assert [quoted.line for quoted in quotations_in(draft)] == [3, 5]
    assert [quoted.line for quoted in quotations_in(f"% one\n% two\n``{SAID}''", suffix=".tex")] == [3]


def test_ellipses_and_brackets_part_a_quotation() -> None:
    (quoted,) = quotations_in("“the valve […] stayed open [for a while] and nobody … looked at it”")
    assert quoted.pieces == ("the valve", "stayed open", "and nobody", "looked at it")


@pytest.mark.parametrize(
    ("draft", "pieces"),
    [
        ("“the valve stay[s] open for many hours”", ("the valve", "open for many hours")),
        ("“the valve (sic) stayed open for many hours (emphasis added)”", ("the valve", "stayed open for many hours")),
        ("“the [valve]{.smallcaps} stayed open for many hours”", ("the valve stayed open for many hours",)),
        ('„the valve stayed open for hours" and that', ("the valve stayed open for hours",)),
        (",,the valve stayed open\nfor hours'' and that", ("the valve stayed open for hours",)),
        ("``the valve stayed open for hours'' and that", ("the valve stayed open for hours",)),
    ],
)
def test_what_a_writer_adds_and_types_otherwise_is_not_quoted(draft: str, pieces: tuple[str, ...]) -> None:
    (quoted,) = quotations_in(draft, ".txt")
    assert quoted.pieces == pieces


def test_a_quotation_of_fewer_than_five_words_has_nothing_to_judge() -> None:
    assert [quoted.pieces for quoted in quotations_in("“a small break” and “弁は二時間のあいだ開いたまま”")] == [
        (),
        ("弁は二時間のあいだ開いたまま",),
    ]


@pytest.mark.parametrize(
    ("draft", "cited"),
    [
        (f"“{SAID}” [@miller1979, p. 4]", Cited("miller1979", "miller", "1979")),
        (f"“{SAID}” (Miller, 1979, p. 4)", Cited("", "Miller", "1979")),
        (f"“{SAID}” (vgl. Jane Miller 1979)", Cited("", "Miller", "1979")),
        (f"“{SAID}”.[^1]\n\n[^1]: Miller JR 1979, p. 4.\n", Cited("", "Miller", "1979")),
        (f"“{SAID}” [3, p. 4].\n\n[3] J. Miller and R. Smith. A study of valves. 1979.\n", Cited("", "Miller", "1979")),
        (
            f"“{SAID}” [3].\n\n[3] Miller, J. (1979). Valves. https://there.org/valves.html\n",
            Cited("", "Miller", "1979"),
        ),
        (f"As Miller et al. (1979) say:\n\n> {SAID}\n", Cited("", "Miller", "1979")),
        (f"“{SAID}”.\n\nFootnote 1: Miller 1979, p. 4", Cited("", "Miller", "1979")),
        (f"“{SAID}”. Another sentence. Smith (2001) says more.", None),
        (f"“{SAID}” (in 1979)", None),
        (f"“{SAID}” (in March 1979)", None),
        (f"“{SAID}” (3 May 1979)", None),
        (f"“{SAID}” (March, 1979, p. 4)", Cited("", "March", "1979")),
        (f"“{SAID}” (Mayer 1979)", Cited("", "Mayer", "1979")),
        (f"Miller et al. (1979) write: “{SAID}”.", Cited("", "Miller", "1979")),
        (f"“{SAID}” ([report](papers/report.pdf))", Cited("papers/report.pdf", "", "")),
        (f"> {SAID}\n> [@miller1979]\n", Cited("miller1979", "miller", "1979")),
        (f"“{SAID}”, says everybody.\n\nMiller (1979) is another paragraph.", None),
    ],
)
def test_the_source_beside_a_quotation_is_read(draft: str, cited: Cited | None) -> None:
    (quoted,) = quotations_in(draft)
    assert (quoted.text, quoted.cited) == (SAID, () if cited is None else (cited,))


def test_latex_cites_by_commands() -> None:
    (quoted,) = quotations_in(rf"``{SAID}''~\parencite[4]{{miller1979,other}}", suffix=".tex")
    assert quoted.cited == (Cited("miller1979", "miller", "1979"), Cited("other", "", ""))


@given(st.text(st.sampled_from("“”„«»‘’\"'>[]()@\\{}%`~ \na9.…-")), st.sampled_from(["", ".tex", ".org", ".typ"]))
def test_any_text_is_a_draft(draft: str, suffix: str) -> None:
    n_lines = draft.count("\n") + 1
    assert all(quoted.text and 1 <= quoted.line <= n_lines for quoted in quotations_in(draft, suffix))


def test_a_million_marks_take_no_square_of_the_time() -> None:
    assert quotations_in("“" * 20_000) == []


@pytest.mark.parametrize(
    ("before", "author"),
    [
        ("As Smith (2001) says, ", "Smith"),
        ("Smith (2001) says:\n\n> ", "Smith"),
        ("It is long (Smith 2001). ", ""),
        ("Smith (2001) saw it first.\n\nThe report adds that ", ""),
    ],
)
@pytest.mark.parametrize("filler", ["", "Nothing of note is said here.\n\n" * 20])
def test_a_source_before_a_quotation_counts_in_its_own_sentence_alone(filler: str, before: str, author: str) -> None:
    (quoted,) = quotations_in(f'{filler}{before}"the valve had failed before the fire"')
    assert [source.author for source in quoted.cited] == [author] * bool(author)


def test_a_sentence_that_cites_is_a_claim_and_an_entry_of_the_list_of_sources_is_none() -> None:
    draft = """# Valves

Nobody cites this. The valve had failed before [@miller1979, p. 4; @other]. Smith (2001) saw it too.

Decay heat goes on.[^1] Pumps cost money [2].

[^1]: Miller 1979, p. 9.

## References

[1] Someone (1990). Another book about the pumps of the plant.

[2] Jones, A. (1999). The price of pumps in all plants.
"""
    found = claims_in(draft)
    assert [(one.text, one.line, [source.text for source in one.cited]) for one in found] == [
        ("The valve had failed before.", 3, ["miller1979", "other"]),
        ("Smith (2001) saw it too.", 3, ["Smith 2001"]),
        ("Decay heat goes on.", 5, ["Miller 1979"]),
        ("Pumps cost money.", 5, ["Jones 1999"]),
    ]


@pytest.mark.parametrize(
    ("draft", "suffix"),
    [
        (f'See <a class="q" href="papers/log.pdf">the log</a>, which says “{SAID}”.', ".md"),
        (f"See [the log][1], which says “{SAID}”.\n\n[1]: papers/log.pdf\n", ".md"),
        (f"See [the log][], which says “{SAID}”.\n\n[The  Log]: <papers/log.pdf> 'The log'\n", ".md"),
        (f"See [the log], which says “{SAID}”.\n\n[the log]: papers/log.pdf\n", ".md"),
        (f"See the log [1], which says “{SAID}”.\n\n[1]: papers/log.pdf\n", ".md"),
        (f"See `the log <papers/log.pdf>`_, which says “{SAID}”.", ".rst"),
        (f'See #link("papers/log.pdf")[the log], which says “{SAID}”.', ".typ"),
    ],
)
def test_a_link_names_a_source_in_the_form_of_each_format(draft: str, suffix: str) -> None:
    (quoted,) = quotations_in(draft, suffix)
    assert (quoted.text, quoted.line, [one.name for one in quoted.cited]) == (SAID, 1, ["papers/log.pdf"])
    (claim,) = claims_in(draft, suffix)
    assert claim.text == f"See the log, which says “{SAID}”."
    assert [one.name for one in claim.cited] == ["papers/log.pdf"]


def test_a_label_without_a_definition_and_a_link_in_code_name_no_source() -> None:
    draft = f"As [the log][9] says, “{SAID}”.\n\n```\n[a][1]\n```\n\n[1]: papers/log.pdf\n"
    assert [quoted.cited for quoted in quotations_in(draft, ".md")] == [()]


def test_the_words_of_a_link_belong_to_the_claim_and_two_words_are_one() -> None:
    found = claims_in("It rose (see [the report](a.md)). Nobody knows [@gone2001].")
    assert [one.text for one in found] == ["It rose (see the report).", "Nobody knows."]


def test_a_claim_of_latex_is_read_as_it_is_printed() -> None:
    (claim,) = claims_in(r"The \emph{valve} had failed~\citep[4]{miller1979}.", ".tex")
    assert (claim.text, claim.cited[0].name) == ("The valve had failed.", "miller1979")


@pytest.mark.parametrize(
    ("suffix", "draft", "said"),
    [
        (".md", "“[t]he mast broke at noon that day”", "the mast broke at noon that day"),
        (".tex", "`The boys' mast broke at noon' was all", "The boys’ mast broke at noon"),
        (".tex", r"\say{The mast broke at noon that day}", "The mast broke at noon that day"),
        (".tex", r"{\glqq}The mast broke at noon\grqq{} und so", "The mast broke at noon"),
        (".tex", r"\og The mast broke at noon \fg{} et puis", "The mast broke at noon"),
        (".tex", r"\guillemotleft The mast broke at noon\guillemotright.", "The mast broke at noon"),
        (".txt", "He said:\n\n    The mast broke\n    at noon.\n\nAnd so on.", "The mast broke at noon."),
        (".txt", "He said:\n\n\tThe mast broke at noon.\n", "The mast broke at noon."),
        (".rst", "He said:\n\n   The mast broke at noon.\n", "The mast broke at noon."),
    ],
)
def test_what_else_sets_off_a_quotation(suffix: str, draft: str, said: str) -> None:
    (quoted,) = quotations_in(draft, suffix)
    assert quoted.pieces == (said,)
    assert quoted.line == (3 if "\n" in draft else 1)


@pytest.mark.parametrize(
    ("suffix", "draft"),
    [
        (".rst", "So run::\n\n    the mast broke at noon\n"),
        (".txt", "A list\n\n    the mast broke at noon\n"),
        (".org", '#+begin_src sh\necho "the mast broke at noon"\n#+end_src\n'),
        (".tex", r"caf\'e, the mast broke \`a noon, f'(x) and g'(x)"),
        (".tex", r"\ogre The mast broke at noon \fgx"),
    ],
)
def test_what_sets_off_no_quotation(suffix: str, draft: str) -> None:
    assert quotations_in(draft, suffix) == []


def test_the_source_of_an_indented_block_is_not_that_of_the_next_paragraph() -> None:
    first, second = quotations_in(f"He says:\n\n    {SAID} (Miller, 1979)\n\nAnd “{SAID}”.\n", ".txt")
    assert ([one.author for one in first.cited], second.cited) == (["Miller"], ())
    assert (first.line, second.line) == (3, 5)


def test_a_bracket_that_nobody_closes_swallows_no_note_of_another_paragraph() -> None:
    draft = f"It was said (by many.\n\n“{SAID}”.[^1]\n\n[^1]: Miller 1979, p. 4.\n\na) The end.\n"
    (quoted,) = quotations_in(draft)
    assert [one.text for one in quoted.cited] == ["Miller 1979"]
