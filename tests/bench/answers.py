"""The exam of answers: which sentence a search gives to a question, and whether it says that nothing answers.

`python answers.py FILE…`: each FILE has questions with answer spans, in SQuAD's JSON or as lines of JSON (`q`,
`context`, `answers`, `title`; `.xz` too). Its articles are written as text files, a paragraph for each context, and
indexed three times: whole; without every second paragraph ("gone"); and with those, but without the sentences that
answer one question of each ("cut"). The questions go the way of `longsearch search --json --answers`.

Printed for each file, with 95 % of bootstraps over the questions: how often the first document is right (document@1),
its first passage holds an answer (passage@1), the first sentence does (excerpt@1, its mean characters beside) and how
often "nothing" is told of what is gone, cut or, by the file's own word, without an answer; beside that, how many
questions with an answer are lost. The product's verdict decides, and so does a threshold that loses 4 % of another
file's questions ("by NAME"). A FILE may also be a set with judgements in BEIR's layout: each document is an article of
its own then, every second one is gone, and nobody knows which sentence answers. `--keep FOLDER` keeps the indexes and
the answers, so that a second run asks nothing.
"""

import argparse
import json
import lzma
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("whole", "gone", "cut", "none")
"""What becomes of the answer: it is there, its paragraph is not, its sentence is not, there never was one."""
_LOST = 0.04


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a paragraph."""

    text: str
    article: str
    paragraph: int
    """Its number in the article."""
    answers: tuple[str, ...]
    """() if nothing there answers."""

    @property
    def may_be_gone(self) -> bool:
        """Whether its paragraph is one of those that are taken out."""
        return bool(self.answers) and self.paragraph % 2 == 1


@dataclass(frozen=True, slots=True)
class Exam:
    """Articles and questions about them."""

    articles: Mapping[str, Mapping[int, str]]
    """The paragraphs of each, by their numbers. Those with odd numbers are taken out."""
    questions: list[Question]
    language: str = "en"
    cut: dict[str, str] = field(default_factory=dict)
    """The question of each paragraph whose answer is cut out, by the paragraph's text."""
    has_spans: bool = True
    """Whether it is known which words answer; if not, the names of the articles are no titles either."""


