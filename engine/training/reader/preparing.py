"""Turns questions with answer spans, and pairs of topic and passage, into a `Library`. Knows no model."""

import hashlib
import json
import lzma
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.inference.tokens import first_characters
from longsearch.engine.languages.stop_words import STOP_WORDS
from longsearch.engine.sentences import cut_sentences
from longsearch.engine.training.reader.library import HELD, NOT_HELD, TRANSFER, Library
from longsearch.engine.training.reader.negatives import CutTexts, Row, changed_queries, encode, other_contexts

TRANSFER_SET = "squadshifts-new-wiki-en"
LONGEST_SENTENCE = 100
"""In tokens. A longer one is cut."""
_STOP = (
    "the a an of in on to and is was were are did do does what which who whom whose when where why how for by with at "
    "from as that this it its be has have had ? , . ' \" - ( )"
)


@dataclass(slots=True)
class _Texts:
    """The contexts, each once."""

    number: dict[str, int] = field(default_factory=dict)
    all: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)

    def add(self, text: str, language: str) -> int:
        if text not in self.number:
            self.number[text] = len(self.all)
            self.all.append(text)
            self.languages.append(language)
        return self.number[text]


def prepare(
    questions: list[Path], topics: list[Path], n_topics: int, tokenizer: Tokenizer, seed: int = 0,
    whole: Collection[str] = (TRANSFER_SET,),
) -> Library:  # fmt: skip
    """Build a library of all rows of `questions` and of `n_topics` pairs of `topics`. `whole`: sets for the exam."""
    texts = _Texts()
    rows = [row for path in questions for row in _question_rows(path, texts)]
    for path in topics:
        rows += islice(_topic_rows(path, texts, tokenizer), n_topics // len(topics))
    names = sorted({row.set_name for row in rows})
    rng = np.random.default_rng(seed)
    cut = _cut(texts, tokenizer)
    lower = [text.lower() for text in texts.all]
    rows = [row for row in rows if cut.context_start[row.context] < cut.context_start[row.context + 1]]
    labels = [_label(row, lower[row.context], cut) for row in rows]
    part = np.array([_part(row, texts, whole) for row in rows], np.uint8)
    others = other_contexts(rows, part, lower, cut, tokenizer)
    changed = list(changed_queries(rows, rng))
    queries = encode(tokenizer, [row.query for row in rows] + [text for _, text in changed])
    changed_of = np.full(len(rows) + len(changed), -1, np.int32)
    for number, (n, _) in enumerate(changed):
        changed_of[n] = len(rows) + number
    more = lambda values, of: np.concatenate([values, np.take(values, of, 0)])  # noqa: E731
    source = np.array([n for n, _ in changed], int)
    return Library(
        names=np.array(names),
        tokens=cut.tokens, sentence_start=cut.sentence_start, context_start=cut.context_start,
        query_tokens=np.concatenate(queries).astype(np.uint16),
        query_start=np.concatenate([[0], np.cumsum([len(q) for q in queries])]).astype(np.int32),
        set_of=more(np.array([names.index(row.set_name) for row in rows], np.uint8), source),
        part=more(part, source),
        context=more(np.array([row.context for row in rows], np.int32), source),
        right=more(np.array([label[0] for label in labels], np.int32), source),
        doubtful=more(np.array([label[1] for label in labels], np.int32), source),
        answer_token=more(np.array([label[2] for label in labels], np.int32), source),
        others=more(others, source), changed=changed_of,
        is_topic=more(np.array([row.is_topic for row in rows]), source),
        idf=_idf(cut, tokenizer, {*texts.languages}),
    )  # fmt: skip


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _question_rows(path: Path, texts: _Texts) -> Iterator[Row]:
    name = path.name.removesuffix(".jsonl.xz")
    for row in _lines(path):
        spans = [(a["start"], a["start"] + len(a["text"])) for a in row["answers"]]
        spans += [tuple(span) for span in row["support"]] if not spans or len(row["support"]) > 1 else []
        if row["answerable"] and not spans:
            continue
        context = texts.add(row["context"], row.get("lang", "en").split(">")[-1])
        yield Row(row["q"], name, context, spans, [a["text"] for a in row["answers"]], False)


def _topic_rows(path: Path, texts: _Texts, tokenizer: Tokenizer) -> Iterator[Row]:
    for row in _lines(path):
        if "question" in row["k"] or len(row["p"]) < 200 or not 3 <= len(row["q"]) <= 240:
            continue
        passage = row["p"][:1100]
        if row["q"].lower() in passage.lower():
            passage = passage.replace(row["q"], "").strip()
        context = texts.add(passage, row.get("lang", "en"))
        yield Row(row["q"], "topics-" + row["k"], context, [(0, len(passage))], [], True)


def _cut(texts: _Texts, tokenizer: Tokenizer) -> CutTexts:
    tokens, offsets, sentence_start, context_start = [], [], [], [0]
    n_tokens = n_sentences = 0
    for first in range(0, len(texts.all), 2000):
        part, languages = (values[first : first + 2000] for values in (texts.all, texts.languages))
        whole = tokenizer.encode_batch(part, add_special_tokens=False)
        for text, language, encoded in zip(part, languages, whole, strict=True):
            begins = first_characters(text, encoded.offsets).astype(np.int32)
            starts = np.unique(np.searchsorted(begins, [start for start, _ in cut_sentences(text, language)]))
            starts = _without_long(starts[starts < len(begins)], len(begins))
            tokens.append(np.array(encoded.ids, np.uint16))
            offsets.append(begins)
            sentence_start.append(starts + n_tokens)
            n_tokens += len(begins)
            n_sentences += len(starts)
            context_start.append(n_sentences)
    ends = np.concatenate([*sentence_start, [n_tokens]]).astype(np.int32)
    return CutTexts(np.concatenate(tokens), np.concatenate(offsets), ends, np.array(context_start, np.int32))


def _without_long(starts: NDArray[np.int64], n_tokens: int) -> NDArray[np.int64]:
    """Return the starts of sentences with more of them where a sentence is too long."""
    if not n_tokens:
        return starts
    starts = np.union1d([0], starts)
    lengths = np.diff(np.append(starts, n_tokens))
    more = [
        np.arange(start, start + length, LONGEST_SENTENCE)
        for start, length in zip(starts, lengths, strict=True)
        if length > LONGEST_SENTENCE
    ]
    return np.union1d(starts, np.concatenate(more)) if more else starts


def _label(row: Row, text: str, cut: CutTexts) -> tuple[Any, Any, int]:
    """Return the runs of right sentences, the doubtful sentences and the answer's token, or -1."""
    first, last = cut.context_start[row.context : row.context + 2]
    begin, end = cut.sentence_start[first], cut.sentence_start[last]
    begins = cut.offsets[begin:end]
    starts = begins[cut.sentence_start[first:last] - begin]
    runs: list[list[int]] = []
    for start, stop in sorted(set(row.spans)):
        a = max(0, int(np.searchsorted(starts, start, "right")) - 1)
        b = max(a + 1, int(np.searchsorted(starts, stop, "left")))
        if runs and first + a <= runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], int(first) + b)
        else:
            runs.append([int(first) + a, int(first) + b])
    doubtful = _doubtful(row, text, runs, starts, int(first))
    token = -1
    if row.answers and len(row.answers[0]) <= 150 and runs:
        start = row.spans[0][0]
        runs.sort(key=lambda run: not run[0] <= first + np.searchsorted(starts, start, "right") - 1 < run[1])
        token = int(begin + max(0, np.searchsorted(begins, start, "right") - 1))
    return (runs + [[-1, -1]] * 3)[:3], (doubtful + [-1] * 3)[:3], token


