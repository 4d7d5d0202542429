"""The sentence that answers is chosen by late interaction; what only furnishes a page is passed over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from longsearch.engine.answers.choosing import COMMON_WEIGHT, SECOND_COSTS, Asked, leads_on, overlapping
from longsearch.engine.answers.token_table import TokenTable
from longsearch.engine.arrays import Vectors
from longsearch.engine.furniture import furniture_in
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.hub import shipped_model
from longsearch.engine.sentences import cut_sentences

QUESTION = "when should bees be fed sugar"
PASSAGE = (
    "The foragers fly home to her. A colony that has eaten through its honey in March needs syrup of sugar at once. "
    "Bees drink water too."
)


@dataclass(frozen=True)
class Words:
    """Words in place of word pieces: each has a random vector of its own."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]


class WordTable:
    """A table of words."""

    def tokenize(self, text: str) -> Words:
        found = list(re.finditer(r"\w+", text))
        ids = [sum(map(ord, match[0].casefold())) % 997 for match in found]
        return Words(np.array(ids, np.int64), np.array([match.start() for match in found], np.int64))

    def pieces(self, sentences: Sequence[str]) -> list[list[int]]:
        return [self.tokenize(sentence).ids.tolist() for sentence in sentences]

    def rows(self, ids: NDArray[np.int64]) -> Vectors:
        rows = np.stack([np.random.default_rng(id_).normal(size=16) for id_ in ids.tolist()]).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def asked(question: str = QUESTION, **idf: float) -> Asked:
    found = Asked.of(question, idf or {"bees": 3.0, "fed": 4.0, "sugar": 5.0}, WordTable())
    assert found is not None
    return found


def test_the_sentence_with_the_rarest_words_of_the_question_is_chosen() -> None:
    (choice,) = asked().choose([(PASSAGE, "en")])
    assert choice is not None
    assert PASSAGE[choice.start : choice.stop].startswith("A colony that has eaten")


@given(st.lists(st.text("abc .\n", max_size=80), max_size=4))
def test_all_passages_together_get_the_score_that_each_word_by_word_gives(passages: list[str]) -> None:
    query, table = asked("a b ca", a=2.0, ca=1.0), WordTable()
    for text, choice in zip(passages, query.choose([(text, "en") for text in passages]), strict=True):
        scores, spans = {}, cut_sentences(text, "en")
        for first, last in [*zip(spans, spans, strict=True), *pairwise(spans)]:
            is_pair = first != last
            if is_pair and ("\n\n" in text[first[1] : last[0]] or not text[: first[1]].endswith(".")):
                continue
            rows = [row for span in {first, last} for row in table.rows(table.tokenize(text[slice(*span)]).ids)]
            scores[first[0], last[1]] = -SECOND_COSTS * is_pair + sum(
                weight * max(float(vector @ row) for row in rows)
                for weight, vector in zip(query.weights.tolist(), query.vectors, strict=True)
            )
        assert (choice is None) == (not scores)
        if choice is not None and choice.score is not None:
            assert choice.score == pytest.approx(max(scores.values()), abs=1e-5) or any(
                text[start:stop].strip(". ") == "c"
                for start, stop in scores  # a page number
            )


def test_a_word_of_the_query_that_no_index_weighs_counts_little() -> None:
    weights = asked("when bees", bees=3.0).weights
    assert weights.tolist() == pytest.approx([COMMON_WEIGHT / 3.2, 3.1 / 3.2])


def test_a_query_without_pieces_asks_nothing() -> None:
    assert Asked.of("?", {}, WordTable()) is None


@pytest.mark.parametrize(
    "line",
    [
        "3 Results .................... 17",
        "Bee diseases . . . . . . . 12",
        "[12] Lee, A. and Kim, B. Feeding bees in spring. Journal of Bees, 2004.",
        "Smith, J., Doe, A. (1999). Sugar for bees. Bee World.",
        "12",
        "Page 3 of 40",
        "xiv",
    ],
)
def test_lines_of_contents_references_and_page_numbers_are_no_answers(line: str) -> None:
    text = f"{line}\n\nFeed sugar to the bees when the honey is gone."
    (choice,) = asked().choose([(text, "en")], [[span for span, _ in furniture_in(text)]])
    assert choice is not None
    assert choice.start > 0


def test_the_shreds_of_a_formula_are_no_answer_though_they_hold_the_words() -> None:
    text = "sum fed = ∑\nbee fed\nn\n\nFeed sugar to them when the honey is gone."
    (choice,) = asked("sum fed bee", sum=1.0, fed=1.0, bee=1.0).choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop].startswith("Feed")


def test_a_second_sentence_is_taken_if_it_says_enough_more() -> None:
    text = "Bees starve in March. Sugar may then be fed. Nothing else helps."
    (choice,) = asked("bees sugar fed", bees=3.0, sugar=3.0, fed=3.0).choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop] == "Bees starve in March. Sugar may then be fed."
    (choice,) = asked("bees in march", bees=3.0, march=3.0).choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop] == "Bees starve in March."


