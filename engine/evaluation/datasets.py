"""Reads retrieval sets with relevance judgements from folders or .tar.xz archives.

BEIR format: corpus.jsonl (`_id`, `title`, `text`), queries.jsonl (`_id`, `text`), qrels.tsv (query, document, score),
meta.json. Span format: docs.jsonl, and spans.jsonl, where an answer is a character span of one document. LongEmbed
format (Zhu et al., arXiv 2404.12096, `dwzhu/LongEmbed` on Hugging Face): corpus.jsonl (`doc_id`, `text`), queries.jsonl
(`qid`, `text`), qrels.jsonl (`qid`, `doc_id`); with `context_length` on every line, each length is a set of its own.
"""

import csv
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longsearch.engine.errors import LongsearchError

_FORMAT_HINT = (
    "a dataset is a folder or .tar.xz with corpus.jsonl, queries.jsonl, qrels.tsv or qrels.jsonl, "
    "or with docs.jsonl, spans.jsonl"
)


@dataclass(frozen=True, slots=True)
class EvalDocument:
    """A document of a set."""

    id: str
    title: str
    text: str

    @property
    def full_text(self) -> str:
        """The text that every system reads: title and text, or only the text if it begins with the title."""
        return self.text if not self.title or self.text.startswith(self.title) else f"{self.title}\n\n{self.text}"


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """A query of a set."""

    id: str
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """(start, stop) of each answer in the document's text, in characters; only in sets with spans."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set: documents, queries, and judgements of which documents answer which query."""

    name: str
    documents: tuple[EvalDocument, ...]
    queries: tuple[EvalQuery, ...]
    """The queries with a judgement above 0."""
    qrels: dict[str, dict[str, int]]
    """query id -> document id -> gain; only gains above 0."""
    n_skipped: int = 0
    """Judgements that were skipped: they name a document or a query that the set does not have."""

    @property
    def has_spans(self) -> bool:
        """Whether answers are spans of documents; then passages are scored, not documents."""
        return any(query.spans for query in self.queries)

    def limited(self, n_queries: int) -> "Dataset":
        """Return the set with at most `n_queries` queries, spread evenly over it."""
        if n_queries >= len(self.queries):
            return self
        step = len(self.queries) / n_queries
        return replace(self, queries=tuple(self.queries[int(i * step)] for i in range(n_queries)))


def load_dataset(path: Path) -> Dataset:
    """Read and check a folder or archive that holds one set. Raises LongsearchError as `load_datasets` does."""
    dataset, *others = load_datasets(path)
    if others:
        raise LongsearchError(f"{path} holds {1 + len(others)} sets, one for each context length")
    return dataset


def load_datasets(path: Path) -> list[Dataset]:
    """Read and check a folder or archive: one set, or one for each context length in LongEmbed's format.

    A judgement of an unknown document or query is skipped and counted: published BEIR sets hold some. Raises
    LongsearchError, which names file and line, if a file is missing or cannot be parsed, or if no judged query is left.
    """
    try:
        read = _archive_reader(path) if path.is_file() else _folder_reader(path)
        name = _name(path, read)
        if read("spans.jsonl") is not None:
            datasets = [_spans(name, read)]
        elif read("qrels.tsv") is None and read("qrels.jsonl") is not None:
            datasets = list(_longembed(name, read))
        else:
            datasets = [_beir(name, read)]
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise LongsearchError(f"cannot read the dataset {path}: {error}", _FORMAT_HINT) from error
    if not datasets:
        raise LongsearchError(f"{path} has no documents", _FORMAT_HINT)
    for dataset in datasets:
        _check_queries(path, dataset)
    return datasets


def _name(path: Path, read: "Reader") -> str:
    """Return the name in meta.json, or that of the folder or archive."""
    text = read("meta.json")
    try:
        meta = json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        raise LongsearchError(f"{path}: meta.json is not valid JSON: {error}", _FORMAT_HINT) from error
    if not isinstance(meta, dict):
        raise LongsearchError(f"{path}: meta.json is not an object", _FORMAT_HINT)
    return str(meta.get("name") or path.name.removesuffix(".tar.xz"))


def _check_queries(path: Path, dataset: Dataset) -> None:
    """Raise LongsearchError if no query is left or if a query is blank."""
    if not dataset.queries:
        skipped = f": {dataset.n_skipped} judgements name an unknown document or query" if dataset.n_skipped else ""
        raise LongsearchError(f"{path}: {dataset.name} has no query with a judged document{skipped}", _FORMAT_HINT)
    blank = [query.id for query in dataset.queries if not query.text.strip()]
    if blank:
        raise LongsearchError(f"{path}: the query {blank[0]!r} has no text", _FORMAT_HINT)


Reader = Callable[[str], str | None]
"""Returns the text of a file of a set, or None if the set has no such file."""


def _folder_reader(path: Path) -> Reader:
    if not path.is_dir():
        raise FileNotFoundError("no such folder or archive")

    def read(name: str) -> str | None:
        file = path / name
        return _decoded(path, name, file.read_bytes()) if file.exists() else None

    return read