def _doubtful(row: Row, text: str, runs: list[list[int]], starts: NDArray[np.int32], first: int) -> list[int]:
    found = set()
    for answer in {answer.lower() for answer in row.answers if 2 < len(answer) <= 60}:
        for match in re.finditer(re.escape(answer), text):
            found.add(first + max(0, int(np.searchsorted(starts, match.start(), "right")) - 1))
    found = {n for n in found if not any(a <= n < b for a, b in runs)}
    middle = runs[0][0] if runs else first
    return sorted(found, key=lambda n: abs(n - middle))


def _part(row: Row, texts: _Texts, whole: Collection[str]) -> int:
    if row.set_name in whole:
        return TRANSFER
    digest = hashlib.md5(texts.all[row.context].encode(), usedforsecurity=False).digest()
    return HELD if digest[0] % 20 == 0 else NOT_HELD


def _idf(cut: CutTexts, tokenizer: Tokenizer, languages: Collection[str]) -> NDArray[np.float32]:
    """Return the weight of each piece: its idf over contexts, .1 for stop words and marks."""
    bounds = cut.sentence_start[cut.context_start]
    counts: Counter[int] = Counter()
    for start, stop in pairwise(bounds):
        counts.update(set(cut.tokens[start:stop].tolist()))
    frequency = np.zeros(tokenizer.get_vocab_size())
    frequency[list(counts)] = list(counts.values())
    weights = np.log(1 + len(bounds) / (1 + frequency)) + 0.1
    stop_words = {*_STOP.split()}.union(*(STOP_WORDS.get(code, ()) for code in languages if code != "en"))
    # SentencePiece's pieces tell the beginning of a word by a mark, and capitals from small letters
    forms = {mark + form for word in ("", *stop_words) for form in (word, word.capitalize()) for mark in ("", "\u2581")}
    weights[[id_ for form in forms if (id_ := tokenizer.token_to_id(form)) is not None]] = 0.1
    return weights.astype(np.float32)
