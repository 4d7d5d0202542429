"""Parallel texts become pairs that share a target, test sets stay out, and sets across languages can be made."""

import json

import numpy as np
import pytest

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.training import commands
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.pairs import Pair, read_pairs
from longsearch.engine.training.data.questions import QUESTIONS, question_of
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.data.translations import Choice, read_translations, runs_of
from tests.engine.training.training_helpers import FakeTeacher, make_tokenizer


def write(path, records):
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return path


def parallel(english: str, other: str, language: str = "de", source: str = "docs") -> dict[str, str]:
    return {"en": english, "x": other, "lang": language, "s": source}


def made(tmp_path, records, choice: Choice = Choice()) -> list[Pair]:  # noqa: B008 - it is frozen
    return list(read_translations([write(tmp_path / "texts.jsonl", records)], choice, seed=0))


def test_the_most_translated_texts_come_first_and_a_batch_has_one_pair_of_languages(tmp_path):
    common = [parallel("common", f"x{language}", language) for language in ("de", "fr", "ja")]
    pairs = made(tmp_path, [parallel("rare", "selten"), *common])
    assert ["common" in (pair.query, pair.passage) for pair in pairs] == [True, True, True, False]
    for pair in pairs:
        asked_in_english = pair.query in ("rare", "common")
        assert pair.kind == ("english2other" if asked_in_english else "other2english")
        assert pair.source.startswith("en-") if asked_in_english else pair.source.endswith("-en")


def test_a_text_is_asked_for_in_both_directions_over_many_languages(tmp_path):
    pairs = made(tmp_path, [parallel(f"text {i}", f"Text {i}") for i in range(200)])
    assert 60 < sum(pair.kind == "english2other" for pair in pairs) < 140


def test_translation_test_sets_held_out_sources_and_copies_are_left_out(tmp_path):
    records = [parallel("a", "b", source="MicrosoftTranslator/NTREX"), parallel("c", "d", source="UD/UD_German-PUD")]
    records += [parallel("e", "f", source="held"), parallel("same", "same"), parallel("g", "h"), parallel("g", "h")]
    assert [pair.document for pair in made(tmp_path, records, Choice(held_out=("held",)))] == ["docs/g"]


def test_a_plain_text_is_also_asked_for_by_a_question_made_of_one_of_its_sentences(tmp_path):
    first, second = "Bitwa pod Grunwaldem odbyła się 15 lipca 1410 roku.", "Był to jej {}. opis w tej krótkiej książce."
    texts = [f"{first} {second.format(i)}" for i in range(50)]
    pairs = made(tmp_path, [{"text": text, "lang": "pl", "s": "mono"} for text in texts])
    questions = [pair for pair in pairs if pair.source == "questions-pl"]
    assert len(questions) == 50 and {pair.kind for pair in questions} == {"question2answer"}
    assert len({pair.query for pair in questions}) > 30
    assert first in {pair.passage for pair in questions}  # some with the sentence, some with the whole
    assert {pair.passage for pair in questions} & set(texts)


def test_a_made_question_has_a_few_neighbouring_words_in_a_question_of_its_language():
    sentence = "Cette ville, fondée en 1204, est au nord de l'île."
    words = sentence.replace(",", "").rstrip(".").split()
    asked = {question_of(sentence, "fr", drawn) for drawn in range(2000)}
    assert len(asked) > 200
    for question in asked:
        start, end = next(
            (start, end)
            for start, end in (template.split("{}") for template in QUESTIONS["fr"])
            if question.startswith(start) and question.endswith(end)
            and question.removeprefix(start).removesuffix(end) in " ".join(words)
        )  # fmt: skip
        assert 2 <= len(question.removeprefix(start).removesuffix(end).split()) <= 10


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("ar", "الكُتُب في المكتبات القديمة"), ("hi", "किताबें पुस्तकालयों में हैं"), ("bn", "বাংলাদেশের নদী।")],
)
def test_a_made_question_does_not_split_words_at_vowel_signs(language, sentence):
    words = sentence.rstrip("।").split()
    assert all(any(word in question_of(sentence, language, drawn).split() for word in words) for drawn in range(50))
    torn = {piece for drawn in range(200) for piece in question_of(sentence, language, drawn).rstrip("?؟").split()}
    known = {piece for question in QUESTIONS[language] for piece in question.replace("{}", " ").rstrip("?؟").split()}
    assert torn - known <= set(words)


@pytest.mark.parametrize("language", QUESTIONS)
def test_each_question_has_one_place_for_words_and_ends_as_questions_do(language):
    for question in QUESTIONS[language]:
        assert question.count("{}") == 1 and question[-1] in "?;؟"


def test_no_question_is_made_in_a_language_without_questions_or_of_no_words():
    assert question_of("これは本です。", "ja", 7) == question_of("... !", "pl", 7) == ""


def test_questions_plain_texts_and_pairs_join_the_translations(tmp_path):
    records = [
        {"q": "何ですか", "p": "これは本です。", "lang": "ja", "s": "qa"},
        {"text": "最初の文はこれです、長い。" + "次の文はもっと長いです。" * 6, "lang": "ja", "s": "mono"},
        {"text": "too short to cut", "lang": "de", "s": "mono"},
        {"q": "title", "p": "passage", "k": "title2abstract", "s": "arxiv"},
    ]
    found = {pair.kind: pair for pair in made(tmp_path, records)}
    assert found.keys() == {"question2answer", "ict", "title2abstract"}
    assert (found["question2answer"].source, found["ict"].source) == ("questions-ja", "ja")
    assert found["title2abstract"].source == "arxiv"


