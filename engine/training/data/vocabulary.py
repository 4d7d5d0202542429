"""Trains a tokenizer on the corpus, in the form that `Encoder.open` reads; reads that of a model.

WordPiece splits words as BERT does; a word with a character outside its alphabet becomes one unknown token. Byte-level
BPE can represent every text, and joins a space to the next word.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from longsearch.engine.errors import LongsearchError
from longsearch.engine.inference.tokens import special_tokens_as_text
from longsearch.engine.training.data.pairs import Pair

_PADDING, _UNKNOWN = "[PAD]", "[UNK]"
_ALPHABET = 1000  # characters of WordPiece: else thousands of rare characters of a web corpus take the place of words
_LEAST_SIZE, _LARGEST_SIZE = 512, 1 << 16  # at least all bytes and some words; at most 16 bits for an id


class Kind(StrEnum):
    """The kind of tokenizer."""

    WORDPIECE = "wordpiece"
    BYTELEVEL = "bytelevel"


@dataclass(frozen=True, slots=True)
class VocabularyOptions:
    """Options of the tokenizer."""

    size: int = 16_384
    """Tokens at most; a small corpus may give fewer."""
    kind: Kind = Kind.WORDPIECE
    cased: bool = False
    """Whether `Paris` and `paris` differ; if not, WordPiece drops accents too."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a tokenizer on texts that it was not trained on."""

    tokens_per_word: float
    unknown_share: float
    """Share of unknown tokens."""


def train_tokenizer(texts: Iterable[str], options: VocabularyOptions) -> Tokenizer:
    """Train a tokenizer. Raises LongsearchError for a size out of range, and for texts without words."""
    if not _LEAST_SIZE <= options.size <= _LARGEST_SIZE:
        hint = f"between {_LEAST_SIZE} and {_LARGEST_SIZE}"
        raise LongsearchError(f"a vocabulary of {options.size} tokens cannot be trained", hint)
    made, trainer = (_word_pieces if options.kind == Kind.WORDPIECE else _bytes)(options)
    # the library accepts no lone surrogates
    made.train_from_iterator((text.encode("utf-8", "replace").decode() for text in texts), trainer)
    given = 2 if options.kind == Kind.WORDPIECE else 257  # tokens without any training: special tokens, and all bytes
    if made.get_vocab_size() <= given:
        raise LongsearchError("the texts to train a vocabulary on have no words", "give pairs with `q` and `p`")
    return special_tokens_as_text(made)


def texts_of(pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield the queries and passages of pairs as single texts."""
    return chain.from_iterable((pair.query, pair.passage) for pair in pairs)


def measure(tokenizer: Tokenizer, texts: Iterable[str]) -> Cost | None:
    """Measure the tokens per word, where white space separates words; None if there are no words."""
    n_words, n_tokens, n_unknown = 0, 0, 0
    for text in texts:
        tokens = tokenizer.encode(text, add_special_tokens=False).tokens
        n_words += len(text.split())
        n_tokens += len(tokens)
        n_unknown += tokens.count(_UNKNOWN)
    return Cost(n_tokens / n_words, n_unknown / max(n_tokens, 1)) if n_words else None


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write tokenizer.json to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))


def _word_pieces(options: VocabularyOptions) -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.WordPiece(unk_token=_UNKNOWN))
    made.normalizer = normalizers.BertNormalizer(lowercase=not options.cased)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    special = [_PADDING, _UNKNOWN]
    trainer = trainers.WordPieceTrainer(
        vocab_size=options.size, special_tokens=special, limit_alphabet=_ALPHABET, show_progress=False
    )
    return made, trainer


def _bytes(options: VocabularyOptions) -> tuple[Tokenizer, trainers.Trainer]:
    made = Tokenizer(models.BPE())
    if not options.cased:
        made.normalizer = normalizers.Lowercase()
    # a space in front gives a text's first word the token that it has elsewhere: queries are short
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options.size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[_PADDING], show_progress=False,
    )  # fmt: skip
    return made, trainer


def read_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of the model in `folder`. Raises LongsearchError if it cannot be read."""
    path = folder / "tokenizer.json"
    try:
        return special_tokens_as_text(Tokenizer.from_file(str(path)))
    except Exception as error:  # the library raises bare Exception
        hint = "give a folder with tokenizer.json, as `vocabulary` writes it"
        raise LongsearchError(f"cannot read the tokenizer {path}: {error}", hint) from error
