"""The stage of token states: what is compared with what, and that a student comes nearer to its teacher."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.evaluation.embedders.e5 import E5, save_centre, save_whole
from longsearch.engine.training import commands, preparing
from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import (
    load_pairs,
    load_shard,
    save_teacher,
    shard_paths,
    teacher_path,
    write_shards,
)
from longsearch.engine.training.multilingual import save_cut
from longsearch.engine.training.stages.pair_stages import PairOptions
from longsearch.engine.training.stages.token_states import Queue, States, compared, state_difference
from longsearch.engine.training.student.from_teacher import config_like
from longsearch.engine.training.student.saving import load_student, save_model
from longsearch.engine.training.student.student import Padded
from longsearch.engine.training.teachers.state_teacher import StateTeacher, TokenStates, ends_together
from tests.engine.training.multilingual_helpers import PIECES, make_e5
from tests.engine.training.training_helpers import log_of, make_pairs, write_checkpoint

TEXTS = ["the ship 成人", "das Schiff", "the rare ship, abc"]
WITHOUT = ("▁ship", "▁Schiff", "成人", "需")


@pytest.fixture
def e5(tmp_path) -> E5:
    return E5(make_e5(tmp_path / "e5"))


@pytest.fixture
def cut(e5, tmp_path) -> E5:
    """The same teacher for a vocabulary without some of its pieces, and with a centre."""
    kept = np.array([i for i, (piece, _) in enumerate(PIECES) if piece not in WITHOUT])
    save_cut(e5, kept, PIECES, tmp_path / "cut")
    save_whole(tmp_path / "cut", tmp_path / "e5")
    save_centre(tmp_path / "cut", torch.from_numpy(e5.encode(TEXTS).mean(0)))
    return E5(tmp_path / "cut")


def by_transformers(e5: E5, text: str) -> torch.Tensor:
    """(layers, tokens, dim): the states of the text's own tokens, read alone."""
    ids = [*e5.before, *e5.tokenizer.encode(text, add_special_tokens=False).ids, e5.after]
    found = e5.model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states[1:]
    return torch.stack(found)[:, 0, len(e5.before) : -1]


def test_each_layer_of_the_student_learns_its_share_of_the_teachers_layers(e5):
    told = StateTeacher(e5, n_layers=2)(e5.tokenize(TEXTS))
    expected = [by_transformers(e5, text) for text in TEXTS]
    assert [len(ids) for ids in told.ids] == [layers.shape[1] for layers in expected]
    for mine, depth in zip(told.layers, (1, 3), strict=True):
        torch.testing.assert_close(mine, torch.cat([layers[depth] for layers in expected]), atol=1e-3, rtol=1e-3)
    np.testing.assert_allclose(told.vectors, e5.encode(TEXTS), atol=3e-4)


def test_a_text_in_other_pieces_is_compared_where_both_pieces_end(e5, cut):
    ids = cut.tokenize(TEXTS)
    told = StateTeacher(cut, n_layers=4)(ids)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(told.ids, ids, strict=True))
    np.testing.assert_allclose(told.vectors, cut.encode_ids(ids), atol=3e-4)
    compared = {row: told.places[told.rows == row].tolist() for row in range(3)}
    for row, text in enumerate(TEXTS):
        ours, theirs = (one.tokenizer.encode(text, add_special_tokens=False) for one in (cut, e5))
        ends = [stop for _, stop in theirs.offsets]
        assert compared[row] == [i for i, (_, stop) in enumerate(ours.offsets) if stop in ends]
        places = [ends.index(ours.offsets[i][1]) for i in compared[row]]
        own = told.layers[1][told.rows == row]
        torch.testing.assert_close(own, by_transformers(e5, text)[1, places], atol=1e-3, rtol=1e-3)
    assert len(compared[0]) < len(ids[0])


def test_the_mean_of_the_last_states_points_where_the_centred_vector_does(e5):
    e5.before, e5.after = [], 2  # the mean then differs by one token only, which is left out below
    e5.centre = torch.from_numpy(e5.encode(TEXTS).mean(0))
    told = StateTeacher(e5, n_layers=4)(e5.tokenize(TEXTS))
    for row, text in enumerate(TEXTS):
        ids = [*e5.tokenizer.encode(text, add_special_tokens=False).ids, e5.after]
        last = e5.model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        mean = last.mean(0)
        of_end = last[-1] - mean.norm() * e5.centre
        own = told.layers[-1][told.rows == row]
        total = torch.nn.functional.normalize(own.sum(0) + of_end, dim=0)
        torch.testing.assert_close(total, told.vectors[row], atol=1e-3, rtol=1e-3)


