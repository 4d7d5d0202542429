"""What is new, gone, changed or moved between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.citing.comparing import Kind, compared

FIRST = """The rent is 900 euros a month. It is due on the third day.

The tenant may keep a cat. Dogs are not allowed in the house.

The lease ends in May after one year."""


def changes(second: str, first: str = FIRST) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.kind.value, one.first and first[slice(*one.first)], one.second and second[slice(*one.second)])
        for one in compared(first, second)[0]
    ]


def test_the_same_words_in_another_print_are_no_change() -> None:
    assert changes(FIRST.replace(" is ", "\nis ").replace("euros", "EUROS")) == []
    assert compared(FIRST, FIRST)[1] == 5


def test_a_changed_sentence_stands_beside_the_one_it_was() -> None:
    assert changes(FIRST.replace("900", "950")) == [
        ("changed", "The rent is 900 euros a month.", "The rent is 950 euros a month.")
    ]


def test_new_and_gone_sentences_in_a_row_are_one_passage() -> None:
    added = "The garden belongs to all. Nobody may light a fire there."
    assert changes(f"{FIRST}\n\n{added}") == [("new", None, added)]
    assert changes(FIRST, f"{FIRST}\n\n{added}") == [("gone", added, None)]


def test_a_sentence_at_another_place_has_moved() -> None:
    cat = "The tenant may keep a cat."
    assert changes(FIRST.replace(cat + " ", "") + f"\n\n{cat}") == [("moved", cat, cat)]


SENTENCES = st.lists(st.sampled_from(["The cat sat.", "A dog ran far.", "Rain fell all day.", "The cat sat down."]))


@given(SENTENCES, SENTENCES)
def test_every_sentence_of_both_texts_is_accounted_for(first: list[str], second: list[str]) -> None:
    one, other = "\n\n".join(first), "\n\n".join(second)
    found, n_same = compared(one, other)
    covered = [
        sum(len(text[slice(*span)].split("\n\n")) for span in spans if span)
        for text, spans in ((one, [c.first for c in found]), (other, [c.second for c in found]))
    ]
    assert [n + n_same for n in covered] == [len(first), len(second)]
    assert compared(one, one) == ([], len(first))
    assert all((one.first is None) == (one.kind is Kind.NEW) for one in found)
