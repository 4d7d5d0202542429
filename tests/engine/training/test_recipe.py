"""The recipe runs every training step of the bundled model, here at a tiny size."""

import json
import shlex
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from longsearch.engine.evaluation.embedders.bert import BertEmbedder
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.training import commands, preparing, recipe, stage_makers
from longsearch.engine.training.data.labelling import label_shards
from longsearch.engine.training.data.shards import shard_paths, teacher_path, write_shards
from longsearch.engine.training.student.from_teacher import config_like
from tests.engine.training.training_helpers import FakeTeacher, make_bert, make_pairs, make_tokenizer


class TinyTeacher(FakeTeacher):
    """Encodes by sums of token vectors, and has a BERT of six layers to start a student from, and to read states of."""

    centre, after, device = None, 0, "cpu"
    token_states, finished = BertEmbedder.token_states, BertEmbedder.finished
    of_queries = BertEmbedder.of_queries

    def __init__(self) -> None:
        super().__init__(dim=32)
        self.model = make_bert(n_layers=6).requires_grad_(False)  # as MiniLM's weights are
        self.reader = self


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """Options of a recipe with a tiny teacher, labelled shards and long documents."""
    torch.set_num_threads(1)
    teacher = TinyTeacher()
    for module in (preparing, stage_makers):
        monkeypatch.setattr(module, "open_teacher", lambda *_: teacher)
    small = lambda bert, n_layers: config_like(bert, n_layers, d_state=8, head_dim=4)  # noqa: E731
    monkeypatch.setattr(preparing, "config_like", small)
    monkeypatch.setattr(recipe, "teacher_folder", lambda _: tmp_path)
    make_tokenizer().save(str(tmp_path / "tokenizer.json"))
    for number in (2, 7):
        folder = tmp_path / "shards" / f"step-{number:02}"
        write_shards(make_pairs(120, seed=number), make_tokenizer(), folder)
        list(label_shards(folder, teacher))
    texts = [" ".join(f"w{(i + j) % 60}" + "." * (j % 9 == 8) for j in range(2000)) for i in range(4)]
    lines = [json.dumps({"title": f"w{i}", "text": text, "s": "made"}) for i, text in enumerate(texts)]
    (tmp_path / "long.jsonl").write_text("\n".join(lines))
    options = ["--shards", str(tmp_path / "shards"), "--documents", str(tmp_path / "long.jsonl")]
    return [*options, "--out", str(tmp_path / "out"), "--steps", "1", "--device", "cpu", "--dtype", "float32"]


def test_the_recipe_runs_every_step_and_ends_with_a_model(inputs, tmp_path, capsys):
    assert commands.run(["recipe", *inputs]) == 0
    folders = sorted(folder.name for folder in (tmp_path / "out").iterdir())
    assert folders == [f"step-{step.number:02}" for step in recipe.STEPS]
    for folder in folders:
        assert Encoder.open(tmp_path / "out" / folder, device="cpu").encode_query("w1 w2").shape == (32,)
    assert capsys.readouterr().out.strip().endswith("step-11")


def test_a_second_run_skips_finished_steps_and_goes_on_after_them(inputs, tmp_path, capsys):
    assert commands.run(["recipe", *inputs, "--to", "2"]) == 0
    weights = tmp_path / "out" / "step-02" / "model.safetensors"
    before = weights.stat().st_mtime_ns
    capsys.readouterr()
    assert commands.run(["recipe", *inputs, "--to", "3"]) == 0
    started = [line for line in capsys.readouterr().out.splitlines() if "python -m longsearch.engine.training" in line]
    assert [line.partition(",")[0] for line in started] == ["step 3"]
    assert weights.stat().st_mtime_ns == before


def test_a_finished_step_of_other_options_is_refused(inputs, capsys):
    assert commands.run(["recipe", *inputs, "--to", "1"]) == 0
    assert commands.run(["recipe", *inputs, "--to", "1", "--seed", "5"]) == 1
    assert "was made with other options" in capsys.readouterr().err


