"""An encoder whose documents are read by the workers of a pool.

It keeps a bounded number of documents, and of their bytes, under way, and a worker gets the next packet before it has
read the last one. The rest of a lost worker's packet is read by others, from the last state that came back. Each part
of a document is yielded once: what a lost worker had read since its last answer is read again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from longsearch.app.cluster.pool import CALLS_PER_WORKER, MAX_LOSSES, Pool, WorkerLostError, too_many_losses
from longsearch.app.cluster.work import Extracted, RemotePart, Stretch, TextTokens, UnknownPacketError, Unread
from longsearch.engine.types.documents import Passage
from longsearch.indexer.encoders import DocumentEncoder, Part
from longsearch.indexer.extract.assembly import Extraction

PACKET_DOCUMENTS = 32
"""As many as a GPU reads at once."""
PACKET_TOKENS = 65_536
"""Documents are put into a packet until it has so many: some seconds of work on a processor."""
FIRST_TOKENS = 4_096
"""The first packets have so few, so that all workers soon have one; each next round of packets has twice as many."""
MAX_BYTES = 256 * 2**20
"""Text that is under way. A document larger than that is under way alone."""

Given = tuple[int, Any, list[Passage], bytes | None]
"""(key, tokens, passages, saved state), as `stream_many` takes documents."""


class RemoteEncoder:
    """An `indexer.encoders.DocumentEncoder`. `local` cuts texts and checks states; its weights are seldom loaded."""

    def __init__(self, local: DocumentEncoder, pool: Pool, width: float) -> None:
        """`width`: that at which documents are read which have not begun."""
        self._local = local
        self._pool = pool
        self._width = width
        self._expected: dict[str, tuple[TextTokens, list[Passage]]] = {}
        self._numbers = count()

    @property
    def fingerprint(self) -> str:
        """See `DocumentEncoder`."""
        return self._local.fingerprint

    @property
    def dim(self) -> int:
        """See `DocumentEncoder`."""
        return self._local.dim

    @property
    def excerpt_weight(self) -> float:
        """See `DocumentEncoder`."""
        return self._local.excerpt_weight

    def ensure_loaded(self) -> None:
        """Do nothing: a pool is given only once a worker has loaded the model."""

    def expect(self, found: Extracted) -> None:
        """Keep the passages that a worker has cut of a text until `split` is asked for them, or the next text comes."""
        self._expected.clear()
        if found.passages is not None and isinstance(found.result, Extraction):
            text = found.result.document.text
            self._expected[text] = TextTokens(text, found.n_tokens), found.passages

    def tokenize(self, text: str) -> TextTokens:
        """Return the text: workers tokenise it."""
        return TextTokens(text, 0)

    def split(self, text: str) -> tuple[TextTokens, list[Passage]]:
        """Return the text and its passages."""
        if text in self._expected:
            return self._expected.pop(text)
        tokens, passages = self._local.split(text)
        return TextTokens(text, len(tokens)), passages

    def width_for(self, n_tokens_waiting: Callable[[], int]) -> float:
        """Return the width of documents that begin now."""
        del n_tokens_waiting
        return self._width

    def at(self, width: float) -> "RemoteReader":
        """Return the model at this width."""
        return RemoteReader(self._local, self._pool, width, self._numbers)


class RemoteReader:
    """An `indexer.encoders.Reader`."""

    def __init__(self, local: DocumentEncoder, pool: Pool, width: float, numbers: Iterator[int]) -> None:
        self._local, self._pool, self._width, self._numbers = local, pool, width, numbers

    @property
    def batch_below_tokens(self) -> int:
        """All documents go together: workers choose how to read them."""
        return 2**62

    def can_resume(self, tokens: TextTokens, passages: list[Passage], saved_state: bytes) -> bool:
        """See `Reader`. Loads the weights here: only the rare document has a state from another run."""
        return self._local.at(self._width).can_resume(self._local.tokenize(tokens.text), passages, saved_state)

    def stream(self, tokens: TextTokens, passages: list[Passage], saved_state: bytes | None = None) -> Iterator[Part]:
        """See `Reader`."""
        return (part for _, part in self.stream_many([(0, tokens, passages, saved_state)]))

    def stream_many(self, documents: Iterable[Given]) -> Iterator[tuple[int, Part]]:
        """See `Reader`. Raises LongsearchError if a document loses its workers again and again."""
        return _Reading(self._pool, self._width, self._numbers).read(iter(documents))


@dataclass(slots=True, eq=False)
class _Packet:
    number: int
    documents: dict[int, Unread]
    """Those that are not read to their end."""
    n_bytes: int
    n_losses: int = 0
    """Workers that were lost without any progress."""

    def note(self, key: int, part: RemotePart) -> None:
        """Remember where a document stands."""
        if part.is_last:
            del self.documents[key]
        else:
            document = self.documents[key]
            self.documents[key] = Unread(key, document.text, document.passages, part.state)


class _Reading:
    """One call of `stream_many`."""

    def __init__(self, pool: Pool, width: float, numbers: Iterator[int]) -> None:
        self._pool, self._width, self._numbers = pool, width, numbers
        self._waiting: deque[_Packet] = deque()
        """Packets that lost their worker, before those that have not begun."""
        self._n_bytes = 0
        self._under_way: set[_Packet] = set()

    def read(self, documents: Iterator[Given]) -> Iterator[tuple[int, Part]]:
        """Yield the parts of all documents as they come back."""
        packets = _packets(documents, self._numbers, self._pool.n_wanted)
        ahead = next(packets, None)
        try:
            while True:
                while ahead is not None and self._has_room(ahead):
                    self._waiting.append(ahead)
                    self._under_way.add(ahead)
                    self._n_bytes += ahead.n_bytes
                    ahead = next(packets, None)
                while self._waiting and (worker := self._pool.free()) is not None:
                    self._begin(worker, self._waiting.popleft())
                if not self._under_way:
                    return
                yield from self._take()
        finally:
            self._pool.forget_calls()

    def _has_room(self, packet: _Packet) -> bool:
        is_alone = not self._under_way
        room = len(self._under_way) < CALLS_PER_WORKER * self._pool.n_wanted
        return is_alone or (room and self._n_bytes + packet.n_bytes <= MAX_BYTES)

    def _begin(self, worker: int, packet: _Packet) -> None:
        self._pool.call(worker, packet, "begin", packet.number, list(packet.documents.values()), self._width)

    def _take(self) -> Iterator[tuple[int, Part]]:
        """Wait for a stretch, and yield its parts."""
        outcome = self._pool.outcome()
        if outcome is None:
            return
        packet = outcome.ticket
        assert isinstance(packet, _Packet)  # noqa: S101 - no other calls are under way
        if isinstance(outcome.result, WorkerLostError):
            self._again(packet)
        elif isinstance(outcome.result, UnknownPacketError):
            self._begin(outcome.worker, packet)
        else:
            stretch: Stretch = outcome.result
            packet.n_losses = 0
            for key, part in stretch.parts:
                packet.note(key, part)
            self._go_on(outcome.worker, packet, stretch)
            yield from stretch.parts

    def _go_on(self, worker: int, packet: _Packet, stretch: Stretch) -> None:
        """Have the same worker read on, or one that has nothing to do."""
        if stretch.is_done:
            self._drop(packet)
            return
        idle = self._pool.free()
        if idle not in (None, worker) and not self._pool.n_calls(idle or 0) and self._pool.n_calls(worker):
            self._begin(idle or 0, packet)
        else:
            self._pool.call(worker, packet, "read_on", packet.number)

    def _again(self, packet: _Packet) -> None:
        """Give the rest of a lost worker's packet to others, one by one: one document may be the cause."""
        self._drop(packet)
        if packet.n_losses + 1 >= MAX_LOSSES:
            raise too_many_losses(f"the document that begins {next(iter(packet.documents.values())).text[:40]!r}")
        for document in reversed(packet.documents.values()):
            one = _Packet(next(self._numbers), {document.key: document}, len(document.text), packet.n_losses + 1)
            self._waiting.appendleft(one)
            self._under_way.add(one)
            self._n_bytes += one.n_bytes

    def _drop(self, packet: _Packet) -> None:
        self._under_way.remove(packet)
        self._n_bytes -= packet.n_bytes


def _packets(documents: Iterator[Given], numbers: Iterator[int], n_workers: int) -> Iterator[_Packet]:
    """Put documents into packets of at most `PACKET_TOKENS`; a longer document has one of its own."""
    packet, n_tokens, n_made = _Packet(next(numbers), {}, 0), 0, 0
    for key, tokens, passages, state in documents:
        unread = Unread(key, tokens.text, passages, state)
        most_tokens = min(PACKET_TOKENS, FIRST_TOKENS << min(n_made // n_workers, 16))
        is_full = n_tokens + unread.n_tokens > most_tokens or len(packet.documents) == PACKET_DOCUMENTS
        if packet.documents and (is_full or packet.n_bytes + len(tokens.text) > MAX_BYTES):
            yield packet
            packet, n_tokens, n_made = _Packet(next(numbers), {}, 0), 0, n_made + 1
        packet.documents[key] = unread
        packet.n_bytes += len(tokens.text)
        n_tokens += unread.n_tokens
    if packet.documents:
        yield packet
