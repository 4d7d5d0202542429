"""Cuts a text into tokens, passages and excerpts.

Needs only a model's tokenizer and configuration. Loads no weights and does not import torch, so a document can be
stored, and searched by words, before the model is in memory.
"""

from pathlib import Path
from typing import Self

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.tokens import TextTokenizer, TokenizedText
from longsearch.engine.models.config import ModelConfig, read_config
from longsearch.engine.models.hub import ModelFiles, locate
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.passages import cut_excerpts, cut_passages
from longsearch.engine.types.documents import Passage


class PassageCutter:
    """Cuts texts for one model. Safe to use from several threads at once."""

    def __init__(self, tokenizer: TextTokenizer, has_excerpts: bool) -> None:
        """`has_excerpts`: whether the model's readout gives excerpts vectors of their own."""
        self.tokenizer = tokenizer
        self._has_excerpts = has_excerpts

    @classmethod
    def open(cls, model: str | Path = "bundled") -> Self:
        """Open the tokenizer of a model, named as for `Encoder.open`. Takes 0.1 s. Raises ModelError."""
        files = locate(model)
        return cls.of(files, *read_config(files.folder / "config.json"))

    @classmethod
    def of(cls, files: ModelFiles, config: ModelConfig, readout: ReadoutConfig) -> Self:
        """Open the tokenizer in `files`. Raises ModelError if it cannot be read or does not fit the configuration."""
        tokenizer = TextTokenizer.load(files.tokenizer_folder)
        if tokenizer.vocabulary_size > config.vocab_size:
            hint = "they are not from the same checkpoint"
            raise ModelError(f"{files.folder}: the tokenizer has more tokens than the model", hint)
        if readout.readout != "mean" and tokenizer.eos_id is None:
            reason = f"the tokenizer names no end-of-sequence token, which the {readout.readout} readout needs"
            raise ModelError(f"{files.folder}: {reason}")
        return cls(tokenizer, has_excerpts=readout.readout == "mean")

    def tokenize(self, text: str) -> TokenizedText:
        """Return the tokens of a text."""
        return self.tokenizer.tokenize(text)

    def split(self, text: str) -> tuple[TokenizedText, list[Passage]]:
        """Return the tokens and the passages of a text."""
        tokens = self.tokenize(text)
        return tokens, cut_passages(text, tokens.starts)

    def excerpt_starts(self, passage: str) -> list[int]:
        """Return where the excerpts of a passage's text begin, in characters: the first at 0.

        A readout without excerpts gets one excerpt, the whole passage.
        """
        return [start for start, _ in cut_excerpts(passage)] or [0] if self._has_excerpts else [0]