def test_a_step_that_fails_is_run_again(inputs, tmp_path, capsys, monkeypatch):
    refused = ["recipe", *inputs, "--to", "2"]
    monkeypatch.setattr(commands, "open_student", lambda *_: (_ for _ in ()).throw(commands.LongsearchError("no")))
    assert commands.run(refused) == 1
    monkeypatch.undo()
    assert not (tmp_path / "out" / "step-02" / "finished.txt").exists()
    assert (tmp_path / "out" / "step-01" / "finished.txt").exists()


def test_missing_inputs_are_named_before_anything_starts(inputs, tmp_path, capsys):
    assert commands.run(["recipe"]) == 1
    assert "needs --shards, --documents, --out" in capsys.readouterr().err
    assert commands.run(["recipe", *inputs, "--documents", str(tmp_path / "none.jsonl")]) == 1
    assert "none.jsonl" in capsys.readouterr().err
    for path in shard_paths(tmp_path / "shards" / "step-07"):
        teacher_path(path).unlink()
    assert commands.run(["recipe", *inputs]) == 1
    assert "no shard in" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_every_listed_command_is_one_that_the_parser_accepts(capsys):
    assert commands.run(["recipe", "--list", "--minutes", "38.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "# step 2: pairs, 5.1 minutes" in lines
    listed = [shlex.split(line)[3:] for line in lines if not line.startswith("#")]
    assert len(listed) == len(recipe.STEPS)
    for arguments in listed:
        commands.parser().parse_args(arguments)


def test_the_recipe_of_many_languages_runs_every_step_with_its_teacher(inputs, tmp_path, capsys):
    for labels in (tmp_path / "shards").rglob("*.teacher.safetensors"):
        labels.unlink()  # the teacher reads during the training
    where = inputs.index("--documents")
    inputs = inputs[:where] + inputs[where + 2 :]
    opened: list[str] = []
    monkeypatched = preparing.open_teacher("here")
    with pytest.MonkeyPatch.context() as patch:
        for module in (preparing, stage_makers):
            patch.setattr(module, "open_teacher", lambda name, *_: opened.append(name) or monkeypatched)
        patch.setattr(recipe, "LANGUAGE_STEPS", _with_layers(recipe.LANGUAGE_STEPS, "0 3"))
        assert commands.run(["recipe", "--languages", "--teacher", "here", *inputs]) == 0
    assert capsys.readouterr().out.strip().endswith("step-04")
    assert set(opened) == {"here"}
    compact = load_file(tmp_path / "out" / "step-04" / "model.safetensors")
    assert compact["backbone.embeddings.weight"].dtype == torch.int8
    assert Encoder.open(tmp_path / "out" / "step-04", device="cpu").encode_query("w1 w2").shape == (32,)


def _with_layers(steps: tuple[recipe.Step, ...], layers: str) -> tuple[recipe.Step, ...]:
    """The tiny teacher has fewer layers than the one that the first step names."""
    return (replace(steps[0], options=f"--teacher-layers {layers}"), *steps[1:])


def test_the_recipe_of_many_languages_needs_a_teacher_and_lists_commands_that_the_parser_accepts(inputs, capsys):
    assert commands.run(["recipe", "--languages", *inputs]) == 1
    assert "needs --teacher" in capsys.readouterr().err
    assert commands.run(["recipe", "--languages", "--list"]) == 0
    listed = [shlex.split(line)[3:] for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert [line[0] for line in listed] == ["new", "states", "states", "compact"]
    for arguments in listed:
        commands.parser().parse_args(arguments)


def test_a_step_reads_the_newest_shards_up_to_its_number(tmp_path):
    plan = recipe.Plan(tmp_path, (tmp_path / "a", tmp_path / "b"), tmp_path / "out")
    assert plan.shards_of(7) == tmp_path
    for name in ("step-02", "step-07"):
        (tmp_path / name).mkdir()
    found = {number: plan.shards_of(number).name for number in (1, 3, 6, 7, 10)}
    assert found == {1: "step-02", 3: "step-02", 6: "step-02", 7: "step-07", 10: "step-07"}
