"""Makes pairs of parallel texts, question sets and plain paragraphs of many languages. Uses no tokenizer, no model.

Files are .jsonl or .jsonl.xz. A line of parallel text holds `en`, `x` (its translation), `lang` and `s` (source); of a
question set `q`, `p`, `lang` and `s`; of plain text `text`, `lang` and `s`; of pairs what `data.pairs` says. A plain
text gives two pairs: a part of it with the whole, and a question made of one of its sentences (`data.questions`) with
that sentence or the whole. A batch has one source, so the source of a pair is its language or languages: negatives are
then in the answer's language.

The two sides of a translation have one target, the teacher's vector of the English side (Reimers and Gurevych, "Making
Monolingual Sentence Embeddings Multilingual using Knowledge Distillation", arXiv 2004.09813). So a label of an English
text serves all its translations, and texts that are translated into many languages come first.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.pairs import Pair, document_hash, records
from longsearch.engine.training.data.questions import question_of

TO_OTHER, TO_ENGLISH = "english2other", "other2english"
"""Kinds of translations: the English side is the query, or the passage."""
LEFT_OUT = ("NTREX", "-PUD")
"""Sources that are test sets of translation or parsing."""
SENTENCE = re.compile(r".{8,}?(?:[.!?…؟।][\"'”’)\]]*\s|[。！？])")
_LEAST_TEXT = 60  # characters of a plain text
_LEAST_SENTENCE = 40  # characters of a sentence to make a question of
_LEAST_WORDS, _MOST_WORDS = 4, 12  # of a query that is a part of a sentence
_CHARACTERS_A_WORD = 2  # in scripts that do not separate words
_RUN_CHARACTERS = 60
_RUN_WORDS = 25
_TRANSLATIONS_AN_OTHER = 8  # a label of an English text serves many translations; of another pair, that pair alone
_SPACED_LETTERS = 12  # letters a word at most, in scripts that separate words by spaces


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pairs to make."""

    unlike: frozenset[int] = frozenset()
    """Hashes of runs of evaluation sets, by `runs_of`; texts with one of them are left out."""
    held_out: tuple[str, ...] = ()
    """Sources that are kept for measuring."""


def read_translations(paths: list[Path], choice: Choice, seed: int) -> Iterator[Pair]:
    """Yield translations, the most translated texts first, and among them the other pairs in a drawn order."""
    parallel: list[dict[str, Any]] = []
    others: list[Pair] = []
    for path in paths:
        for record in records(path, ("s",)):
            if any(mark in record["s"] for mark in LEFT_OUT) or record["s"] in choice.held_out:
                continue
            if "en" in record and "x" in record:
                parallel.append(record)
            else:
                others.extend(_alone(record, path))
    drawn = (others[i] for i in np.random.default_rng(seed).permutation(len(others)))
    mixed = _mixed(_translated(parallel), drawn)
    yield from (pair for pair in mixed if choice.unlike.isdisjoint(runs_of([pair.query, pair.passage])))


def _mixed(translations: Iterator[Pair], others: Iterator[Pair]) -> Iterator[Pair]:
    """Yield one other pair after every few translations, and at the end those that are left."""
    while batch := list(islice(translations, _TRANSLATIONS_AN_OTHER)):
        yield from batch
        yield from islice(others, 1)
    yield from others


def shared_side(kind: str) -> str | None:
    """Return the English side of a translation, `query` or `passage`; None for other kinds of pairs."""
    return {TO_OTHER: "query", TO_ENGLISH: "passage"}.get(kind)


def runs_of(texts: Iterable[str]) -> set[int]:
    """Return the hashes of all runs of 25 words of texts, or of 60 characters in scripts without spaces."""
    runs: set[int] = set()
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        letters = "".join(words)
        if len(letters) <= _SPACED_LETTERS * len(words) and not _is_unspaced(letters):
            runs.update(hash(tuple(words[i : i + _RUN_WORDS])) for i in range(len(words) - _RUN_WORDS + 1))
        else:
            runs.update(hash(letters[i : i + _RUN_CHARACTERS]) for i in range(len(letters) - _RUN_CHARACTERS + 1))
    return runs


