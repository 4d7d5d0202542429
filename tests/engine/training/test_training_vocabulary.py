"""A tokenizer of our own: its training, unusual text, and a model that uses it."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference import tokens
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.training import commands, preparing, stage_makers
from longsearch.engine.training.data.labelling import copy_vectors
from longsearch.engine.training.data.shards import (
    load_pairs,
    load_shard,
    save_teacher,
    shard_paths,
    teacher_path,
    write_shards,
)
from longsearch.engine.training.data.vocabulary import Kind, VocabularyOptions, measure, texts_of, train_tokenizer
from longsearch.engine.training.student.initialise import Shape, new_checkpoint, static_start, token_counts
from tests.engine.training.training_helpers import WORDS, FakeTeacher, make_pairs, make_tokenizer, write_pairs

KINDS = [VocabularyOptions(512, kind, cased) for kind in Kind for cased in (False, True)]
SENTENCES = ["The harbour was quiet in Paris.", "Gulls sleep on the roofs of the harbour.", "It rained: 12.5 mm!"] * 9
STRANGE = ["Привет, 世界! שלום", "🙂👩‍👩‍👧 🏳️‍🌈", "a\0b\x1b[31m", "\ud800 lone", "x" * 5000, "", " \n\t "]


@pytest.fixture(scope="module", params=KINDS, ids=lambda o: f"{o.kind}-{'cased' if o.cased else 'lower'}")
def options(request):
    return request.param


@pytest.fixture(scope="module")
def tokenizer(options):
    return train_tokenizer(SENTENCES, options)


def test_frequent_words_are_one_token_each(tokenizer):
    assert len(tokenizer.encode("the harbour").ids) == 2


def test_only_a_cased_tokenizer_distinguishes_capitals(tokenizer, options):
    assert (tokenizer.encode("The Harbour").ids == tokenizer.encode("the harbour").ids) is not options.cased


def test_tokens_of_unusual_text_start_inside_the_text(tokenizer):
    texts = TextTokenizer(tokenizer, None)
    for text in STRANGE:
        made = texts.tokenize(text)
        assert np.all((made.ids >= 0) & (made.ids < texts.vocabulary_size))
        assert np.all(np.diff(made.starts) >= 0)
        assert np.all(made.starts < max(len(text), 1))


_BYTES = train_tokenizer(SENTENCES, VocabularyOptions(512, Kind.BYTELEVEL, cased=True))


@given(text=st.text(max_size=60))
@example("[PAD]")
def test_byte_level_tokens_decode_to_the_text(text):
    decoded = _BYTES.decode(_BYTES.encode(text).ids)
    assert decoded in (text, " " + text)


def test_a_long_text_tokenized_in_pieces_has_the_tokens_of_the_whole(tokenizer, monkeypatch):
    text = " ".join(["The gulls sleep, in Paris, on the 12.5 roofs!"] * 40)
    whole = tokenizer.encode(text, add_special_tokens=False).ids
    cut = tokens.pieces
    monkeypatch.setattr(tokens, "pieces", lambda t: cut(t, 50, 30))
    assert TextTokenizer(tokenizer, None).tokenize(text).ids.tolist() == whole


def test_a_tokenizer_can_be_trained_on_unusual_text(options):
    made = train_tokenizer([*SENTENCES, *STRANGE], options)
    assert made.get_vocab_size() <= options.size
    assert len(made.encode("the harbour").ids) == 2


def test_sizes_out_of_range_and_texts_without_words_are_refused(options):
    for size in (100, 1_000_000):
        with pytest.raises(LongsearchError, match=f"{size} tokens"):
            train_tokenizer(SENTENCES, VocabularyOptions(size, options.kind))
    with pytest.raises(LongsearchError, match="have no words"):
        train_tokenizer(["", " "], options)


def test_the_cost_of_a_tokenizer_is_measured_by_the_word():
    cost = measure(make_tokenizer(), ["w1 w2. w3", "never seen w4"])
    assert cost is not None
    assert cost.tokens_per_word == pytest.approx(7 / 6)
    assert cost.unknown_share == pytest.approx(2 / 7)
    assert measure(make_tokenizer(), ["", " "]) is None


def test_a_model_with_the_vocabulary_encodes_unusual_text(tokenizer, tmp_path):
    teacher = FakeTeacher()
    counts = np.ones(tokenizer.get_vocab_size(), np.int64)
    start = static_start(tokenizer, teacher.encode, counts)
    new_checkpoint(tmp_path, Shape(16, 2, 8, 4, 8, 8), tokenizer, start, seed=0)
    encoder = Encoder.open(tmp_path, device="cpu", dtype="float32")
    for text in ("The harbour of Paris.", *STRANGE[:5]):
        embedding = encoder.encode_document(text)
        assert abs(np.linalg.norm(embedding.vector) - 1) < 1e-4, text
    assert encoder.encode_query("harbour").shape == (16,)


def test_each_tokens_start_vector_is_the_teachers_vector_of_its_text(tokenizer):
    asked = []

    def encode(texts):
        asked.extend(texts)
        return np.ones((len(texts), 4), np.float32)

    static_start(tokenizer, encode, np.ones(tokenizer.get_vocab_size(), np.int64))
    assert len(asked) == tokenizer.get_vocab_size()
    assert asked[tokenizer.encode("harbour").ids[0]] == "harbour"
    assert all(text.strip() and "##" not in text and "Ġ" not in text for text in asked)
    assert asked[0] == "[PAD]"


def test_the_teachers_vectors_are_copied_to_shards_of_the_same_pairs_only(tmp_path):
    own = train_tokenizer(texts_of(make_pairs(30)), VocabularyOptions(512))
    for name, tokenizer in (("theirs", make_tokenizer()), ("own", own)):
        write_shards(make_pairs(30), tokenizer, tmp_path / name, shard_pairs=16)
    assert copy_vectors(tmp_path / "own", tmp_path / "theirs") == 0
    for path in shard_paths(tmp_path / "theirs"):
        vectors = np.random.default_rng(0).normal(size=(len(load_shard(path)[0]["documents"]), 4)).astype(np.float32)
        save_teacher(path, vectors, -vectors)
    assert copy_vectors(tmp_path / "own", tmp_path / "theirs") == 2
    pairs = load_pairs(tmp_path / "own", own, labelled_only=True)
    assert pairs.query_vectors is not None
    assert pairs.query_vectors.shape == (30, 4)
    write_shards(make_pairs(30, seed=1), own, tmp_path / "few", shard_pairs=8)
    with pytest.raises(LongsearchError, match="hold different pairs"):
        copy_vectors(tmp_path / "few", tmp_path / "theirs")
    assert not teacher_path(shard_paths(tmp_path / "few")[0]).exists()


def test_the_command_trains_a_vocabulary_that_the_others_use(tmp_path, capsys):
    pairs = write_pairs(tmp_path / "pairs.jsonl")
    arguments = [str(pairs), "--out", str(tmp_path / "own"), "--size", "600", "--pairs", "40"]
    assert commands.run(["vocabulary", *arguments]) == 0
    said = capsys.readouterr().out
    assert "the next pairs: 1." in said
    own, shards = str(tmp_path / "own"), str(tmp_path / "shards")
    assert commands.run(["label", str(pairs), "--model", own, "--shards", shards, "--tokens-only"]) == 0
    trained = TextTokenizer.load(tmp_path / "own")
    ids = load_shard(shard_paths(tmp_path / "shards")[0])[0]["query_ids"]
    assert ids.max() < trained.vocabulary_size
    assert len(trained.tokenize(WORDS[0])) == 1


def test_the_command_starts_a_model_with_the_vocabulary(tmp_path, monkeypatch):
    monkeypatch.setattr(preparing, "open_teacher", lambda *_: FakeTeacher(384))
    pairs, own, shards = write_pairs(tmp_path / "pairs.jsonl"), str(tmp_path / "own"), str(tmp_path / "shards")
    assert commands.run(["vocabulary", str(pairs), "--out", own, "--size", "600"]) == 0
    assert commands.run(["label", str(pairs), "--model", own, "--shards", shards, "--tokens-only"]) == 0
    assert commands.run(["new", "--model", own, "--shards", shards, "--out", str(tmp_path / "static")]) == 0
    assert Encoder.open(tmp_path / "static", device="cpu").encode_query("w1").shape == (384,)
    size = TextTokenizer.load(tmp_path / "own").vocabulary_size
    assert json.loads((tmp_path / "static" / "config.json").read_text())["vocab_size"] == size


def test_a_missing_vocabulary_is_an_error_of_one_line(tmp_path, capsys):
    arguments = ["label", "--shards", str(tmp_path), "--model", str(tmp_path / "none"), "--tokens-only"]
    assert commands.run(arguments) == 1
    assert "cannot read the tokenizer" in capsys.readouterr().err


def test_streams_refuse_a_teacher_of_another_vocabulary(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stage_makers, "open_teacher", lambda *_: FakeTeacher())
    own = train_tokenizer(texts_of(make_pairs(30)), VocabularyOptions(512))
    start = static_start(own, FakeTeacher().encode, np.ones(own.get_vocab_size(), np.int64))
    new_checkpoint(tmp_path / "model", Shape(16, 2, 8, 4, 8, 8), own, start, seed=0)
    (tmp_path / "long.jsonl").write_text(json.dumps({"title": "w1", "text": "w1 w2. " * 300, "s": "made"}))
    arguments = ["streams", str(tmp_path / "long.jsonl"), "--model", str(tmp_path / "model"), "--teacher"]
    assert commands.run([*arguments, "--out", str(tmp_path / "out"), "--device", "cpu", "--steps", "1"]) == 1
    assert "another vocabulary" in capsys.readouterr().err


def test_token_counts_are_those_of_the_shards(tmp_path):
    own = train_tokenizer(texts_of(make_pairs(30)), VocabularyOptions(512))
    write_shards(make_pairs(30), own, tmp_path)
    counts = token_counts(load_pairs(tmp_path, own, labelled_only=False), own.get_vocab_size())
    assert counts.sum() == sum(len(own.encode(text).ids) for text in texts_of(make_pairs(30)))
