"""Pairs, shards, the held-out split, and the draw of batches."""

import json
import lzma
from dataclasses import replace

import numpy as np
import pytest

from longsearch.engine.errors import LongsearchError
from longsearch.engine.models.readout_config import INSTRUCTION_TEMPLATE
from longsearch.engine.training.data.batches import Batches, Sampling, pick
from longsearch.engine.training.data.instructions import Prompter, prompts_for
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.pairs import held_out_hash, read_long_documents, read_pairs, record_of
from longsearch.engine.training.data.shards import load_pairs, load_shard, shard_paths, teacher_path, write_shards
from tests.engine.tiny_models import byte_level_bpe
from tests.engine.training.training_helpers import FakeTeacher, make_pairs, make_tokenizer, write_pairs


def make_shards(folder, n=200, labelled=True):
    write_shards(make_pairs(n), make_tokenizer(), folder, shard_pairs=64)
    if labelled:
        assert len(list(label_shards(folder, FakeTeacher()))) == -(-n // 64)
    return load_pairs(folder, make_tokenizer(), labelled)


def test_pairs_are_read_from_plain_and_compressed_files(tmp_path):
    plain = write_pairs(tmp_path / "a.jsonl")
    packed = tmp_path / "b.jsonl.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert list(read_pairs([plain])) == list(read_pairs([packed])) == list(make_pairs(50))


def test_a_beir_folder_gives_its_judged_pairs(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d", "title": "T", "text": "answer"}))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "why?"}))
    (tmp_path / "qrels.tsv").write_text("q\td\t1\n")
    (pair,) = read_pairs([tmp_path])
    assert (pair.query, pair.passage, pair.kind) == ("why?", "T\n\nanswer", "question2answer")


@pytest.mark.parametrize("line", ['{"q": "x"}', "{", "[1]", '{"q": 1, "p": "", "k": "", "s": ""}'])
def test_an_invalid_line_is_an_error_with_the_expected_format(tmp_path, line):
    (tmp_path / "x.jsonl").write_text(line)
    with pytest.raises(LongsearchError, match=r"x\.jsonl") as error:
        list(read_pairs([tmp_path / "x.jsonl"]))
    assert "JSON object with q, p, k, s" in error.value.hint


def test_a_damaged_compressed_file_is_an_error(tmp_path):
    (tmp_path / "x.jsonl.xz").write_bytes(b"no")
    with pytest.raises(LongsearchError, match="cannot read training text"):
        list(read_long_documents([tmp_path / "x.jsonl.xz"]))


def test_shards_give_back_every_pair_in_order(tmp_path):
    pairs, tokenizer = make_shards(tmp_path), make_tokenizer()
    for row, pair in enumerate(make_pairs(200)):
        assert pairs.queries[row].tolist() == tokenizer.encode(pair.query).ids
        assert pairs.passages[row].tolist() == tokenizer.encode(pair.passage).ids
        assert pairs.kind_names[pairs.kinds[row]] == pair.kind
        assert pairs.source_names[pairs.sources[row]] == pair.source


def with_negatives(n):
    """Pairs of which every second has one to three hard negatives."""
    for row, pair in enumerate(make_pairs(n)):
        yield replace(pair, hard_negatives=tuple(f"w{row % 60} w{i}" for i in range(row % 4)) if row % 2 else ())


def test_hard_negatives_are_read_from_json_and_given_back_by_the_shards(tmp_path):
    made = list(with_negatives(20)) + list(make_pairs(4, seed=9))
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(record_of(pair)) for pair in made))
    assert list(read_pairs([tmp_path / "a.jsonl"])) == made
    # the last of three shards has no negatives
    assert write_shards(iter(made), make_tokenizer(), tmp_path / "shards", shard_pairs=10) == 3
    pairs, tokenizer = load_pairs(tmp_path / "shards", make_tokenizer(), labelled_only=False), make_tokenizer()
    for row, pair in enumerate(made):
        expected = [tokenizer.encode(text).ids for text in pair.hard_negatives]
        assert [ids.tolist() for ids in pairs.hard_negatives.of(row)] == expected


def test_shards_without_hard_negatives_have_the_arrays_they_always_had(tmp_path):
    pairs = make_shards(tmp_path, n=10, labelled=False)
    arrays, _ = load_shard(shard_paths(tmp_path)[0])
    assert sorted(arrays) == [
        "documents", "kinds", "passage_ids", "passage_stops", "query_ids", "query_stops", "sources",
    ]  # fmt: skip
    assert [pairs.hard_negatives.of(row) for row in range(10)] == [[]] * 10