def _is_unspaced(letters: str) -> bool:
    """Return whether most letters are Thai, Lao, Khmer, Burmese, Chinese or kana."""
    unspaced = sum("\u0e00" <= c <= "\u0eff" or "\u1000" <= c <= "\u109f" or "\u1780" <= c <= "\u17ff" for c in letters)
    unspaced += sum("\u3040" <= c <= "\u30ff" or "\u3400" <= c <= "\u9fff" for c in letters)
    return 2 * unspaced > len(letters)


def _translated(parallel: list[dict[str, Any]]) -> Iterator[Pair]:
    n_languages = Counter(text for text, _ in {(record["en"], record["lang"]) for record in parallel})
    seen: set[tuple[str, str]] = set()
    for record in sorted(parallel, key=lambda r: (-n_languages[r["en"]], r["en"], r["lang"])):
        english, other, language = record["en"], record["x"], record["lang"]
        if (english, language) in seen or english == other:
            continue
        seen.add((english, language))
        document = f"{record['s']}/{english[:60]}"  # a text and its translations are on one side of the split
        if document_hash(language, english) % 2:
            yield Pair(english, other, TO_OTHER, f"en-{language}", document)
        else:
            yield Pair(other, english, TO_ENGLISH, f"{language}-en", document)


def _alone(record: dict[str, Any], path: Path) -> Iterator[Pair]:
    """Yield the pair of a question and its passage, or the two pairs of a plain text.

    Questions have a source of their own, since a batch is drawn of one source and all its pairs are of one kind.
    """
    if "k" in record:
        yield Pair(record["q"], record["p"], record["k"], record["s"], str(record.get("d", record["p"][:80])))
        return
    language, document = record["lang"], f"{record['s']}/{record.get('d', '')}"
    if isinstance(record.get("q"), str) and isinstance(record.get("p"), str):
        source = f"questions-{language}"
        yield Pair(record["q"], record["p"], "question2answer", source, f"{document}/{record['p'][:60]}")
    elif isinstance(text := record.get("text"), str):
        yield from _of_plain_text(text, language, f"{document}/{text[:60]}")
    else:
        hint = "a line holds en and x, q and p, or text"
        raise LongsearchError(f"{path}: no text in {sorted(record)}", hint)


def _of_plain_text(text: str, language: str, document: str) -> Iterator[Pair]:
    """Yield a part of a text with the whole, and a question of one sentence with that sentence or the whole."""
    unspaced = _is_unspaced(text)
    if len(text) < (_LEAST_TEXT // _CHARACTERS_A_WORD if unspaced else _LEAST_TEXT):
        return
    drawn = document_hash(language, text)
    yield Pair(_part(text, unspaced, drawn), text, "ict", language, document)
    sentences = [sentence for sentence in _sentences(text) if len(sentence) >= _LEAST_SENTENCE] or [text]
    drawn, which = divmod(drawn, len(sentences))
    drawn, is_whole = divmod(drawn, 2)
    if question := question_of(sentences[which], language, drawn):
        answer = text if is_whole else sentences[which]
        yield Pair(question, answer, "question2answer", f"questions-{language}", document)


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in SENTENCE.findall(f"{text} ")]


def _part(text: str, unspaced: bool, drawn: int) -> str:
    """Return one sentence of a text, or a few words of it, as the number `drawn` decides."""
    sentences = _sentences(text)
    if drawn % 2 and len(sentences) > 1:
        return sentences[drawn // 2 % len(sentences)]
    words = list(text) if unspaced else text.split()
    length = _LEAST_WORDS + drawn // 2 % (_MOST_WORDS - _LEAST_WORDS + 1)
    length *= _CHARACTERS_A_WORD if unspaced else 1
    start = drawn // 32 % max(1, len(words) - length + 1)
    return ("" if unspaced else " ").join(words[start : start + length]).strip()
