"""Org, reStructuredText, LaTeX, and lines in any markup: the text that a person reads; no file is read, no code run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.readers import html as html_text
from longsearch.indexer.extract.readers import markdown as markdown_text
from longsearch.indexer.extract.readers import org as org_text
from longsearch.indexer.extract.readers import rst as rst_text
from longsearch.indexer.extract.readers import tex as tex_text
from longsearch.indexer.extract.wire.protocol import FileText
from tests.indexer.extracting import headings_of

ORG = """#+TITLE: The *Long* Plan
#+AUTHOR: Ann Lee
#+STARTUP: overview
* TODO [#A] First /steps/ :work:home:
SCHEDULED: <2024-01-01 Mon>
:PROPERTIES:
:ID: 77
:END:
Read [[https://example.org/a_b][the page]] and =code= at http://x.org/a
and a/b/c go on.
- [X] one thing
  still that
- another
# a comment
| a | b |
|---+---|
| c | d |
#+begin_src python
,* not a heading
x = 1
#+end_src
#+begin_comment
hidden
#+end_comment
** Second
end :not: a drawer
"""


def test_org_is_read_as_a_person_reads_it() -> None:
    found = org_text.parse(ORG)
    assert found.title == "The Long Plan"
    assert found.text == (
        "Author: Ann Lee\n\nFirst steps\n\nTags: work, home\n\n"
        "Read the page and code at http://x.org/a and a/b/c go on.\n\n- one thing still that\n- another\n"
        "a | b\nc | d\n\n* not a heading\nx = 1\n\nSecond\n\nend :not: a drawer"
    )
    assert headings_of(found) == [(1, "First steps"), (2, "Second")]


def test_a_tree_of_org_that_was_withdrawn_is_left_out() -> None:
    source = "* Kept\nwords\n** COMMENT Gone\ngone\n*** Gone too\ngone\n** Also kept\nmore\n* TODO COMMENT Gone\ngone"
    assert org_text.parse(source).text == "Kept\n\nwords\n\nAlso kept\n\nmore"


def test_a_substitution_of_restructured_text_stands_for_its_words() -> None:
    source = "The |mill| and |x|.\n\n.. |mill| replace:: mill of *Esch*\n.. |x| image:: gone.png\n"
    assert rst_text.parse(source).text.startswith("The mill of Esch and")


def test_what_markdown_hides_by_html_is_left_out() -> None:
    source = "a\n\n<div hidden>gone</div>\n\n<p style='display:none'>gone</p>\n\n<p>hidden words stay</p>\n"
    assert markdown_text.parse(source).text == "a\n\nhidden words stay"


def test_an_unclosed_org_drawer_or_block_hides_no_text() -> None:
    assert org_text.parse(":LOGBOOK:\nwords\n").text == ":LOGBOOK: words"
    assert org_text.parse("#+begin_src c\nwords\n* Next\nmore").text == "words\n\nNext\n\nmore"
    assert org_text.parse(":A:\n" * 20_000).text.startswith(":A:")


RST = """
=========
The Title
=========

:Author: Ann Lee

Part *one*
----------

See ``code``, `a link <http://example.org>`_, :func:`~os.walk`, |name| and :ref:`these words <target>`.

.. include:: /etc/passwd
.. raw:: html
   :file: /etc/passwd

.. csv-table:: From a file
   :file: /etc/passwd

.. note:: Mind this,
   please.

.. versionadded:: 3.1
   A new thing.

.. toctree::
   :maxdepth: 2

   other

.. code-block:: python
   :linenos:

   x = 1
     y

- one

  and more
- two

=== ===
a   b
=== ===
c   d
=== ===

.. a comment
"""


def test_restructured_text_is_read_as_a_person_reads_it() -> None:
    found = rst_text.parse(RST)
    assert found.title == "The Title"
    assert found.text == (
        "The Title\n\nAuthor: Ann Lee\n\nPart one\n\nSee code, a link, os.walk, name and these words.\n\n"
        "Mind this, please.\n\n3.1 A new thing.\n\nx = 1\n  y\n\n- one\nand more\n- two\na | b\nc | d"
    )
    assert headings_of(found) == [(1, "The Title"), (2, "Part one")]


def test_no_file_is_read_for_restructured_text(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret words")
    for directive in ("include", "literalinclude", "raw:: html\n   :file", "csv-table:: x\n   :file"):
        assert "secret words" not in rst_text.parse(f"open\n\n.. {directive}:: {tmp_path}/secret.txt\n").text


def test_a_directive_that_docutils_refuses_is_still_read() -> None:
    assert "The caption's words" in rst_text.parse(".. figure:: a.png\n   :odd: x\n\n   The caption's words\n").text


def test_the_look_ups_of_docutils_are_restored() -> None:
    from docutils.parsers.rst import directives, roles

    before = directives.directive, roles.role
    rst_text.parse(".. anything::\n")
    assert (directives.directive, roles.role) == before


TEX = r"""\documentclass{article}
\newcommand{\Hom}{\mathrm{Hom}}
\title{On \emph{Reading}\thanks{by us}}
\author{Ann Lee \and Bo}
\begin{document}
\maketitle
\begin{abstract}
We read. % not shown
\end{abstract}
\section{First Words}\label{sec:first}
As \cite{lee2020} says in~\ref{x}, $\alpha_i \le \frac{a}{b}$ and $\Hom(x)$.\footnote{A note.}

A second paragraph ``quoted'' --- see \href{http://example.org}{the page}.
\begin{itemize}\item one \item[Term] two\end{itemize}
\begin{verbatim}
x_1 = 2
  y
\end{verbatim}
\input{/etc/passwd}
\begin{theorem}[Abel]It holds.\end{theorem}
\subsection*{Deeper}
The end.
\end{document}
"""


def test_items_of_org_and_restructured_text_keep_their_numbers() -> None:
    assert org_text.parse("1. one\n2) two\n- three\n").text == "1. one\n2) two\n- three"
    assert rst_text.parse("#. one\n#. two\n\n\n(c) three\n(d) four\n").text == "1. one\n2. two\n(c) three\n(d) four"


def test_latex_is_read_as_a_person_reads_it() -> None:
    found = tex_text.parse(TEX)
    assert found.title == "On Reading"
    assert found.text == (
        "On Reading\n\nAnn Lee / Bo\n\nWe read.\n\nFirst Words\n\n"
        "As [lee2020] says in , α_i ≤a/b and Hom(x).[A note.]\n\n"
        "A second paragraph “quoted” — see the page.\n\n- one\n- Term two\n\nx_1 = 2\n  y\n\nAbel\n\nIt holds.\n\n"
        "Deeper\n\nThe end."
    )
    assert headings_of(found) == [(2, "First Words"), (3, "Deeper")]


@pytest.mark.parametrize(
    "macro", ["input", "include", "InputIfFileExists", "subfile", "verbatiminput", "lstinputlisting"]
)
def test_no_file_is_read_for_latex(tmp_path: Path, macro: str) -> None:
    (tmp_path / "secret.tex").write_text("hidden words")
    assert "hidden words" not in tex_text.parse(f"open \\{macro}{{{tmp_path}/secret.tex}}").text


def test_a_latex_chapter_without_a_document_environment_is_read() -> None:
    found = tex_text.parse("\\chapter{Steel}\nIt bends \\unknown{and} breaks.")
    assert found.text == "Steel\n\nIt bends and breaks."
    assert found.title == "Steel"


@pytest.mark.parametrize(
    ("name", "source"),
    [("a.tex", "{" * 20_000 + "words"), ("a.rst", "words\n" + "".join(" " * n + "- x\n\n" for n in range(80)))],
    ids=["a.tex", "a.rst"],
)
def test_deeply_nested_markup_is_read_as_plain_text(
    extractor: ExtractorProcess, tmp_path: Path, name: str, source: str
) -> None:
    (tmp_path / name).write_text(source)
    assert "words" in extractor.extract(tmp_path / name).document.text


@pytest.mark.parametrize("name", ["a.org", "a.rst", "a.tex"])
def test_markup_that_is_too_large_to_parse_is_read_as_plain_text(
    extractor: ExtractorProcess, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longsearch.indexer.extract.formats.MAX_MARKUP_BYTES", 10)
    (tmp_path / name).write_text("* one *two* \\three\n")
    assert extractor.extract(tmp_path / name).document.text == "* one *two* \\three"


WRAPPED = "協定は三十日後に効\n力を生ずる。\n다음 문장은\n한국어 a\nb"
UNWRAPPED = "協定は三十日後に効力を生ずる。 다음 문장은 한국어 a b"


@pytest.mark.parametrize(
    ("parse", "source"),
    [
        (markdown_text.parse, WRAPPED),
        (html_text.parse, f"<p>{WRAPPED}</p>"),
        (org_text.parse, WRAPPED),
        (rst_text.parse, WRAPPED),
        (tex_text.parse, WRAPPED),
    ],
    ids=["markdown", "html", "org", "rst", "latex"],
)
def test_a_line_end_between_chinese_or_japanese_characters_is_no_space(
    parse: Callable[[str], FileText], source: str
) -> None:
    assert parse(source).text == UNWRAPPED


def test_a_hard_break_in_markdown_stays() -> None:
    assert markdown_text.parse("最初の行  \n次の\n行\\\nlast").text == "最初の行\n次の行\nlast"


def paper(body: str, preamble: str = "") -> str:
    return tex_text.parse(
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}"
    ).text


@pytest.mark.parametrize(
    ("definition", "call", "shown"),
    [
        (
            r"\newcommand{\brook}{Dornbach}",
            r"the \brook{} and the \brook, \brook",
            "the Dornbach and the Dornbach, Dornbach",
        ),
        (r"\newcommand\term[1]{\emph{#1}}", r"\term{upper weir} x", "upper weir x"),
        (r"\newcommand{\both}[2][old]{#1 #2}", r"\both{mill}, \both[new]{weir}", "old mill, new weir"),
        (r"\renewcommand*{\two}[2]{#2 before #1}", r"\two{a}{b}", "b before a"),
        (r"\def\river{Dorn}", r"the \river.", "the Dorn."),
        (r"\def\pair#1#2{#1--#2}", r"\pair{a}{b}", "a–b"),
        (r"\let\strong\textbf", r"\strong{bold}", "bold"),
        (r"\newcommand{\a}{\b}\newcommand{\b}{deep}", r"\a{} end", "deep end"),
        (r"\newcommand{\loop}{x\loop}", r"kept \loop{} words", "kept words"),
        (r"\newcommand{\dornwater}{water\xspace}", r"\dornwater flows", "water flows"),
        (r"\DeclareMathOperator{\Hom}{Hom}", r"$\Hom(x)$", "Hom(x)"),
    ],
)
def test_macros_of_a_latex_paper_are_expanded(definition: str, call: str, shown: str) -> None:
    assert paper(call, definition) == shown


@pytest.mark.parametrize(
    "gone",
    [
        "\\begin{comment}\ngone\n\\end{comment}",
        "\\iffalse gone \\ifnum1=1 gone \\fi gone\\fi",
        "\\iffalse gone\\else\\fi",
        "\\iftrue\\else gone\\fi",
        "\\newif\\ifdraft\\ifdraft gone\\fi",
        "\\newif\\ifdraft\\drafttrue \\ifdraft\\else gone\\fi",
        "\\excludecomment{old}\\begin{old}gone\\end{old}",
        "% gone\n",
        "\\newcommand{\\never}{gone}",
        "\\phantom{gone}\\hphantom{gone}",
    ],
)
def test_what_a_latex_paper_never_prints_is_left_out(gone: str) -> None:
    assert paper(f"before {gone} after").split() == ["before", "after"]


def test_signs_that_only_look_like_comments_or_conditions_stay() -> None:
    assert paper(r"5\% of \verb|%x --no-ice \fi| and \\iff words \iftrue shown\else hidden\fi") == (
        "5% of %x --no-ice \\fi and\n\niff words shown"
    )
    assert "% kept" in paper("\\begin{verbatim}\n% kept\n\\end{verbatim}")


def test_quantities_and_captions_are_read_as_they_are_printed() -> None:
    text = paper(
        r"\SI{120}{\kilo\metre\per\hour}, \qty{3}{\percent}, \num{7}, \unit{\mm}, \ang{45}, \SIrange{2}{4}{\kg}."
        r"\begin{figure}\caption[Short]{The \emph{long} one}\end{figure}"
    )
    assert text == "120 km/h, 3%, 7, mm, 45°, 2 to 4 kg.\n\nThe long one"


def test_of_a_macro_that_changes_looks_only_the_text_is_read() -> None:
    assert paper(r"a \raisebox{2pt}{b} \parbox[t]{3cm}{c} \textcolor{red}{d} \colorbox[rgb]{0,0,1}{e}") == "a b c d e"


def test_of_links_languages_and_code_only_what_is_printed_is_read() -> None:
    source = (
        r"\hyperref[sec:x]{see there} \foreignlanguage{german}{am Bach} \mintinline{sh}{ls}"
        r" \texorpdfstring{seen}{gone} \selectlanguage{german}\captionof{table}{Tons}"
    )
    assert paper(source) == "see there am Bach ls seen Tons"


def test_no_heading_of_a_latex_paper_is_cut() -> None:
    assert paper(r"\section{" + "long " * 90 + "end}", r"\title{x}").endswith("long end")


def test_a_condition_that_an_author_sets_twice_is_not_decided() -> None:
    both = r"\newif\ifdraft \draftfalse \drafttrue \ifdraft old\else new\fi"
    assert "old" in paper(both) and "new" in paper(both)