def test_the_sentence_in_the_nearest_excerpt_is_ahead_of_one_that_is_as_near_by_its_words() -> None:
    text = "Bees starve in March. Bees starve in June."
    for excerpt, sentence in ((None, text[22:]), ((0, 21), text[:21]), ((22, 42), text[22:]), ((30, 42), text[22:])):
        (choice,) = asked("bees starve", bees=3.0, starve=3.0).choose([(text, "en")], nearest=[excerpt])
        assert choice is not None
        assert text[choice.start : choice.stop] == sentence


def test_a_title_that_is_said_again_as_a_heading_brings_the_sentence_below_both() -> None:
    text = "Feeding bees\n\nFeeding bees\nFeeding bees\nGive them syrup in March. Stop in May."
    (choice,) = asked("feeding bees", feeding=3.0, bees=3.0).choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop] == "Feeding bees\nGive them syrup in March."


@pytest.mark.parametrize("between", ["\n\n", "\f"])
def test_sentences_of_two_paragraphs_or_pages_are_not_taken_together(between: str) -> None:
    text = f"Bees starve in March.{between}Sugar may then be fed."
    (choice,) = asked("bees sugar fed", bees=3.0, sugar=3.0, fed=3.0).choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop] in ("Bees starve in March.", "Sugar may then be fed.")


def test_a_heading_and_a_colon_bring_the_sentence_after_them() -> None:
    text = "Feeding bees sugar\n\nOnly in March, and never in a frost.\n\nThe rest waits."
    (choice,) = asked().choose([(text, "en")])
    assert choice is not None
    assert text[choice.start : choice.stop].endswith("never in a frost.")


@pytest.mark.parametrize(
    ("sentence", "after", "leads"),
    [
        ("Bees are fed with:", "\nsugar", True),
        ("When are bees fed?", "\n\nIn March.", True),
        ("Bees are fed.", "\n\nIn March.", False),
        ("Feeding bees", "\nOnly in March.", True),
        ("Feeding bees", "\n\nIn March", True),
        ("Change the oil every month", "\nGrease with soap only", False),
        ("Tachometer | Cupboard under the stairs | 1", "\n\nPaint", False),
    ],
)
def test_a_heading_leads_on_and_a_row_or_a_line_of_a_slide_does_not(sentence: str, after: str, leads: bool) -> None:
    assert leads_on(sentence, after) is leads


def test_without_a_table_the_sentence_that_shares_most_with_the_excerpt_is_chosen() -> None:
    start = PASSAGE.index("eaten")
    first, last = overlapping(PASSAGE, "en", (start - 10, start + 60))
    assert PASSAGE[first:last] == "A colony that has eaten through its honey in March needs syrup of sugar at once."


@pytest.mark.parametrize("name", ["bundled", "multilingual"])
def test_the_table_of_a_model_gives_unit_vectors_without_torch(name: str) -> None:
    table = TokenTable.open(name)
    assert table is not None
    ids = table.tokenize("honey honey").ids
    rows = table.rows(ids)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert (rows[: len(ids) // 2] == rows[len(ids) // 2 :]).all()


SENTENCES = (
    "The bees' honey-flow (March, 12.5 %) … doesn't begin -- at all!",
    "Die Kündigungsfrist beträgt drei\u00a0Monate; Straße, Öl und ﬁn.",
    "Договоры садовников были подписаны\tобеими сторонами.",
    "庭師の契約は双方が署名し、町の家に保管された。東大寺には大仏がある。",
    "계약서는 정원사가 서명했다.  สวนมีต้นไม้ ما هي المدة؟ מה משך החוזה",
    "a\u200bb \u2581c x\ufeffy \u0301d \ud800e 🐝🏽 ..... . .. ... [UNK] [SEP] ½ e\u0301",
)


@pytest.mark.parametrize("name", ["bundled", "multilingual"])
def test_the_pieces_of_words_are_those_of_the_sentence(name: str) -> None:
    table = TokenTable.open("bundled", TextTokenizer.load(shipped_model(name)))
    assert table is not None

    @given(st.lists(st.one_of(st.sampled_from(SENTENCES), st.text(max_size=20)), max_size=4))
    def holds(sentences: list[str]) -> None:
        for sentence, ids in zip(sentences, table.pieces(sentences), strict=True):
            assert set(ids) == set(table.tokenize(sentence).ids.tolist()), sentence

    holds()


def test_a_word_is_cut_into_pieces_once() -> None:
    table = TokenTable.open("bundled")
    assert table is not None
    asked_for: list[str] = []
    cut = table._tokenizer.ids_of_words
    table._tokenizer.ids_of_words = lambda words: asked_for.extend(words) or cut(words)  # type: ignore[method-assign,func-returns-value]
    table.pieces(["bees feed bees", "feed honey"])
    table.pieces(["honey bees"])
    assert asked_for == ["bees", "feed", "honey"]
