"""Generated passkey and needle tasks: their size, answers and bytes."""

import hashlib
import json
import re
from importlib.resources import files

import pytest

from longsearch.engine.evaluation.longembed import LENGTHS, make_task, task_names
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.hub import bundled_model

TASKS = [("passkey", "written"), ("needle", "written"), ("needle", "template")]


def test_lengths_are_those_of_longembed():
    assert LENGTHS == (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)


@pytest.mark.parametrize("length", [256, 1024])
@pytest.mark.parametrize(("kind", "needles"), TASKS)
def test_a_task_has_50_queries_over_100_documents_of_three_words_for_four_tokens(kind, needles, length):
    tokenizer = TextTokenizer.load(bundled_model())
    task = make_task(f"{kind}-{length}", needles=needles)
    assert (len(task.documents), len(task.queries)) == (100, 50)
    for document in task.documents:
        assert 0.75 * length - 40 <= len(document.text.split()) <= 0.75 * length  # the longest sentence has 31 words
        assert len(tokenizer.tokenize(document.text)) <= length


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


@pytest.mark.parametrize(("kind", "needles"), [TASKS[0], TASKS[2]])
def test_the_subject_of_a_query_is_only_in_the_judged_document(kind, needles):
    task = make_task(f"{kind}-256", needles=needles)
    for query in task.queries:
        subject = re.search(r"(?:for|did) (\w+ \w+)", query.text)[1]
        holders = [document.id for document in task.documents if subject in document.text]
        assert holders == list(task.qrels[query.id])


def test_a_task_is_deterministic_and_differs_with_the_seed():
    assert make_task("needle-512") == make_task("needle-512")
    assert make_task("needle-512") != make_task("needle-512", seed=1)


@pytest.mark.parametrize(
    ("name", "needles", "digest"),
    [
        ("passkey-256", "written", "1bc5ab43b9ecb20c"),
        ("needle-256", "written", "2a9bdc4682fbc69e"),
        ("needle-256", "template", "25370e2142203c79"),
        ("needle-32768", "written", "6159770196aafcc8"),
    ],
)
def test_a_task_has_the_same_bytes_on_every_machine(name, needles, digest):
    make_task("needle-512")  # tasks generated before have no influence
    task = make_task(name, needles=needles)
    made = repr((task.documents, task.queries, task.qrels)).encode()
    assert hashlib.blake2b(made, digest_size=8).hexdigest() == digest


def test_names_of_tasks_are_distinguished_from_folders():
    assert task_names("passkey") == [f"passkey-{length}" for length in LENGTHS]
    assert task_names("needle-4096") == ["needle-4096"]
    assert task_names("./needle") is None
