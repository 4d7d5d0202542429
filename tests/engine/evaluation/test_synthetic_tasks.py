"""Generated passkey and needle tasks: their size, answers and bytes."""

import hashlib
import json
import re
import tracemalloc
from importlib.resources import files

import pytest

from longsearch.engine.evaluation.datasets import Dataset, EvalDocument
from longsearch.engine.evaluation.longembed import FIFTHS, LENGTHS, is_synthetic, make_task, task_names
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.hub import bundled_model

KINDS = ["passkey", "needle", "needle-own"]


def test_lengths_are_those_of_longembed():
    assert LENGTHS == (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)


@pytest.mark.parametrize("length", [256, 1024])
@pytest.mark.parametrize("kind", KINDS)
def test_a_task_has_50_queries_over_100_documents_of_three_words_for_four_tokens(kind, length):
    tokenizer = TextTokenizer.load(bundled_model())
    task = make_task(f"{kind}-{length}")
    assert (len(task.documents), len(task.queries)) == (100, 50)
    for document in task.documents:
        assert 0.75 * length - 40 <= len(document.text.split()) <= 0.75 * length  # the longest piece has 40 words
        assert len(tokenizer.tokenize(document.text)) <= 1.02 * length  # old names are cut into more pieces


def written_needles() -> list[dict[str, str]]:
    """Return subject, fact and question of every written needle."""
    lines = files("longsearch.engine.evaluation").joinpath("needles.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_written_needle_is_a_fact_about_a_subject_that_no_other_needle_mentions():
    needles = written_needles()
    assert len(needles) == 100
    for needle in needles:
        subject = needle["subject"].lower().removeprefix("the ")
        assert subject in needle["fact"].lower()
        others = [other for other in needles if other is not needle]
        assert not any(subject in (other["fact"] + other["question"]).lower() for other in others), subject


def test_every_written_needle_has_a_question_that_leaves_its_answer_out():
    for needle in written_needles():
        assert needle["question"].endswith("?")
        assert needle["fact"].endswith(".")
        assert len(set(words(needle["fact"])) - set(words(needle["question"]))) >= 4, needle["subject"]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_each_written_needle_lies_in_one_document_and_its_question_is_judged_to_it():
    task = make_task("needle-256")
    fact_of = {needle["question"]: needle["fact"] for needle in written_needles()}
    for query in task.queries:
        holders = [document.id for document in task.documents if fact_of[query.text] in document.text]
        assert holders == list(task.qrels[query.id])
    assert sum(fact in document.text for document in task.documents for fact in fact_of.values()) == 100


def test_the_person_of_a_passkey_is_only_in_the_judged_document():
    task = make_task("passkey-256")
    for query in task.queries:
        subject = re.search(r"for (\w+ \w+)", query.text)[1]
        holders = [document.id for document in task.documents if subject in document.text]
        assert holders == list(task.qrels[query.id])


def test_a_task_is_deterministic_and_differs_with_the_seed():
    assert make_task("needle-512") == make_task("needle-512")
    assert make_task("needle-512") != make_task("needle-512", seed=1)


@pytest.mark.parametrize(
    ("name", "digest"),
    [("passkey-256", "f59e9151d9ebc293"), ("needle-256", "66c45ca87762c48e"), ("needle-32768", "eccffa1b523a49e7")],
)
def test_a_task_has_the_same_bytes_on_every_machine(name, digest):
    make_task("needle-512")  # tasks generated before have no influence
    task = make_task(name)
    documents = tuple(EvalDocument(document.id, document.title, document.text) for document in task.documents)
    made = repr((documents, task.queries, task.qrels)).encode()
    assert hashlib.blake2b(made, digest_size=8).hexdigest() == digest


def without_the_facts(task: Dataset) -> list[list[str]]:
    """Return the filler of each document, in runs of eight words."""
    fillers = []
    for document in task.documents:
        text = document.text
        for needle in written_needles():
            text = text.replace(needle["fact"], "")
        left = text.split()
        fillers.append([" ".join(left[at : at + 8]) for at in range(0, len(left) - 8, 8)])
    return fillers


@pytest.mark.parametrize("kind", ["needle", "needle-own"])
def test_the_prose_around_a_needle_does_not_repeat_itself(kind):
    filler = without_the_facts(make_task(f"{kind}-32768", n_documents=1))[0]
    assert len(set(filler)) / len(filler) > 0.999


def test_documents_of_the_own_task_share_no_prose_and_those_of_the_shared_task_all_of_it():
    own, shared = (without_the_facts(make_task(f"{kind}-1024")) for kind in ("needle-own", "needle"))
    assert len({run for filler in own for run in filler}) > 0.995 * sum(map(len, own))
    diary = set(shared[0])
    assert min(len(diary & set(filler)) for filler in shared) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_fifths_of_a_task_differ_in_nothing_but_where_the_facts_lie(kind):
    whole = make_task(f"{kind}-1024")
    for name in task_names(f"{kind}-1024", by_depth=True):
        task = make_task(name)
        assert (task.queries, task.qrels) == (whole.queries, whole.qrels)
        for at_any_depth, document in zip(whole.documents, task.documents, strict=True):
            assert sorted(words(document.text)) == sorted(words(at_any_depth.text))


@pytest.mark.parametrize("fifth", FIFTHS)
def test_every_fact_lies_in_the_fifth_that_the_task_names(fifth):
    fact_of = {needle["question"]: needle["fact"] for needle in written_needles()}
    task = make_task(f"needle-4096-fifth-{fifth}")
    documents = {document.id: document.text for document in task.documents}
    for query in task.queries:
        (document,) = task.qrels[query.id]
        before, _, after = documents[document].partition(fact_of[query.text])
        depth = len(words(before)) / len(words(before + after))
        assert (fifth - 1) / 5 - 0.01 <= depth <= fifth / 5 + 0.01  # a fact lies between two sentences


def test_a_task_of_few_documents_asks_for_each_of_them():
    whole, few = make_task("needle-256"), make_task("needle-256", n_documents=3)
    assert set(few.documents) < set(whole.documents)
    assert set(few.queries) < set(whole.queries)
    assert [list(few.qrels[query.id]) for query in few.queries] == [[document.id] for document in few.documents]
    assert len(make_task("passkey-256", n_documents=60).queries) == 50


@pytest.mark.parametrize("name", ["needle", "haystack-256", "needle-256-fifth-6"])
def test_a_task_without_a_length_or_of_an_unknown_kind_is_refused(name):
    with pytest.raises(ValueError, match="is no task"):
        make_task(name)


@pytest.mark.parametrize(("length", "n_facts"), [(256, 5), (16_384, 61), (65_536, 100)])
def test_one_document_hides_many_needles_and_each_query_knows_where_its_own_lies(length, n_facts):
    fact_of = {needle["question"]: needle["fact"] for needle in written_needles()}
    task = make_task(f"needles-{length}")
    (document,) = task.documents
    assert len(document.text.split()) <= 0.75 * length
    assert len(task.queries) == n_facts
    for query in task.queries:
        ((start, stop),) = query.spans
        assert document.text[start:stop] == fact_of[query.text]


def test_the_fifths_of_one_document_share_its_text_and_divide_its_queries():
    whole = make_task("needles-65536")
    fifths = [make_task(name) for name in task_names("needles-65536", by_depth=True)]
    assert {task.documents[0].text for task in fifths} == {whole.documents[0].text}
    assert [query for task in fifths for query in task.queries] == list(whole.queries)
    assert [len(task.queries) for task in fifths] == [20] * 5


def test_a_task_of_a_million_tokens_keeps_no_text():
    make_task("needle-256")  # reads the needles and the diary
    tracemalloc.start()
    task = make_task("needle-1048576")
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20
    assert kept < 2**19
    assert len(task.documents[7].text.split()) == pytest.approx(0.75 * 2**20, abs=40)


def test_names_of_tasks_are_distinguished_from_folders():
    assert task_names("passkey") == [f"passkey-{length}" for length in LENGTHS]
    assert task_names("needle-4096") == ["needle-4096"]
    assert task_names("needles-1048576") == ["needles-1048576"]
    assert task_names("passkey-256", by_depth=True) == [f"passkey-256-fifth-{fifth}" for fifth in FIFTHS]
    assert task_names("passkey-256-fifth-2", by_depth=True) == ["passkey-256-fifth-2"]
    assert all(
        map(
            is_synthetic,
            ("passkey-256", "needle-256-fifth-1", "needles-1024", "needle-own-256", "longembed-needle-256"),
        )
    )
    assert task_names("needle-own-256") == ["needle-own-256"]
    assert task_names("./needle") is None