def test_hard_negatives_that_are_no_texts_are_an_error(tmp_path):
    record = record_of(next(make_pairs(1)))
    for wrong in ("text", [1], {"a": "b"}):
        (tmp_path / "x.jsonl").write_text(json.dumps(record | {"n": wrong}))
        with pytest.raises(LongsearchError, match="not a list of texts"):
            list(read_pairs([tmp_path / "x.jsonl"]))


def test_pairs_with_an_empty_text_are_never_drawn(tmp_path):
    made = list(make_pairs(40))
    made[4] = replace(made[4], query=" ")
    made[8] = replace(made[8], passage="")
    made[11] = replace(made[11], hard_negatives=("w1", "w2"))
    made[12] = replace(made[12], hard_negatives=("w1", " ", "w2"))
    write_shards(iter(made), make_tokenizer(), tmp_path)
    batches = Batches(load_pairs(tmp_path, make_tokenizer(), labelled_only=False), seed=0)
    drawn = {row for step in range(60) for row in batches.draw(step, 10_000, 40).tolist()}
    assert drawn == set(range(40)) - {4, 8, 12} - set(batches.held_out.tolist())


def test_labels_match_their_texts_and_are_computed_once(tmp_path):
    pairs, teacher = make_shards(tmp_path), FakeTeacher()
    expected = teacher.encode_ids([pairs.passages[row] for row in range(200)])
    assert np.allclose(pairs.passage_vectors, expected, atol=2e-3)
    assert list(label_shards(tmp_path, teacher)) == []
    teacher_path(shard_paths(tmp_path)[1]).unlink()
    assert [path.name for path, _ in label_shards(tmp_path, teacher)] == ["pairs-00001.safetensors"]


def test_unlabelled_shards_are_left_out_or_read_without_labels(tmp_path):
    make_shards(tmp_path)
    teacher_path(shard_paths(tmp_path)[0]).unlink()
    assert len(load_pairs(tmp_path, make_tokenizer(), labelled_only=True)) == 200 - 64
    everything = load_pairs(tmp_path, make_tokenizer(), labelled_only=False)
    assert len(everything) == 200
    assert everything.query_vectors is None


def test_shards_of_another_tokenizer_and_damaged_ones_are_refused(tmp_path):
    make_shards(tmp_path, labelled=False)
    other = make_tokenizer()
    other.add_tokens(["more"])
    with pytest.raises(LongsearchError, match="another tokenizer"):
        load_pairs(tmp_path, other, labelled_only=False)
    teacher = FakeTeacher()
    teacher.tokenizer = other
    with pytest.raises(LongsearchError, match="another tokenizer"):
        list(label_shards(tmp_path, teacher))
    shard_paths(tmp_path)[0].write_bytes(b"damaged")
    with pytest.raises(LongsearchError, match="cannot read the shard"):
        load_pairs(tmp_path, make_tokenizer(), labelled_only=False)


def test_a_folder_without_shards_is_an_error(tmp_path):
    with pytest.raises(LongsearchError, match="no shards"):
        load_pairs(tmp_path, make_tokenizer(), labelled_only=False)


def test_a_batch_has_one_source_no_repeats_no_held_out_rows_and_the_given_size(tmp_path):
    pairs = make_shards(tmp_path)
    batches = Batches(pairs, seed=0)
    for step in range(40):
        rows = batches.draw(step, batch_tokens=300, max_pairs=16, hard_share=0.5)
        assert len(set(pairs.sources[rows].tolist())) == 1
        assert len(set(rows.tolist())) == len(rows) <= 16
        assert not set(rows.tolist()) & set(batches.held_out.tolist())


def test_a_batch_depends_only_on_seed_and_step(tmp_path):
    pairs = make_shards(tmp_path)
    one, two = Batches(pairs, seed=3), Batches(pairs, seed=3)
    assert [one.draw(s, 200, 8).tolist() for s in (5, 1)] == [two.draw(s, 200, 8).tolist() for s in (5, 1)]
    assert one.draw(5, 200, 8).tolist() != Batches(pairs, seed=4).draw(5, 200, 8).tolist()


def test_texts_of_a_batch_have_similar_lengths(tmp_path):
    pairs = make_shards(tmp_path, n=600)
    batches, lengths = Batches(pairs, seed=0), pairs.passages.lengths
    spread = np.mean([np.ptp(lengths[batches.draw(step, 100, 8)]) for step in range(50)])
    assert spread < 0.5 * np.mean([np.ptp(lengths[i : i + 8]) for i in range(0, 400, 8)])


def two_sources(tmp_path):
    """300 pairs of one source and 100 of another, not of questions."""
    made = [replace(pair, kind="title2page", source="large" if i % 4 else "small", document=str(i))
            for i, pair in enumerate(make_pairs(400))]  # fmt: skip
    write_shards(iter(made), make_tokenizer(), tmp_path)
    return load_pairs(tmp_path, make_tokenizer(), labelled_only=False)


