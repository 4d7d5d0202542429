"""How many quotations `longsearch where` finds, by what was done to them, and how many it finds that nobody said.

    python tests/bench/quotations.py DIR [--quotations 300]

DIR is a set in BEIR format. Its documents are indexed by words alone, in a temporary folder. A quotation is 8 to 40
consecutive words of a document. Quotations of documents that were left out of the index must not be found.
"""

import argparse
import hashlib
import json
import random
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from longsearch.app.models.encoders import open_cutter
from longsearch.engine.index.index import Index
from longsearch.engine.index.opening import open_index
from longsearch.engine.search.quotations.quotation import find_quotation
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText

_SCANNED = (("rn", "m"), ("m", "rn"), ("l", "1"), ("h", "b"), ("e", "c"), ("o", "0"), ("i", "l"), ("cl", "d"))


def as_it_is(quote: str, chosen: random.Random) -> str:
    """Change nothing."""
    return quote


def in_print(quote: str, chosen: random.Random) -> str:
    """Upper case, a ligature, curly quotation marks, a word divided at a line's end."""
    words = quote.replace("fi", "ﬁ").replace("'", "’").split()
    at = max(range(len(words)), key=lambda number: len(words[number]))
    middle = len(words[at]) // 2
    if words[at].isalpha() and middle:
        words[at] = f"{words[at][:middle]}-\n{words[at][middle:]}"
    return "“" + " ".join(words).capitalize() + "”"


def scanned(quote: str, chosen: random.Random, share: float = 0.05) -> str:
    """Read one letter in twenty wrongly."""
    out, place = [], 0
    while place < len(quote):
        pairs = [pair for pair in _SCANNED if quote.startswith(pair[0], place)]
        if pairs and chosen.random() < share * 2:  # about half of the letters have a likeness
            old, new = chosen.choice(pairs)
            out.append(new)
            place += len(old)
        else:
            out.append(quote[place])
            place += 1
    return "".join(out)


def changed(quote: str, chosen: random.Random) -> str:
    """Leave out one word in ten, and replace one in ten by another of the quotation's."""
    words = quote.split()
    kept = [word for word in words if chosen.random() >= 0.1]
    return " ".join(chosen.choice(words) if chosen.random() < 0.1 else word for word in kept)


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (as_it_is, in_print, scanned, changed)


def main() -> None:
    """Print a table: what was done, how many were found where they stand, milliseconds of processor time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--quotations", type=int, default=300)
    options = parser.parse_args()
    with (options.set / "corpus.jsonl").open() as file:
        texts = [json.loads(line)["text"] for line in file]
    chosen = random.Random(0)
    chosen.shuffle(texts)
    outside, inside = texts[: len(texts) // 10], texts[len(texts) // 10 :]
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder, "x.sqlite"), root=Path("/set")) as store,
        ExitStack() as stack,
    ):
        n_passages = _index(store, inside)
        index = stack.enter_context(open_index(store.path))
        print(f"{len(inside):,} documents, {n_passages:,} passages, {options.quotations} quotations each")
        quotes = [_quote(chosen.choice(inside), chosen) for _ in range(options.quotations)]
        for change in CHANGES:
            _measure(index, change.__name__, [(change(quote, chosen), quote) for quote in quotes])
        nobody = [_quote(chosen.choice(outside), chosen) for _ in range(options.quotations)]
        said = " ".join(_plain(text) for text in inside)
        _measure(index, "said by nobody", [(quote, "") for quote in nobody if _plain(quote) not in said])


def _index(store: Store, texts: list[str]) -> int:
    cutter, n_passages = open_cutter(), 0
    for number, text in enumerate(texts):
        _, passages = cutter.split(text)
        n_passages += len(passages)
        stamp = FileStamp(f"{number}.txt", len(text), 1, number + 1)
        store.add_document(stamp, hashlib.sha256(text.encode()).digest(), DocumentText(text, (), ""), passages)
    return n_passages


def _quote(text: str, chosen: random.Random) -> str:
    words = text.split()
    n = min(chosen.randint(8, 40), len(words))
    at = chosen.randrange(len(words) - n + 1)
    return " ".join(words[at : at + n])


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold())


def _measure(index: Index, name: str, asked: list[tuple[str, str]]) -> None:
    n_found, times = 0, []
    for quote, true in asked:
        began = time.process_time()
        found = find_quotation(index, quote)
        times.append((time.process_time() - began) * 1000)
        if not true:
            n_found += bool(found)
        elif found:
            words, place = set(_plain(true).split()), set(_plain(found[0].text).split())
            n_found += len(words & place) >= len(words) / 2
    times.sort()
    print(
        f"{name:15} found {n_found / len(asked):6.1%}   p50 {times[len(times) // 2]:6.1f} ms"
        f"   p95 {times[len(times) * 95 // 100]:6.1f} ms"
    )


if __name__ == "__main__":
    main()