@given(st.lists(st.integers(1, 3), max_size=12), st.lists(st.integers(1, 3), max_size=12))
def test_pieces_are_compared_where_and_only_where_both_end(ours, theirs):
    def offsets(lengths):
        stops = np.cumsum(lengths).tolist()
        return list(zip([0, *stops], stops, strict=False))

    found = ends_together(offsets(ours), offsets(theirs))
    stops = [np.cumsum(lengths).tolist() for lengths in (ours, theirs)]
    assert [(stops[0][i], stops[1][j]) for i, j in found] == [(s, s) for s in stops[0] if s in stops[1]]


def test_of_the_bytes_of_one_character_the_last_is_compared():
    assert ends_together([(0, 3), (3, 4), (3, 4), (3, 4), (4, 5)], [(0, 3), (3, 5)]) == [(0, 0), (4, 1)]
    assert ends_together([(0, 3), (3, 4), (3, 4)], [(0, 3), (3, 4)]) == [(0, 0), (2, 1)]


def test_a_difference_is_a_share_of_the_variance_of_each_channel():
    teacher = torch.tensor([[0.0, 0.0], [2.0, 20.0]])
    spread = teacher.std(0)
    assert state_difference(teacher, teacher) == 0
    assert state_difference(teacher + spread, teacher) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("width", [1.0, 0.5])