def _archive_reader(path: Path) -> Reader:
    """Read the members into memory by file name. Nothing is unpacked, so paths in the archive do no harm."""
    members: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file:
                members[Path(member.name).name] = file.read()
    return lambda name: _decoded(path, name, members[name]) if name in members else None


def _decoded(path: Path, name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LongsearchError(f"{path}: {name} is not UTF-8: {error}", _FORMAT_HINT) from error


def _beir(name: str, read: Reader) -> Dataset:
    corpus = _jsonl(name, read, "corpus.jsonl")
    documents = tuple(EvalDocument(str(r["_id"]), str(r.get("title") or ""), str(r["text"])) for r in corpus)
    texts = {str(r["_id"]): str(r["text"]) for r in _jsonl(name, read, "queries.jsonl")}
    return _judged(name, documents, texts, _judgements(name, read))


def _longembed(name: str, read: Reader) -> Iterator[Dataset]:
    """Yield `longembed-NAME`, or `longembed-NAME-LENGTH` for each context length. Every judgement has gain 1."""
    corpus = list(_jsonl(name, read, "corpus.jsonl", ("doc_id", "text")))
    queries = list(_jsonl(name, read, "queries.jsonl", ("qid", "text")))
    qrels = list(_jsonl(name, read, "qrels.jsonl", ("qid", "doc_id")))
    for length in sorted({_length(record) for record in corpus}, key=lambda digits: (len(digits), digits)):
        of_corpus, of_queries, of_qrels = (
            [record for record in records if _length(record) == length] for records in (corpus, queries, qrels)
        )
        documents = tuple(EvalDocument(str(r["doc_id"]), "", str(r["text"])) for r in of_corpus)
        texts = {str(r["qid"]): str(r["text"]) for r in of_queries}
        judgements = ((str(r["qid"]), str(r["doc_id"]), 1) for r in of_qrels)
        yield _judged(f"longembed-{name}" + (f"-{length}" if length else ""), documents, texts, judgements)


def _length(record: dict[str, Any]) -> str:
    """Return the context length in digits; "" if the line has none."""
    return str(record.get("context_length") or "")


def _judged(
    name: str, documents: tuple[EvalDocument, ...], texts: dict[str, str], judgements: Iterable[tuple[str, str, int]]
) -> Dataset:
    """Build a set from its documents, the texts of its queries, and (query, document, gain) of each judgement."""
    ids = {document.id for document in documents}
    qrels: dict[str, dict[str, int]] = {}
    n_skipped = 0
    for query, document, gain in judgements:
        if query not in texts or document not in ids:
            n_skipped += 1
        elif gain > 0:
            qrels.setdefault(query, {})[document] = gain
    queries = tuple(EvalQuery(id, text) for id, text in texts.items() if id in qrels)
    return Dataset(name, documents, queries, qrels, n_skipped)


def _spans(name: str, read: Reader) -> Dataset:
    documents = tuple(EvalDocument(str(r["_id"]), "", str(r["text"])) for r in _jsonl(name, read, "docs.jsonl"))
    ids = {document.id for document in documents}
    queries, qrels, n_skipped = [], {}, 0
    for record in _jsonl(name, read, "spans.jsonl", ("_id", "text", "doc", "spans")):
        query, document = str(record["_id"]), str(record["doc"])
        try:
            spans = tuple((int(start), int(stop)) for start, stop in record["spans"])
        except (TypeError, ValueError):
            raise LongsearchError(f"{name}: the spans of {query!r} are not pairs of numbers", _FORMAT_HINT) from None
        if document not in ids:
            n_skipped += 1
            continue
        queries.append(EvalQuery(query, str(record["text"]), spans))
        qrels[query] = {document: 1}
    return Dataset(name, documents, tuple(queries), qrels, n_skipped)


def _jsonl(
    dataset: str, read: Reader, name: str, required: tuple[str, ...] = ("_id", "text")
) -> Iterator[dict[str, Any]]:
    """Yield each line of a file, with all `required` keys. Raises LongsearchError, which names the line."""
    text = read(name)
    if text is None:
        raise LongsearchError(f"{dataset} has no {name}", _FORMAT_HINT)
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: U+2028 may occur in a JSON string
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise LongsearchError(
                f"{dataset}: {name}, line {number} is not valid JSON: {error}", _FORMAT_HINT
            ) from error
        if not isinstance(record, dict) or not record.keys() >= set(required):
            raise LongsearchError(f"{dataset}: {name}, line {number} lacks {' or '.join(required)}", _FORMAT_HINT)
        yield record


def _judgements(dataset: str, read: Reader) -> Iterator[tuple[str, str, int]]:
    text = read("qrels.tsv")
    if text is None:
        raise LongsearchError(f"{dataset} has no qrels.tsv", _FORMAT_HINT)
    for number, row in enumerate(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE), 1):
        if number == 1 and row and not row[-1].lstrip("-").isdigit():
            continue  # the header line
        try:
            yield row[0], row[1], int(row[2])
        except (IndexError, ValueError):
            raise LongsearchError(f"{dataset}: qrels.tsv, line {number} is not query, document, score") from None