def rows_of(path: Path) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield (title, context, question, answers) of each question of a file."""
    if path.suffix == ".json":
        for article in json.loads(path.read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    answers = tuple(dict.fromkeys(answer["text"] for answer in asked["answers"]))
                    yield article["title"], paragraph["context"], asked["question"], answers
        return
    data = path.read_bytes()
    for line in (lzma.decompress(data) if path.suffix == ".xz" else data).decode().rstrip("\n").split("\n"):
        row = json.loads(line)
        answers = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
        if answers or not row["answerable"]:  # the others are answered in words of their own
            yield row["title"], row["context"], row["q"], answers


def drawn(path: Path, options: argparse.Namespace) -> Exam:
    """Draw articles, paragraphs and questions. Contexts without a title are put together as they come."""
    if path.is_dir() or path.name.endswith(".tar.xz"):
        return judged(path, options)
    articles: dict[str, list[str]] = defaultdict(list)
    of_context: dict[str, tuple[str, int]] = {}
    asked: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for title, context, question, answers in rows_of(path):
        if context not in of_context:
            name = title or f"Texts {len(of_context) // options.paragraphs}"
            of_context[context] = name, len(articles[name])
            articles[name].append(context)
        asked[context].append((question, answers))
    random_ = random.Random(options.seed)
    names = [name for name, own in articles.items() if len(own) > 1]
    random_.shuffle(names)
    kept = {name: dict(enumerate(articles[name][: options.paragraphs])) for name in names[: options.articles]}
    questions = [
        Question(question, name, of_context[context][1], answers)
        for name, own in kept.items()
        for context in own.values()
        for question, answers in asked[context]
    ]
    random_.shuffle(questions)
    answered = [one for one in questions if one.answers][: options.questions]
    never = [one for one in questions if not one.answers][: options.questions]
    cut = {kept[one.article][one.paragraph]: one.text for one in reversed(answered) if one.may_be_gone}
    return Exam(kept, answered + never, options.language, cut)


def judged(path: Path, options: argparse.Namespace) -> Exam:
    """Draw questions with one right document from a set with judgements; its documents are articles."""
    from longsearch.engine.evaluation.datasets import load_dataset

    found = load_dataset(path)
    number = {one.id: place for place, one in enumerate(found.documents)}
    articles = {one.id: {number[one.id]: one.full_text} for one in found.documents}
    right = {query.id: list(found.qrels[query.id]) for query in found.queries}
    questions = [
        Question(query.text, right[query.id][0], number[right[query.id][0]], (query.id,))
        for query in found.queries
        if len(right[query.id]) == 1
    ]
    random.Random(options.seed).shuffle(questions)
    return Exam(articles, questions[: options.questions], options.language, has_spans=False)


def paragraphs_of(exam: Exam, name: str, kind: str) -> Iterator[str]:
    """Yield the paragraphs of an article as they are, or without what is taken out."""
    from longsearch.engine.sentences import cut_sentences

    for number, paragraph in exam.articles[name].items():
        if kind == "whole" or number % 2 == 0:
            yield paragraph
        elif kind == "cut" and paragraph in exam.cut:
            answers = next(one.answers for one in exam.questions if one.text == exam.cut[paragraph])
            spans = cut_sentences(paragraph, exam.language)
            left = [paragraph[a:b] for a, b in spans if not any(answer in paragraph[a:b] for answer in answers)]
            if left:
                yield " ".join(left)


def answered(exam: Exam, folder: Path, model: str, keep: Path) -> list[dict[str, Any]]:
    """Index the articles in each way and ask each question; or read what was answered before."""
    if keep.exists():
        return [json.loads(line) for line in keep.read_text("utf-8").splitlines()]
    found = []
    for kind, files_of in (("whole", "whole"), ("none", "whole"), ("gone", "gone"), ("cut", "cut")):
        root = folder / files_of
        if not root.exists():
            index(exam, root, files_of, model)
        files = {name: f"{number:03d}.txt" for number, name in enumerate(exam.articles)}
        ask = asker(root)
        for one in exam.questions:
            paragraph = exam.articles[one.article][one.paragraph]
            wanted = {
                "whole": bool(one.answers),
                "none": not one.answers,
                "gone": one.may_be_gone,
                "cut": exam.cut.get(paragraph) == one.text,
            }
            if wanted[kind]:
                wanted_words = one.answers if exam.has_spans else ()
                own = {"kind": kind, "q": one.text, "wanted": wanted_words, "file": files[one.article]}
                found.append(own | ask(one.text))
    keep.write_text("\n".join(map(json.dumps, found)), "utf-8")
    return found


def index(exam: Exam, root: Path, kind: str, model: str) -> None:
    """Write the articles into a new folder, a file for each, as they are or without what is taken out; index it."""
    from longsearch.app.cli import main as longsearch_main

    root.mkdir(parents=True)
    for number, name in enumerate(exam.articles):
        paragraphs = list(paragraphs_of(exam, name, kind))
        title = [name.replace("_", " ")] if exam.has_spans else []
        if paragraphs:
            (root / f"{number:03d}.txt").write_text("\n\n".join([*title, *paragraphs]), "utf-8")
    longsearch_main(["index", str(root), "-q", *(["--model", model] if model else [])])


def asker(root: Path) -> Callable[[str], dict[str, Any]]:
    """Return what asks a question as `longsearch search --json --answers 5` does."""
    from longsearch.app.commands.results import to_json
    from longsearch.app.search.python_door import query_vector
    from longsearch.app.search.scope import Scope
    from longsearch.app.search.searching import Question as Asked
    from longsearch.app.search.searching import search
    from longsearch.engine.types.results import SearchMode

    scope = Scope.of(root)

    def ask(text: str) -> dict[str, Any]:
        results = to_json(search(scope, Asked(text, SearchMode.HYBRID, read=True), query_vector), n_answers=5)
        return {key: results[key] for key in ("verdict", "answers", "results")}

    return ask


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of one file, and what they show."""

    name: str
    rows: list[dict[str, Any]]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The rows of a kind."""
        return [row for row in self.rows if row["kind"] == kind]

    def told(self, kind: str, below: float | None = None) -> list[bool]:
        """Whether "nothing" is told: by the verdict, or below a probability."""
        return [row["verdict"] == "nothing" if below is None else _probability(row) < below for row in self.of(kind)]

    def line(self, lost: float = _LOST) -> float:
        """The probability below which this share of the questions with an answer lie."""
        return float(np.quantile([_probability(row) for row in self.of("whole")], lost))


def _probability(row: Mapping[str, Any]) -> float:
    return max((answer["probability"] or 0.0 for answer in row["answers"]), default=0.0)


def _holds(row: Mapping[str, Any], text: str) -> bool:
    flat = " ".join(text.split())
    return any(" ".join(answer.split()) in flat for answer in row["wanted"])


def interval(values: Sequence[float]) -> str:
    """The mean with 95 % of its bootstraps."""
    if not len(values):
        return "-"
    given = np.array(values, float)
    drawn_ = np.random.default_rng(0).integers(0, len(given), (2000, len(given)))
    low, high = np.quantile(given[drawn_].mean(1), [0.025, 0.975])
    return f"{given.mean():.3f} [{low:.3f}, {high:.3f}]"


def show(report: Report, others: Sequence[Report]) -> None:
    """Print what a file's rows show."""
    whole = report.of("whole")
    sentences = [row["answers"][0]["sentence"] if row["answers"] else "" for row in whole]
    passages = [row["results"][0]["passages"][0]["text"] if row["results"] else "" for row in whole]
    right = [bool(row["results"]) and Path(row["results"][0]["path"]).name == row["file"] for row in whole]
    print(f"## {report.name}: {', '.join(f'{len(report.of(kind))} {kind}' for kind in KINDS)}")
    print(f"document@1 {interval(right)}")
    if any(row["wanted"] for row in whole):
        print(f"passage@1  {interval([_holds(row, text) for row, text in zip(whole, passages, strict=True)])}")
        held = [_holds(row, text) for row, text in zip(whole, sentences, strict=True)]
        print(f"excerpt@1  {interval(held)}, {np.mean([len(text) for text in sentences]):.0f} characters")
    lines = {"the verdict": None, "4 % of its own": report.line()}
    lines |= {f"4 % of {other.name}": other.line() for other in others if other is not report}
    for name, below in lines.items():
        told = (f"{kind} {interval(report.told(kind, below))}" for kind in KINDS[1:])
        print(f"by {name}: lost {interval(report.told('whole', below))}; told: {', '.join(told)}")


def main() -> None:
    """Hold the exam for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--articles", type=int, default=48)
    parser.add_argument("--paragraphs", type=int, default=12, help="the most of each article")
    parser.add_argument("--questions", type=int, default=300, help="with an answer, and as many without one")
    parser.add_argument("--language", default="en")
    parser.add_argument("--model", default="", help="of the index; default: the bundled one")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_DATA_HOME"] = os.environ["XDG_RUNTIME_DIR"] = str(work)
        reports = []
        for path in options.files:
            name = path.name.split(".json")[0].split(".tar")[0]
            rows = answered(drawn(path, options), work / name, options.model, work / f"{name}.jsonl")
            reports.append(Report(name, rows))
        for report in reports:
            show(report, reports)


if __name__ == "__main__":
    main()
