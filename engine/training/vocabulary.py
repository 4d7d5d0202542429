"""A vocabulary of our own: a tokenizer trained on the corpus, in the form `Encoder.open` reads. Knows no model.

WordPiece splits words as BERT does; what its alphabet lacks is one unknown token. Byte-level BPE loses nothing, and
counts the space to the word behind it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from engine.errors import LongsearchError
from engine.inference.tokens import reading_plainly
from engine.training.data import Pair

_PADDING, _UNKNOWN = "[PAD]", "[UNK]"
_ALPHABET = 1000  # of WordPiece: else the rare signs of a web corpus, thousands of them, take the place of words
_LEAST_SIZE, _LARGEST_SIZE = 512, 1 << 16  # all 256 bytes and some words; ids that fit 16 bits in the shards


class Kind(StrEnum):
    """How words are cut."""

    WORDPIECE = "wordpiece"
    BYTELEVEL = "bytelevel"


@dataclass(frozen=True, slots=True)
class VocabularyOptions:
    """Which tokenizer to train."""

    size: int = 16_384
    """Tokens at most; a small corpus may give fewer."""
    kind: Kind = Kind.WORDPIECE
    cased: bool = False
    """Whether `Paris` and `paris` are told apart; if not, WordPiece leaves out accents too."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How a tokenizer does on texts it was not trained on."""

    tokens_per_word: float
    unknown_share: float
    """Of the tokens."""


def train_tokenizer(texts: Iterable[str], options: VocabularyOptions) -> Tokenizer:
    """Raises LongsearchError for a size out of range, and for texts without words."""
    if not _LEAST_SIZE <= options.size <= _LARGEST_SIZE:
        hint = f"between {_LEAST_SIZE} and {_LARGEST_SIZE}"
        raise LongsearchError(f"a vocabulary of {options.size} tokens cannot be trained", hint)
    made, trainer = (_word_pieces if options.kind == Kind.WORDPIECE else _bytes)(options)
    # lone surrogates are no text to the library
    made.train_from_iterator((text.encode("utf-8", "replace").decode() for text in texts), trainer)
    given = 2 if options.kind == Kind.WORDPIECE else 257  # special tokens, and all bytes
    if made.get_vocab_size() <= given:
        raise LongsearchError("the texts to train a vocabulary on have no words", "give pairs with `q` and `p`")
    return reading_plainly(made)


def sides(pairs: Iterable[Pair]) -> Iterator[str]:
    """Queries and passages as single texts."""
    return chain.from_iterable((pair.query, pair.passage) for pair in pairs)


def measure(tokenizer: Tokenizer, texts: Iterable[str]) -> Cost | None:
    """Tokens for each word, where words are what white space divides; None where there are none."""
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
    # with a space in front, a text's first word is the token it is elsewhere: queries are short
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options.size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[_PADDING], show_progress=False,
    )  # fmt: skip
    return made, trainer
