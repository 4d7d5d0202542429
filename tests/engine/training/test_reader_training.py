"""The reader's training on a tiny library: rows are labelled rightly, each design learns, and the commands run."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.embedding import SCALE, to_int8_rows
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.training import commands
from longsearch.engine.training.reader import start
from longsearch.engine.training.reader.batches import Shelf
from longsearch.engine.training.reader.commands import FIGURES, LIBRARY, START, WEIGHTS
from longsearch.engine.training.reader.examining import examine, set_exams
from longsearch.engine.training.reader.library import HELD, Library
from longsearch.engine.training.reader.model import Bert
from longsearch.engine.training.reader.preparing import TRANSFER_SET, prepare
from longsearch.engine.training.reader.sampling import Sampler, Shares, cut_rows, other_rows, positive_rows
from longsearch.engine.training.reader.training import Plan, Training, load, save
from tests.engine.training.training_helpers import WORDS, make_tokenizer

DIM = 32
SHARES = Shares(questions=4, topics=2, changed=2, unanswered=2)


def write_lines(path: Path, rows: list[dict]) -> Path:
    with lzma.open(path, "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    return path


def question_rows(seed: int, n: int = 60) -> list[dict]:
    """Contexts of six sentences. A question is two words of the one that answers; every seventh has no answer."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(n):
        sentences = [" ".join(rng.choice(WORDS, 12, replace=False)) + "." for _ in range(6)]
        context, words = " Then ".join(sentences), sentences[number % 6][:-1].split()
        answer = " ".join(words[-3:])
        answers = [] if number % 7 == 0 else [{"start": context.index(answer), "text": answer}]
        query = f"{words[0]} {words[1]} in {number + 10}"
        rows.append({"q": query, "context": context, "answers": answers, "answerable": bool(answers), "support": []})
    return rows


def topic_rows(n: int = 20) -> list[dict]:
    rng = np.random.default_rng(9)
    pairs = [rng.choice(WORDS, (2, 40)) for _ in range(n)]
    return [{"k": "title2page", "q": " ".join(p[0, :3]), "p": " ".join((*p[0], *p[1]))} for p in pairs]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    folder = tmp_path_factory.mktemp("questions")
    questions = [
        write_lines(folder / f"{name}.jsonl.xz", question_rows(n)) for n, name in enumerate(("a", TRANSFER_SET))
    ]
    return questions, [write_lines(folder / "topics.jsonl.xz", topic_rows())]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return make_tokenizer()


@pytest.fixture(scope="module")
def library(files, tokenizer) -> Library:
    return prepare(*files, 20, tokenizer)


@pytest.fixture(scope="module")
def first(library: Library) -> dict[str, torch.Tensor]:
    """First weights of every design, tiny and random."""
    torch.manual_seed(0)
    mamba = Mamba2(mamba_config())
    found = {"table": torch.randn(200, DIM), "projection": torch.eye(DIM)}
    found |= {f"bert.{name}": tensor.detach() for name, tensor in Bert(2, DIM, 64, 1).state_dict().items()}
    return found | {
        f"mamba.{name}": tensor.detach() for name, tensor in mamba.state_dict().items() if "embeddings" not in name
    }


def mamba_config() -> Mamba2Config:
    return Mamba2Config(
        d_model=DIM, n_layers=2, vocab_size=8, n_heads=4, head_dim=8, d_state=8, d_mlp=64, gated_norm_groups=1
    )


def tokens_of(library: Library, runs: np.ndarray) -> list[int]:
    spans = [slice(*library.sentence_start[run]) for run in (runs[:2], runs[2:])]
    return [int(token) for span in spans for token in library.tokens[span]]


def test_a_right_sentence_holds_the_answer(library: Library, files, tokenizer: Tokenizer):
    rows = [json.loads(line) for path in files[0] for line in lzma.decompress(path.read_bytes()).splitlines()]
    asked = np.flatnonzero(~library.is_topic[: len(rows)])
    assert len(asked) == len(rows)
    for row, right, token in zip(rows, library.right[asked], library.answer_token[asked], strict=True):
        if not row["answers"]:
            assert right.max() == token == -1
            continue
        text = tokenizer.decode(library.tokens[slice(*library.sentence_start[right[0]])].tolist())
        assert row["answers"][0]["text"] in text
        assert library.tokens[token] == tokenizer.token_to_id(row["answers"][0]["text"].split()[0])


