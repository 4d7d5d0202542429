"""How `longsearch compare` tells pairs of versions: `python tests/bench/comparing.py OLD NEW [OLD NEW …]`.

It is judged without its own alignment. *Missed*: words that still differ between the two after every passage that it
lists was taken out of both. *False*: passages that it calls new, gone or changed although the other document says them
word for word.
"""

import re
import sys
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

from longsearch.app.commands.text import read_file
from longsearch.app.evidence.versions import difference
from longsearch.engine.citing.comparing import Change, Kind


def words(text: str) -> list[str]:
    """Return the words of a text; print makes no difference, so a word broken at the end of a line is one."""
    return re.findall(r"\w+", re.sub(r"-\n", "", text).casefold())


def without(text: str, spans: list[tuple[int, int]]) -> list[str]:
    """Return the words of a text outside of these spans."""
    kept, place = [], 0
    for start, stop in sorted(spans):
        kept += words(text[place:start])
        place = max(place, stop)
    return kept + words(text[place:])


def judged(first: str, second: str, changes: list[Change]) -> tuple[int, int]:
    """Return (words that differ and are in no listed passage, listed passages that are false)."""
    left = without(first, [one.first for one in changes if one.first])
    right = without(second, [one.second for one in changes if one.second])
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    n_missed = len(left) + len(right) - 2 * sum(block.size for block in blocks)
    whole = [f" {' '.join(words(text))} " for text in (first, second)]
    n_false = 0
    for one in changes:
        texts = [
            f" {' '.join(words(text[slice(*span)]))} "
            for text, span in ((first, one.first), (second, one.second))
            if span
        ]
        other = whole[1] if one.kind is Kind.GONE else whole[0]
        n_false += (
            texts[0] == texts[-1] if one.kind is Kind.CHANGED else one.kind is not Kind.MOVED and texts[0] in other
        )
    return n_missed, n_false


def main(files: list[str]) -> None:
    """Print a line for each pair."""
    for one, other in zip(files[::2], files[1::2], strict=True):
        first, second = (read_file(Path(file).resolve(), fresh=True).document for file in (one, other))
        changes, n_same = difference(first, second)
        counts = Counter(change.kind.value for change in changes)
        n_missed, n_false = judged(first.text, second.text, changes)
        print(f"{one} {other}: {n_same} same, {dict(counts)}; missed words {n_missed}, false passages {n_false}")


if __name__ == "__main__":
    main(sys.argv[1:])