def test_the_states_after_each_layer_are_those_of_the_slow_twin(tmp_path, width):
    student, _ = load_student(write_checkpoint(tmp_path), "cpu", torch.float32)
    for name, parameter in student.model.named_parameters():
        if name.endswith("out_proj.weight"):
            torch.nn.init.normal_(parameter, 0.5, 0.2)
    texts = Padded.of([np.arange(1, 30), np.arange(3, 12)], "cpu")
    vectors, layers = student.with_layers(texts, width)
    student._nested.step(student.embed(texts.tokens), None, width)  # makes the slice
    (shell,) = student._nested._shells.values()
    slow: list[torch.Tensor] = []
    for layer in shell.model.layers:
        layer.register_forward_hook(lambda _module, _inputs, out: slow.append(out[0]))
    student._nested.step(student.embed(texts.tokens), None, width)
    assert len(layers) == len(slow) == 2
    for own, twin in zip(layers, slow, strict=True):
        torch.testing.assert_close(own, twin, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(vectors, student(texts, width))


MACHINE = ["--device", "cpu", "--dtype", "float32"]
TRAINED = ["--rate", "5e-3", "--widths", "1", "1/2", "--width-weights", "1", "1", "--max-pairs", "16"]
TRAINED += ["--batch-tokens", "256"]


@pytest.fixture
def prepared(tmp_path, monkeypatch, cut) -> list[str]:
    """Shards of pairs without vectors, a student named start, and the options that name both and the teacher."""
    small = lambda bert, n_layers: config_like(bert, n_layers, d_state=8, head_dim=8)  # noqa: E731
    monkeypatch.setattr(preparing, "config_like", small)
    (tmp_path / "cut" / "centre.safetensors").unlink()  # the texts are so alike that little but the mean can be learnt
    options = ["--teacher", str(tmp_path / "cut"), "--shards", str(tmp_path / "shards")]
    assert commands.run(["label", write_translations(tmp_path, "en-de"), "--tokens-only", *options, *MACHINE]) == 0
    start = str(tmp_path / "start")
    assert commands.run(["new", "--teacher-layers", "0", "3", *options, "--out", start, *MACHINE]) == 0
    return ["--model", start, *options]


def write_translations(folder: Path, source: str, english: str = "the ship", other: str = "das Schiff 成人") -> str:
    rows = [(f"{english} {i} {'abc'[i % 3]}", f"{other} {i} {'abc'[i % 3]}") for i in range(90)]
    records = [{"q": q, "p": p, "k": "english2other", "s": source, "d": q} for q, p in rows]
    (folder / f"{source}.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    return str(folder / f"{source}.jsonl")


def test_a_student_comes_nearer_to_the_states_and_to_the_vectors(tmp_path, prepared):
    assert commands.run(["states", *prepared, "--out", str(tmp_path / "out"), "--steps", "40", *TRAINED, *MACHINE]) == 0
    records = [record for record in log_of(tmp_path / "out") if "cosine_distance" in record]
    for name in ("cosine_distance", "layer_1", "layer_2"):
        values = [record[name] for record in records]
        assert np.mean(values[-5:]) < 0.7 * np.mean(values[:5]), name


def test_beside_the_teacher_a_student_can_learn_stored_vectors_of_other_pairs(tmp_path, prepared):
    """The teacher's own terms count nothing here, so only the stored vectors can bring the student near them."""
    stored = ["--shards", str(tmp_path / "stored")]
    label = ["label", write_translations(tmp_path, "stored", "pqr tu", "xyz vw r")]
    assert commands.run([*label, "--by-model", str(tmp_path / "start"), *stored, *MACHINE]) == 0
    for shard in shard_paths(tmp_path / "stored"):
        vectors, _ = load_shard(teacher_path(shard))
        same = np.zeros_like(vectors["queries"], np.float32)
        same[:, 0] = 1
        save_teacher(shard, same, same)
    beside = ["--beside", str(tmp_path / "stored"), "--beside-share", "0.5"]
    silent = [f"--{term}-weight=0" for term in ("states", "cosine", "scores", "contrast")]
    line = ["states", *prepared, *beside, *silent, "--out", str(tmp_path / "out"), "--steps", "80", *TRAINED, *MACHINE]
    assert commands.run(line) == 0
    records = [record for record in log_of(tmp_path / "out") if "cosine_distance" in record]
    values = [record["cosine_distance"] for record in records if record["source"] == "stored"]
    assert 20 < len(values) < 60
    assert np.mean(values[-5:]) < 0.8 * np.mean(values[:5])


def test_beside_the_teacher_a_student_can_learn_the_scores_of_one_that_has_another_space(tmp_path, prepared):
    """Stored are two vectors, one for texts about ships and one for others. The student learns to tell them apart."""
    stored, label = ["--shards", str(tmp_path / "stored")], ["label", "--by-model", str(tmp_path / "start"), *MACHINE]
    (tmp_path / "ships").mkdir()
    ships, others = (
        write_translations(tmp_path / "ships", "stored"),
        write_translations(tmp_path, "stored", "pqr", "xy"),
    )
    assert commands.run([*label, ships, others, *stored]) == 0
    (shard,) = shard_paths(tmp_path / "stored")
    about = np.repeat(np.eye(2, load_shard(teacher_path(shard))[0]["queries"].shape[1], dtype=np.float32), 90, axis=0)
    save_teacher(shard, about, about)
    beside = ["--beside", str(tmp_path / "stored"), "--beside-share", "0.95", "--beside-scores", "--mixed-lengths"]
    silent = [f"--{term}-weight=0" for term in ("states", "scores", "contrast")]
    line = ["states", *prepared, *beside, *silent, "--out", str(tmp_path / "out"), "--steps", "80", *TRAINED, *MACHINE]
    assert commands.run([*line, "--widths", "1", "--width-weights", "1"]) == 0
    records = [record for record in log_of(tmp_path / "out") if record.get("source") == "stored"]
    assert 70 < len(records) < 80
    scores = [record["kl"] for record in records]
    assert np.mean(scores[-5:]) < 0.5 * np.mean(scores[:5])


def test_a_whitened_model_can_be_trained_further_with_a_new_readout(tmp_path, prepared):
    still = [*(f"--{what}=1e-12" for what in ("rate", "embedding-rate", "projection-rate")), "--steps=1", *MACHINE]
    with torch.no_grad():
        student, _ = load_student(tmp_path / "start", "cpu", torch.float32)
        student.projection.mul_(torch.linspace(0, 2, len(student.projection)))
        save_model(student, tmp_path / "start", tmp_path / "whitened", {})
    for name, options in (("kept", []), ("new", ["--new-readout"])):
        line = ["states", *prepared, "--model", str(tmp_path / "whitened"), "--out", str(tmp_path / name), *options]
        assert commands.run([*line, *TRAINED, *still]) == 0
    kept, new = (load_student(tmp_path / name, "cpu", torch.float32)[0].projection for name in ("kept", "new"))
    assert torch.allclose(new, torch.eye(len(new)), atol=1e-3)
    assert torch.allclose(kept, student.projection, atol=1e-3)
    assert not torch.allclose(kept, new, atol=0.1)


def test_the_queue_holds_the_latest_vectors_of_a_source_and_a_few_of_every_source():
    queue = Queue(3, dim=1, device=torch.device("cpu"))
    queue.add("a", torch.tensor([[1.0], [2.0]]))
    queue.add("b", torch.tensor([[3.0]]))
    queue.add("a", torch.tensor([[4.0], [5.0]]))
    assert queue.vectors("a")[:, 0].tolist() == [4, 5, 1, 4, 5, 3]
    assert queue.vectors("b")[:, 0].tolist() == [3, 4, 5, 3]
    assert queue.vectors("c")[:, 0].tolist() == [4, 5, 3]
    queue.add("d", torch.arange(100.0)[:, None])
    assert queue.vectors("b")[:, 0].tolist() == [3, 0, 1, 2]


def test_states_of_a_query_are_compared_after_its_instruction_unless_that_changes_its_pieces(cut):
    told = StateTeacher(cut, n_layers=4)(cut.tokenize(TEXTS))
    after = [np.concatenate(([7, 8], ids)) for ids in told.ids]
    rows, places = compared(told, after)
    assert rows.tolist() == list(range(len(told.rows)))
    assert places.tolist() == [place + 2 for place in told.places.tolist()]
    after[1][-1] += 1
    rows, places = compared(told, after)
    assert set(told.rows[rows].tolist()) == {0, 2} and len(rows) == int((told.rows != 1).sum())


class Told:
    """A teacher that gives each text fixed states of its tokens, and their mean as its vector."""

    def __init__(self, dim: int) -> None:
        self.table = np.random.default_rng(2).normal(size=(66, dim)).astype(np.float32)

    @property
    def of_queries(self) -> "Told":
        return self

    def vectors(self, texts: list[np.ndarray]) -> np.ndarray:
        sums = np.stack([self.table[ids].sum(0) for ids in texts])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    def __call__(self, texts: list[np.ndarray]) -> TokenStates:
        rows = torch.tensor([row for row, ids in enumerate(texts) for _ in ids])
        places = torch.tensor([place for ids in texts for place in range(len(ids))])
        states = torch.from_numpy(self.table[np.concatenate(texts)])
        return TokenStates(texts, rows, places, [states, states], torch.from_numpy(self.vectors(texts)))


def mean_kl(student: np.ndarray, teacher: np.ndarray, others: np.ndarray) -> float:
    """KL(teacher || student) of softmax rows at a temperature of .05, in float64."""

    total = 0.0
    for own, theirs, kept in zip(
        student.astype(np.float64) / 0.05, teacher.astype(np.float64) / 0.05, others, strict=True
    ):
        log_p, log_q = (row[kept] - np.logaddexp.reduce(row[kept]) for row in (theirs, own))
        total += float(np.sum(np.exp(log_p) * (log_p - log_q)))
    return total / len(others)


def test_scores_are_compared_with_those_of_the_teacher_in_the_batch_and_against_its_latest_vectors(tmp_path):
    student, tokenizer = load_student(write_checkpoint(tmp_path / "model"), "cpu", torch.float32)
    write_shards(make_pairs(60), tokenizer, tmp_path / "shards")
    pairs = load_pairs(tmp_path / "shards", tokenizer, labelled_only=False)
    teacher, options = Told(len(student.projection)), PairOptions(seed=3, batch_tokens=150, max_pairs=6)
    stage = States(student, pairs, options, teacher, Prompter(tokenizer, 0.0))
    sources, found = [], []
    for step in range(4):
        rows = stage.batches.draw(step, 150, 6)
        rows = rows[
            : max(2, np.searchsorted(np.cumsum(pairs.passages.lengths[rows] + pairs.queries.lengths[rows]), 150))
        ]
        queries, passages = ([texts[row] for row in rows] for texts in (pairs.queries, pairs.passages))
        result = stage(step, 1.0)
        with torch.no_grad():
            q, p = (student(Padded.of(texts, "cpu")).numpy() for texts in (queries, passages))
        tq, tp = teacher.vectors(queries), teacher.vectors(passages)
        own, taught = np.concatenate((q, p)), np.concatenate((tq, tp))
        source = result.labels["source"]
        near = [vectors for name, vectors in zip(sources, found, strict=True) if name == source]
        known = np.concatenate((taught, *reversed(near), *(vectors[:8] for vectors in reversed(found))))
        others = np.ones((len(own), len(known)), bool)
        np.fill_diagonal(others, False)
        assert result.parts["queue_kl"] == pytest.approx(mean_kl(own @ known.T, taught @ known.T, others), rel=1e-3)
        both, own_both = np.concatenate((tp, tq)), np.concatenate((p, q))
        others = np.ones((len(q), 2 * len(q)), bool)
        np.fill_diagonal(others[:, len(q) :], False)
        assert result.parts["kl"] == pytest.approx(mean_kl(q @ own_both.T, tq @ both.T, others), rel=1e-3)
        sources.append(source)
        found.append(tp)
    assert len(set(sources)) < 4  # so that a source's own vectors were among them


def test_states_need_the_teachers_vocabulary(tmp_path, cut, capsys):
    write_checkpoint(tmp_path / "other")
    rows = [{"q": "w1", "p": "w2 w3", "k": "a2b", "s": "s", "d": str(i)} for i in range(9)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    model, shards = str(tmp_path / "other"), str(tmp_path / "shards")
    assert (
        commands.run(["label", str(tmp_path / "pairs.jsonl"), "--model", model, "--tokens-only", "--shards", shards])
        == 0
    )
    line = [
        "states",
        "--model",
        model,
        "--shards",
        shards,
        "--teacher",
        str(tmp_path / "cut"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert commands.run(line) == 1
    assert "another vocabulary" in capsys.readouterr().err
