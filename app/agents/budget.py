"""Keeps an answer within a number of tokens, and says where the next one goes on.

An agent's tokenizer is not known here. Three bytes of UTF-8 count as a token: English has four to five, so an answer is
rather shorter than its budget than longer.
"""

import base64
import hashlib
import json
from typing import Any

from longsearch.engine.errors import LongsearchError

BYTES_PER_TOKEN = 3
_LEAST_CUT = 0.8  # a text ends at white space in its last fifth, if there is any


def n_tokens(value: Any) -> int:
    """Return about how many tokens a text takes, or anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def fitting(text: str, max_tokens: int) -> str:
    """Return the beginning of `text` that takes at most `max_tokens`; it ends at white space where it can."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= max_tokens * BYTES_PER_TOKEN:
        return text
    cut = text[: len(raw[: max_tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore"))]
    last = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[: last + 1] if last >= len(cut) * _LEAST_CUT else cut


def cursor(of: str, *at: int) -> str:
    """Return an opaque text that says where the answer to the question `of` goes on."""
    return base64.urlsafe_b64encode(json.dumps([_digest(of), *at]).encode()).decode().rstrip("=")


def place_of(text: str, of: str, n: int) -> tuple[int, ...]:
    """Return the `n` numbers that `cursor` was given. Raises LongsearchError if it was made for another question."""
    try:
        kept = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, list) or len(kept) != n + 1 or not all(type(at) is int and at >= 0 for at in kept[1:]):
        raise LongsearchError("this is no cursor", "give back next_cursor as the last answer had it, or leave it out")
    if kept[0] != _digest(of):
        hint = "ask again without a cursor"
        raise LongsearchError("the cursor belongs to another question, or the document has changed since", hint)
    return tuple(kept[1:])


def _digest(of: str) -> str:
    return hashlib.blake2b(of.encode("utf-8", "replace"), digest_size=6).hexdigest()