def test_windows_hold_the_answer_or_surely_do_not(library: Library):
    rng = np.random.default_rng(0)
    queries = np.flatnonzero((library.right[:, 0, 0] >= 0) & ~library.is_topic)
    positive = positive_rows(library, queries, rng)
    cut, sure = cut_rows(library, positive)
    other = other_rows(library, queries, rng)
    assert sure.mean() > 0.5
    for number, query in enumerate(queries):
        first, last = library.right[query, 0]
        assert positive.runs[number, 0] <= first < last <= positive.runs[number, 1]
        kept = {n for start, stop in cut.runs[number].reshape(2, 2) for n in range(start, stop)}
        assert not sure[number] or (kept and not kept & set(range(first, last)))
        assert library.context[query] != np.searchsorted(library.context_start, other.runs[number, 0], "right") - 1


def test_a_batch_has_its_shares_and_nothing_that_is_held_out(library: Library):
    batches = Sampler(library, {}, SHARES, 0).batches(at_once=2)
    for _ in range(6):
        rows = next(batches)
        assert len(rows.query) == SHARES.rows
        assert (library.part[rows.query] == 0).all()
        assert rows.answers.sum() == SHARES.groups


def test_a_batch_of_tensors_says_what_the_library_says(library: Library):
    rows = next(Sampler(library, {}, SHARES, 1).batches(at_once=1))
    batch = Shelf(library, "cpu").batch(rows)
    for number in range(len(rows.query)):
        kept = batch.window_mask[number]
        assert batch.window[number][kept].tolist() == tokens_of(library, rows.runs[number])
        if rows.answers[number] and not library.is_topic[rows.query[number]]:
            right = batch.right[number].nonzero()[:, 0].tolist()
            assert int(batch.sentence[number, batch.answer_token[number]]) in right


@pytest.mark.parametrize(("design", "layers"), [("late", 2), ("cross", 1), ("carried", 2)])
def test_each_design_learns_and_is_read_back(library: Library, first, tmp_path: Path, design: str, layers: int):
    torch.manual_seed(0)
    shelf, idf = Shelf(library, "cpu"), torch.from_numpy(library.idf)
    plan = Plan(pairs=SHARES.rows * 30, minutes=10, shares=SHARES, rate=3.0, measure=SHARES.rows * 20)
    training = Training(plan, start.build(design, layers, first, idf, mamba_config()), shelf)
    batch = shelf.batch(next(Sampler(library, {}, SHARES, 5).batches(at_once=1)))
    training.reader.eval()
    before = float(training._loss(batch).detach())
    exams = set_exams(library, 12)
    assert training.run(exams) == plan.pairs
    training.reader.eval()
    assert float(training._loss(batch).detach()) < before
    assert [point["pairs"] for point in training.curve] == [plan.measure]
    save(training.reader, idf, tmp_path / WEIGHTS)
    again = start.build(design, layers, first, idf, mamba_config())
    load(again, tmp_path / WEIGHTS)
    figures = [examine(reader, shelf, exams)["transfer"]["cut"]["auc"] for reader in (training.reader, again)]
    assert figures[0] == pytest.approx(figures[1], abs=0.05)


def test_a_teacher_is_a_second_target(library: Library, first):
    shelf, idf = Shelf(library, "cpu"), torch.from_numpy(library.idf)
    plan = Plan(pairs=10, minutes=1, shares=SHARES)
    torch.manual_seed(0)
    reader, teacher = (start.build("late", 1, first, idf) for _ in range(2))
    alone, taught = (Training(plan, reader.eval(), shelf, other) for other in (None, teacher))
    batch = shelf.batch(next(Sampler(library, {}, SHARES, 5).batches(at_once=1)))
    with torch.no_grad():
        own, same = float(alone._loss(batch)), float(taught._loss(batch))
        for parameter in teacher.parameters():
            parameter.data += 0.3
        assert float(taught._loss(batch)) > same == pytest.approx(own, abs=1e-4)  # they agreed