def test_a_plain_text_is_asked_for_by_one_of_its_sentences_or_by_a_few_of_its_words(tmp_path):
    texts = [f"Text {i} begins with these words. A second sentence of text {i} ends it here." for i in range(60)]
    texts += [f"第{i}段从这里开始，有很多很多字。第{i}段到这里结束，也有很多很多字。" for i in range(60)]
    records = [{"text": text, "lang": "de", "s": "mono", "d": str(i)} for i, text in enumerate(texts)]
    pairs = [pair for pair in made(tmp_path, records) if pair.kind == "ict"]
    assert {pair.passage for pair in pairs} == set(texts)
    assert all(pair.query in pair.passage for pair in pairs)
    parts = [pair.query for pair in pairs if pair.query[-1] not in ".。" or pair.query[0] not in "TA第"]
    assert 30 < len(parts) < 90
    assert all(4 <= len(part.split()) <= 12 if part.isascii() else 8 <= len(part) <= 24 for part in parts)


def test_a_line_without_text_is_named(tmp_path):
    with pytest.raises(LongsearchError, match=r"texts\.jsonl: no text in \['lang', 's'\]"):
        made(tmp_path, [{"lang": "de", "s": "x"}])


def test_runs_are_of_25_words_or_of_60_characters_where_words_are_not_separated():
    words = " ".join(f"w{i}" for i in range(30))
    assert runs_of([words]) & runs_of(["before " + words[3:]])
    assert not runs_of([words]) & runs_of([" ".join(words.split()[:24])])
    characters = "".join(chr(0x4E00 + i) for i in range(80))
    assert runs_of([characters]) & runs_of(["前" + characters[10:75]])
    assert not runs_of([characters]) & runs_of([characters[:59]])


def test_texts_of_evaluation_sets_are_left_out(tmp_path):
    text = " ".join(f"word{i}" for i in range(40))
    write(tmp_path / "corpus.jsonl", [{"_id": "1", "title": "", "text": text}])
    write(tmp_path / "queries.jsonl", [{"_id": "q", "text": "what"}])
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")
    source = write(tmp_path / "texts.jsonl", [parallel("fine", "gut"), parallel(f"a copy: {text}", "eine Kopie")])
    out = tmp_path / "pairs.out.jsonl"
    assert commands.run(["translations", str(source), "--out", str(out), "--unlike", str(tmp_path)]) == 0
    assert {"fine", "gut"} == {text for pair in read_pairs([out]) for text in (pair.query, pair.passage)}


def test_both_sides_of_a_translation_get_the_vector_of_the_english_side_which_is_read_once(tmp_path):
    teacher = CountingTeacher()
    pairs = [
        Pair("w1 w2 w3", "w9 w8", "english2other", "en-de", "a"),
        Pair("w7 w7", "w1 w2 w3", "other2english", "fr-en", "a"),
        Pair("w4 w5", "w5 w6", "question2answer", "de", "b"),
    ]
    write_shards(iter(pairs), make_tokenizer(), tmp_path / "shards")
    list(label_shards(tmp_path / "shards", teacher))
    labelled = load_pairs(tmp_path / "shards", make_tokenizer(), labelled_only=True)
    english, question, answer = teacher.encode(["w1 w2 w3", "w4 w5", "w5 w6"])
    expected_queries, expected_passages = np.stack([english, english, question]), np.stack([english, english, answer])
    np.testing.assert_allclose(labelled.query_vectors, expected_queries, atol=1e-3)
    np.testing.assert_allclose(labelled.passage_vectors, expected_passages, atol=1e-3)
    assert teacher.n_read == 3


class CountingTeacher(FakeTeacher):
    n_read = 0

    def encode_ids(self, ids, max_tokens=256):
        if max_tokens != 256:  # not by `encode`
            self.n_read += len(ids)
        return super().encode_ids(ids, max_tokens)


def test_sets_across_languages_ask_by_the_first_sentence_of_the_other_language(tmp_path, capsys):
    english = [f"English sentence {i} is first. Then more English text follows {i}." for i in range(3)]
    german = [f"Der deutsche Satz {i} ist vorn. Danach kommt noch mehr deutscher Text {i}." for i in range(3)]
    texts = list(zip(english, german, strict=True))
    records = [*(parallel(en, x, source="held") for en, x in texts), parallel("A label", "Ein Wort", source="held")]
    source = write(tmp_path / "texts.jsonl", [*records, parallel("not held out. " * 9, "x", source="docs")])
    options = ["--held-out", "held", "--limit", "2", "--out", str(tmp_path / "sets")]
    assert commands.run(["crossing", str(source), *options]) == 0
    assert "en-de: 2 queries, 4 passages" in capsys.readouterr().out
    crossed = load_dataset(tmp_path / "sets" / "en-de")
    assert crossed.queries[0].text == "English sentence 0 is first."
    answer = next(iter(crossed.qrels[crossed.queries[0].id]))
    assert next(d for d in crossed.documents if d.id == answer).full_text == texts[0][1]
    assert load_dataset(tmp_path / "sets" / "de-en").queries[1].text == "Der deutsche Satz 1 ist vorn."
