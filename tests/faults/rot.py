"""Damages an index and a basket at random places, and says what longsearch makes of it. Run by hand: it is no test.

    python -m tests.faults.rot --rounds 100

Each round flips bytes, zeroes a page or cuts the file off; then it asks, indexes again, and asks again.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

PAGE = 4096
QUERIES = ("honey bees swarm", "valve", "notice period", "the archive of records")


def damaged(data: bytes, kind: str, chance: random.Random) -> bytes:
    """Return `data` with flipped bytes, a page of zeros, or without its end."""
    pages = range(0, len(data), PAGE)  # much of a small index is room for vectors to come
    used = [first for first in pages if any(data[first : first + PAGE - 8])]
    changed, at = bytearray(data), min(chance.choice(used) + chance.randrange(PAGE), len(data) - 1)
    if kind == "flip":
        for place in range(at, min(at + 16, len(data))):
            changed[place] ^= chance.randrange(1, 256)
    elif kind == "zero":
        first = at // PAGE * PAGE
        changed[first : first + PAGE] = bytes(len(changed[first : first + PAGE]))
    else:
        del changed[at:]
    return bytes(changed)


def outcome(ask: Callable[[], Any], expected: Any) -> str:
    """Return whether what is asked is the same, told to be damaged, wrong in silence, or a traceback."""
    from longsearch.engine.errors import LongsearchError

    try:
        return "same" if ask() == expected else "WRONG"
    except LongsearchError:
        return "told"
    except Exception as error:
        return f"TRACEBACK {error!r:.60}"


def main() -> None:
    """Do the rounds and print what happened, and how often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=48)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"PYTHONPATH": str(Path(__file__).parents[2])}
        os.environ |= {"HOME": home, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
        _index(Path(home), options.rounds, random.Random(options.seed))
        _basket(options.rounds, random.Random(options.seed))


def _index(home: Path, rounds: int, chance: random.Random) -> None:
    import longsearch
    from longsearch.app.paths import index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import vectors

    root = home / "root"
    shutil.copytree(Path(longsearch.__path__[0]) / "assets" / "samples", root)
    run = partial(subprocess.run, (sys.executable, "-m", "longsearch.app.cli", "index", str(root)), capture_output=True)
    run(check=True)
    path, counts = index_path(root), Counter[tuple[str, str, str]]()
    kept = {file: file.read_bytes() for file in path.parent.glob(f"{path.name}*")}

    def answers() -> Any:
        index = longsearch.open_index(root)
        found = [[(hit.path, round(hit.score, 4)) for hit in index.search(q, mode="words", k=9).hits] for q in QUERIES]
        with open_index(path) as opened:
            held = [vectors.of_passages(opened.db, document_id).tobytes() for document_id in range(1, 13)]
        return found, held, [index.text(document_id).text for document_id in range(1, 13)]

    def texts() -> Any:
        index = longsearch.open_index(root)
        hits = [hit for query in QUERIES for hit in index.search(query, mode="words", k=9).hits]
        return sorted({(hit.path, index.text(hit.document_id).text) for hit in hits})

    expected, read = answers(), texts()
    for _ in range(rounds):
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
        for file, data in kept.items():
            file.write_bytes(data)
        kind = chance.choice(("flip", "zero", "cut"))
        path.write_bytes(damaged(kept[path], kind, chance))
        first = outcome(answers, expected)
        indexed = run(text=True)
        if "Traceback" in indexed.stderr:
            first = "TRACEBACK of index"
        counts[kind, first, outcome(texts, read)] += 1
    for (kind, first, after), n in sorted(counts.items()):
        print(f"index   {kind:5} {n:4}  at first: {first:6} after longsearch index: {after}")


def _basket(rounds: int, chance: random.Random) -> None:
    from longsearch.app.user_data.basket import Basket
    from tests.app.test_basket_command import a_passage

    for number in range(4):
        Basket().add(a_passage(number))
    path, counts = Basket().file.path, Counter[tuple[str, str]]()
    whole, expected = path.read_bytes(), Basket().content().passages
    versions = {file: file.read_bytes() for file in Basket().file.versions()}
    for _ in range(rounds):
        for file, data in {path: whole, **versions}.items():
            file.write_bytes(data)
        kind = chance.choice(("flip", "zero", "cut"))
        path.write_bytes(damaged(whole, kind, chance))
        found = outcome(lambda: Basket().content().passages in (expected, expected[:3]), True)
        counts[kind, "same, or its last version" if found == "same" else found] += 1
    for (kind, found), n in sorted(counts.items()):
        print(f"basket  {kind:5} {n:4}  {found}")


if __name__ == "__main__":
    main()