@pytest.mark.parametrize(("power", "ratio"), [(1.0, 3.0), (0.6, 3.0**0.6), (0.0, 1.0)])
def test_a_source_is_drawn_by_a_power_of_its_number_of_pairs(tmp_path, power, ratio):
    pairs = two_sources(tmp_path)
    batches = Batches(pairs, seed=0, sampling=Sampling(source_power=power))
    drawn = [pairs.source_names[pairs.sources[batches.draw(step, 80, 2)[0]]] for step in range(3000)]
    assert drawn.count("large") / drawn.count("small") == pytest.approx(ratio, rel=0.12)


def test_batches_of_mixed_lengths_have_their_full_size_and_draw_every_pair_equally_often(tmp_path):
    pairs = two_sources(tmp_path)
    batches = Batches(pairs, seed=0, sampling=Sampling(1.0, 1.0, similar_lengths=False))
    n_drawn, lengths = np.zeros(400), pairs.passages.lengths
    for step in range(1500):
        rows = batches.draw(step, 16 * 40, 16)  # no passage is longer than 40 tokens
        assert len(rows) == len(set(rows.tolist())) == 16
        assert len(set(pairs.sources[rows].tolist())) == 1
        n_drawn[rows] += 1
    free = np.setdiff1d(np.arange(400), batches.held_out)
    assert n_drawn[free].min() > 30 and n_drawn[free].max() < 95  # 60 is the mean
    assert abs(np.corrcoef(n_drawn[free], lengths[free])[0, 1]) < 0.15


def test_hard_negatives_are_nearer_by_the_teacher_than_random_ones(tmp_path):
    pairs = make_shards(tmp_path, n=600)
    batches = Batches(pairs, seed=0)

    def mean_similarity(share: float) -> float:
        similarities = []
        for step in range(30):
            v = pairs.passage_vectors[batches.draw(step, 10_000, 12, share)].astype(np.float32)
            similarities.append((v @ v.T)[~np.eye(len(v), dtype=bool)].mean())
        return float(np.mean(similarities))

    assert mean_similarity(1.0) > mean_similarity(0.0) + 0.05


def test_the_held_out_split_has_the_given_share_of_documents():
    hashes = np.arange(20_000) * 7919
    assert held_out_hash(hashes, 0.1).mean() == pytest.approx(0.1, abs=0.01)
    assert np.array_equal(held_out_hash(hashes, 0.1), held_out_hash(hashes, 0.1))
    assert not held_out_hash(hashes, 0.0).any()


def test_widths_are_drawn_by_weight():
    drawn = [pick((3, 1), seed=0, step=step) for step in range(2000)]
    assert np.mean(drawn) == pytest.approx(0.25, abs=0.03)


def test_a_share_of_the_batches_gets_an_instruction_in_front_of_the_queries():
    tokenizer = make_tokenizer()
    queries = [np.array([7, 8]), np.array([9])]
    prompter, changed = Prompter(tokenizer, 0.5), 0
    for step in range(200):
        made = prompter(queries, "question2answer", 0, step)
        assert [row[-len(query) :].tolist() for row, query in zip(made, queries, strict=True)] == [[7, 8], [9]]
        changed += len(made[0]) > 2
        assert (len(made[0]) > 2) == (len(made[1]) > 1)
    assert 70 < changed < 130
    assert Prompter(tokenizer, 0.0)(queries, "ict", 0, 0) is queries


@pytest.mark.parametrize("text", ["state space models", "Gulls sleep, don't they?", "été 文書 🙂", "x"])
def test_byte_level_tokens_of_instruction_and_query_are_those_of_the_whole_text(text):
    """In a byte-level vocabulary the space before the query belongs to its first word."""
    tokenizer = byte_level_bpe()
    query = np.array(tokenizer.encode(text).ids)
    (made,) = Prompter(tokenizer, 1.0)([query], "ict", 0, 0)
    wholes = [INSTRUCTION_TEMPLATE.format(prompt=prompt, text=text) for prompt in prompts_for("ict")]
    assert made.tolist() in [tokenizer.encode(whole).ids for whole in wholes]


def test_the_prompt_has_the_format_of_the_product():
    tokenizer = make_tokenizer()
    (made,) = Prompter(tokenizer, 1.0)([np.array(tokenizer.encode("w3 w4").ids)], "ict", 0, 0)
    whole = [tokenizer.encode(f"Instruction: {prompt}\nQuery: w3 w4").ids for prompt in prompts_for("ict")]
    assert made.tolist() in whole
    assert prompts_for("title2page") != prompts_for("question2answer")