def test_the_exams_hold_what_was_held_out(library: Library):
    torch.manual_seed(0)
    held, transfer, topics = set_exams(library, 50)
    for exam, part in ((held, HELD), (transfer, 2), (topics, HELD)):
        right = exam.rows.query[slice(*exam.parts["right"])]
        assert len(right) and (library.part[right] == part).all()
    floor = start.build("floor", 0, {"table": torch.randn(200, DIM), "projection": torch.eye(DIM)}, torch.ones(200))
    figures = examine(floor, Shelf(library, "cpu"), [transfer])["transfer"]
    assert figures["sentence@1"] > 0.6  # the question's words stand in the right sentence alone
    assert figures["first by relevance"] > 1.5 / 8


def test_the_first_weights_are_minilms_and_the_bundled_models(tmp_path: Path, first):
    torch.manual_seed(0)
    minilm = {"embeddings.word_embeddings.weight": torch.randn(50, DIM), "embeddings.LayerNorm.weight": torch.ones(DIM)}
    minilm |= {
        "embeddings.LayerNorm.bias": torch.zeros(DIM),
        "embeddings.token_type_embeddings.weight": torch.ones(2, DIM),
    }
    minilm |= {"embeddings.position_embeddings.weight": torch.randn(300, DIM)}
    sizes = {"attention.self.query": (DIM, DIM), "attention.self.key": (DIM, DIM), "attention.self.value": (DIM, DIM)}
    sizes |= {"attention.output.dense": (DIM, DIM), "intermediate.dense": (64, DIM), "output.dense": (DIM, 64)}
    for name, (rows, columns) in sizes.items():
        minilm[f"encoder.layer.0.{name}.weight"] = torch.randn(rows, columns)
        minilm[f"encoder.layer.0.{name}.bias"] = torch.randn(rows)
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        minilm |= {f"encoder.layer.0.{name}.{end}": torch.rand(DIM) for end in ("weight", "bias")}
    table = 2 * minilm["embeddings.word_embeddings.weight"] + 1
    rows, scale = to_int8_rows(table)
    bundled = {"backbone.embeddings.weight": rows, "readout.projection.weight": torch.eye(DIM)}
    bundled["backbone.embeddings.weight" + SCALE] = scale
    for name, tensors in (("minilm", minilm), ("bundled", bundled)):
        save_file(tensors, tmp_path / name)
    start.make(tmp_path / "minilm", tmp_path / "bundled", tmp_path / START)
    found = start.read(tmp_path / START)
    torch.testing.assert_close(found["table"] * found["bert.gain"] + found["bert.shift"],
                               minilm["embeddings.word_embeddings.weight"], atol=0.02, rtol=0)  # fmt: skip
    reader = start.build("late", 1, found, torch.ones(50))
    key = minilm["encoder.layer.0.attention.self.key.weight"]
    torch.testing.assert_close(reader.body.layers[0].qkv.weight[DIM : 2 * DIM], key, atol=0.02, rtol=0.02)


def test_the_command_trains_and_writes_weights_and_figures(files, library, tmp_path: Path, capsys):
    data = ["--data", str(tmp_path)]
    questions, topics = ([str(path) for path in paths] for paths in files)
    assert commands.run(["reader-prepare", "--questions", *questions, "--topics", *topics, "--out", str(tmp_path)]) == 0
    prepared = Library.load(tmp_path / LIBRARY)
    assert len(prepared.context) >= len(library.context) - 5
    width = 384
    body = {f"bert.{n}": t.detach().half() for n, t in Bert(1, width, 64, 12).state_dict().items()}
    vectors = {"table": torch.randn(30522, width).half(), "projection": torch.eye(width).half()}
    save_file(vectors | body, tmp_path / START)
    options = ["--layers", "1", "--pairs", "320", "--n-exam", "6", "--device", "cpu", "--out", str(tmp_path / "out")]
    assert commands.run(["reader", *data, *options]) == 0
    assert "320 pairs" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / FIGURES).read_text())["pairs"] == 320
    assert (tmp_path / "out" / WEIGHTS).stat().st_size < 2**21
