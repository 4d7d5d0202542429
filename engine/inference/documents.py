"""What the encoders with and without torch do alike with documents. Loads no torch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from longsearch.engine.inference.cutter import PassageCutter
from longsearch.engine.inference.tokens import TextTokenizer, TokenizedText
from longsearch.engine.models.readout_config import ReadoutConfig
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.parts import CollectedParts, DocumentEmbedding, EmbeddedPart
from longsearch.engine.types.documents import Passage

K = TypeVar("K")


class DocumentReader(ABC):
    """A loaded model that reads documents."""

    cutter: PassageCutter
    readout: ReadoutConfig
    width: float
    """The fraction of the heads that is run; in the narrowest layer, if layers differ."""

    @abstractmethod
    def stream(
        self, tokens: TokenizedText, passages: list[Passage], saved_state: bytes | None = None
    ) -> Iterator[EmbeddedPart]:
        """Yield the parts of one pass over a document, from `saved_state` on if there is one.

        `tokens` and `passages` come from `split`. The last part holds the vector of the whole document. Raises
        ValueError if there are no tokens, ModelError if the saved state is damaged or belongs to another document.
        """

    @abstractmethod
    def stream_many(
        self, documents: Iterable[tuple[K, TokenizedText, list[Passage], bytes | None]]
    ) -> Iterator[tuple[K, EmbeddedPart]]:
        """Yield (key, part) of passes over many documents at once, given as (key, tokens, passages, saved_state).

        Documents may finish in another order. Memory depends neither on their number nor on their length. Raises the
        same errors as `stream`, when it takes the document.
        """

    @property
    def tokenizer(self) -> TextTokenizer:
        """The model's tokenizer."""
        return self.cutter.tokenizer

    @property
    def excerpt_weight(self) -> float:
        """As in `ReadoutConfig`."""
        return self.readout.excerpt_weight

    def ensure_loaded(self) -> None:  # noqa: B027 - nobody overrides it
        """Do nothing: the weights are in memory."""

    def width_for(self, n_tokens_waiting: Callable[[], int]) -> float:
        """Return the width for documents that begin now: always this encoder's. The app has a model that chooses."""
        del n_tokens_waiting
        return self.width

    def tokenize(self, text: str) -> TokenizedText:
        """As `PassageCutter.tokenize`."""
        return self.cutter.tokenize(text)

    def split(self, text: str) -> tuple[TokenizedText, list[Passage]]:
        """As `PassageCutter.split`."""
        return self.cutter.split(text)

    def encode_document(self, text: str) -> DocumentEmbedding:
        """Read a whole document in one streaming pass. Raises ValueError for a text without tokens."""
        tokens, passages = self.split(text)
        collected = CollectedParts(passages)
        for part in self.stream(tokens, passages):
            collected.add(part)
        return collected.embedding(part)

    def encode_documents(self, texts: Iterable[tuple[K, str]]) -> Iterator[tuple[K, DocumentEmbedding]]:
        """Read many texts in batches; yield (key, embedding) of each in the order in which they finish."""
        collected: dict[K, CollectedParts] = {}

        def split() -> Iterator[tuple[K, TokenizedText, list[Passage], None]]:
            for key, text in texts:
                tokens, passages = self.split(text)
                collected[key] = CollectedParts(passages)
                yield key, tokens, passages, None

        for key, part in self.stream_many(split()):
            collected[key].add(part)
            if part.is_last:
                yield key, collected.pop(key).embedding(part)

    def borders(self, tokens: TokenizedText, passages: list[Passage], n_instruction: int = 0) -> Borders:
        """Return where passages and excerpts begin and end, in tokens. Raises ValueError if there are no tokens."""
        if not len(tokens):
            raise ValueError("a document without tokens has no vector")
        spans = [(passage.start, passage.stop) for passage in passages]
        excerpts = [self.cutter.excerpt_starts(tokens.text[start:stop]) for start, stop in spans]
        return Borders.from_characters(tokens.starts, spans, excerpts, n_instruction)
