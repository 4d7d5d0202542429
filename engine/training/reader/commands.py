"""The commands that train the reader: reader-prepare, reader-start and reader."""

import argparse
from pathlib import Path

import torch

from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import SHIPPED, shipped_model
from longsearch.engine.reader.reading import marks_of
from longsearch.engine.training.options import folder, number
from longsearch.engine.training.reader import start
from longsearch.engine.training.reader.batches import Shelf
from longsearch.engine.training.reader.examining import set_exams
from longsearch.engine.training.reader.library import Library
from longsearch.engine.training.reader.preparing import TRANSFER_SET, prepare
from longsearch.engine.training.reader.sampling import Shares
from longsearch.engine.training.reader.training import Plan, Training, load, save, write_figures

LIBRARY, START, WEIGHTS, FIGURES = "library.npz", "start.safetensors", "reader.safetensors", "figures.json"


def prepared(arguments: argparse.Namespace) -> int:
    """Turn questions with answer spans, and pairs of topic and passage, into flat arrays."""
    tokenizer = TextTokenizer.load(shipped_model(arguments.model)).tokenizer
    arguments.out.mkdir(parents=True, exist_ok=True)
    texts = arguments.questions, arguments.topics, arguments.n_topics
    library = prepare(*texts, tokenizer, arguments.seed, arguments.whole)
    library.save(arguments.out / LIBRARY)
    print(f"{len(library.context)} queries, {len(library.context_start) - 1} contexts")
    return 0


def started(arguments: argparse.Namespace) -> int:
    """Write the weights that a reader starts from: the model's table and layers, and MiniLM's layers."""
    start.make(arguments.minilm, shipped_model(arguments.model) / "model.safetensors", arguments.data / START)
    return 0


def trained(arguments: argparse.Namespace) -> int:
    """Train a reader and measure it on held-out contexts, on a set kept whole, and on topics."""
    device = choose_hardware(arguments.device, "float32").device
    library = Library.load(arguments.data / LIBRARY)
    shelf, first = Shelf(library, device), start.read(arguments.data / START)
    idf = torch.from_numpy(library.idf)
    model = shipped_model(arguments.model)
    mamba, marks = read_config(model / "config.json")[0], marks_of(TextTokenizer.load(model).tokenizer)
    torch.manual_seed(arguments.seed)
    reader = start.build(arguments.design, arguments.layers, first, idf, mamba, marks)
    teacher = None
    if arguments.teacher:
        teacher = start.build("cross", arguments.teacher_layers, first, idf, mamba, marks)
        load(teacher, arguments.teacher)
    final, marked = set_exams(library, arguments.n_exam), set_exams(library, arguments.n_exam // 3)[:1]
    plan = Plan(arguments.pairs, arguments.minutes, Shares(), arguments.seed, arguments.rate)
    training = Training(plan, reader, shelf, teacher)
    pairs = training.run(marked) if arguments.design != "floor" else 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    save(reader, idf, arguments.out / WEIGHTS)
    write_figures(arguments.out / FIGURES, plan, pairs, training, final)
    print(f"{pairs} pairs: {arguments.out}")
    return 0


def add_prepare(command: argparse.ArgumentParser) -> None:
    """Add the options of `reader-prepare`."""
    command.add_argument("--questions", nargs="+", type=Path, required=True, metavar="FILE", help="JSON lines, .xz")
    command.add_argument(
        "--topics", nargs="+", type=Path, required=True, metavar="FILE", help="pairs as JSON lines, .xz"
    )
    number(command, "--n-topics", 40_000, "pairs of the topics")
    whole = f"sets that are kept for the exam (default {TRANSFER_SET})"
    command.add_argument("--whole", nargs="+", default=[TRANSFER_SET], metavar="SET", help=whole)
    _add_model(command)
    folder(command, "--out", "where to write the library")


def _add_model(command: argparse.ArgumentParser) -> None:
    which = "the model whose table and tokenizer it uses (default bundled)"
    command.add_argument("--model", choices=list(SHIPPED), default="bundled", help=which)


def add_start(command: argparse.ArgumentParser) -> None:
    """Add the options of `reader-start`."""
    command.add_argument("--minilm", type=Path, required=True, metavar="FILE", help="MiniLM's safetensors")
    folder(command, "--data", "the library's folder")
    _add_model(command)


def add_train(command: argparse.ArgumentParser) -> None:
    """Add the options of `reader`."""
    folder(command, "--data", "what reader-prepare and reader-start wrote")
    folder(command, "--out", "where to write weights and figures")
    _add_model(command)
    command.add_argument("--design", choices=start.DESIGNS, default="late", help="which reader (default late)")
    number(command, "--layers", 3, "how many of the first layers it has")
    command.add_argument("--teacher", type=Path, metavar="FILE", help="a `cross` whose scores are a second target")
    number(command, "--teacher-layers", 6, "its layers")
    number(command, "--pairs", 1_000_000, "pairs to read")
    number(command, "--minutes", 600.0, "end after so many minutes")
    number(command, "--rate", 1.0, "a factor of all learning rates")
    number(command, "--n-exam", 3000, "questions of each exam at the end")


COMMANDS = (
    ("reader-prepare", prepared, add_prepare, "turn questions and pairs into a library for the reader"),
    ("reader-start", started, add_start, "write the weights that a reader starts from"),
    ("reader", trained, add_train, "train a reader: which sentence answers, and whether any does"),
)
