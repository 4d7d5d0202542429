"""How `longsearch verify` judges quotations of real papers whose changes are known: false alarms and misses.

    python tests/bench/verifying.py DIR [--quotations 200] [--show]

DIR holds PDFs. Nine of ten are indexed by words alone, in a temporary folder. A quotation is 8 to 40 words of one, as a
person would type it: verbatim, with one word changed, joined over the end of a page, with an ellipsis, cited as another
paper's, or from a paper that was left out of the index.
"""

import argparse
import hashlib
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from longsearch.app.evidence.verifying import verify
from longsearch.app.models.encoders import open_cutter
from longsearch.app.models.query_vectors import QueryVector
from longsearch.app.paths import index_path
from longsearch.app.search.scope import Scope
from longsearch.engine.citing.drafts import quotations_in
from longsearch.engine.errors import LongsearchError
from longsearch.engine.store.records import FileStamp
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText
from longsearch.indexer.extract.reader import ExtractorProcess

_NOTE = re.compile(r"\n\s*(?:\d{1,2}|[*†‡§∗])\s?\D[^\n]*(?:\n[^\n]+)*\s*\Z")


@dataclass(frozen=True, slots=True)
class Paper:
    """An indexed paper."""

    name: str
    document: DocumentText

    def pages(self) -> list[str]:
        """The texts of its pages."""
        starts = [*self.document.page_starts, len(self.document.text)]
        return [self.document.text[a:b] for a, b in pairwise(starts)]


def typed(text: str) -> list[str]:
    """The words as a person types them: without the hyphens of line ends."""
    return re.sub(r"(?<=\w)[-\u00ad\u2010\ufffe]\s*\n\s*(?=[a-z])", "", text).split()


def some(paper: Paper, chosen: random.Random) -> list[str]:
    """Take 8 to 40 words of a page, mostly prose."""
    while True:
        words = typed(chosen.choice(paper.pages()))
        n = chosen.randint(8, 40)
        at = chosen.randrange(max(1, len(words) - n))
        found = words[at : at + n]
        is_prose = sum(word.strip(".,;:()").isalpha() for word in found) > 0.85 * len(found)
        if len(found) == n and is_prose and not re.search(r"[\"“”„«»‘’'\[\]…{}]|\.\s?\.", " ".join(found)):
            return found


def verbatim(paper: Paper, chosen: random.Random) -> str:
    """Change nothing."""
    return " ".join(some(paper, chosen))


def one_word(paper: Paper, chosen: random.Random) -> str:
    """Put another word of the paper in the place of one."""
    words = some(paper, chosen)
    at = chosen.choice([place for place, word in enumerate(words) if word.isalpha()])
    others = [word for word in some(paper, chosen) if word.isalpha() and word.casefold() != words[at].casefold()]
    return " ".join([*words[:at], chosen.choice(others), *words[at + 1 :]])


def over_pages(paper: Paper, chosen: random.Random) -> str:
    """Join the end of a page with the beginning of the next, without the footnotes between them; "" if none is so."""
    pages = paper.pages()
    whole = [
        (typed(_NOTE.sub("", left)), typed(right))
        for left, right in pairwise(pages)
        if re.search(r"[a-z,-]\s*\Z", _NOTE.sub("", left)) and re.match(r"\s*[a-z]", right)
    ]
    for left, right in chosen.sample(whole, len(whole)):
        n, m = chosen.randint(5, 15), chosen.randint(5, 15)
        if left[-1:] and left[-1].endswith("-"):
            left, right = left[:-1], [left[-1][:-1] + right[0], *right[1:]]
        found = " ".join([*left[-n:], *right[:m]])
        if len(left) > n and len(right) > m and not re.search(r"[\"“”„«»‘’'\[\]…{}]|\.\s?\.|\d", found):
            return found
    return ""


def ellipsis(paper: Paper, chosen: random.Random) -> str:
    """Leave some words out in the middle, and say so."""
    words = some(paper, chosen)
    while len(words) < 14:
        words = some(paper, chosen)
    at = chosen.randint(4, len(words) - 8)
    return " ".join([*words[:at], chosen.choice(["…", "[...]", "[…]", "(...)", "..."]), *words[at + 3 :]])


KINDS: tuple[tuple[Callable[[Paper, random.Random], str], str], ...] = (
    (verbatim, "verbatim"),
    (one_word, "changed"),
    (over_pages, "verbatim"),
    (ellipsis, "verbatim"),
)


def main() -> None:
    """Print a table: kind, what was said of it, and the quotations that were told wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quotations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the quotations that were told wrongly")
    options = parser.parse_args()
    papers = [one for one in map(_read, sorted(options.folder.glob("*.pdf"))) if one]
    chosen = random.Random(options.seed)
    chosen.shuffle(papers)
    outside, inside = papers[: len(papers) // 10], papers[len(papers) // 10 :]
    with tempfile.TemporaryDirectory() as home:
        os.environ["LONGSEARCH_HOME"] = os.environ["XDG_DATA_HOME"] = home
        root = Path(home, "papers")
        root.mkdir()
        _index(root, inside)
        print(f"{len(inside)} papers, {sum(len(one.document.page_starts) for one in inside):,} pages")
        _measure(Scope.of(root), _drawn(inside, outside, options.quotations, chosen), options.show)


def _drawn(inside: list[Paper], outside: list[Paper], n: int, chosen: random.Random) -> list[tuple[str, str, str, str]]:
    """Draw (kind, what is right, quotation, file that is cited)."""
    found: list[tuple[str, str, str, str]] = []
    kinds = [*KINDS, (verbatim, "elsewhere"), (verbatim, "nowhere")]
    while len(found) < n:
        make, right = kinds[len(found) % len(kinds)]
        paper = chosen.choice(outside if right == "nowhere" else inside)
        cited = chosen.choice([one for one in inside if one is not paper]) if right == "elsewhere" else paper
        if said := make(paper, chosen):
            name = {"elsewhere": "other source", "nowhere": "invented"}.get(right, make.__name__)
            found.append((name, right, said, "" if right == "nowhere" else cited.name))
    return found


def _measure(scope: Scope, drawn: list[tuple[str, str, str, str]], show: bool) -> None:
    def no_vector(text: str, instruction: str | None) -> QueryVector:
        raise LongsearchError("words alone")

    told: Counter[tuple[str, str]] = Counter()
    wrong, times = [], []
    for kind, right, said, cited in drawn:
        (quoted,) = quotations_in(f"“{said}” [it](<papers/{cited}>)" if cited else f"“{said}”")
        began = time.process_time()
        (verdict,) = verify(scope, [quoted], no_vector, Path(scope.folders[0].root).parent / "draft.md")
        times.append((time.process_time() - began) * 1000)
        told[kind, verdict.status.value] += 1
        if verdict.status.value != right:
            wrong.append((kind, said, cited, verdict))
    for kind, right in dict.fromkeys((kind, right) for kind, right, _, _ in drawn):
        says = ", ".join(f"{n} {status}" for (name, status), n in told.items() if name == kind)
        print(f"{kind:13} right: {right:9} told: {says}")
    times.sort()
    print(f"p50 {times[len(times) // 2]:.0f} ms, p95 {times[len(times) * 95 // 100]:.0f} ms of processor time")
    for kind, said, cited, verdict in wrong if show else ():
        print(f"\n{kind} ({cited}) told {verdict.status}\n  draft: {said}")
        print(f"  says:  {' '.join(verdict.place.text.split()) if verdict.place else None}\n  {verdict.differences}")


def _read(path: Path) -> Paper | None:
    try:
        with ExtractorProcess() as extractor:
            return Paper(path.name, extractor.extract(path).document)
    except LongsearchError:
        return None


def _index(root: Path, papers: list[Paper]) -> None:
    cutter = open_cutter()
    with Store.open(index_path(root), root=root) as store:
        for number, paper in enumerate(papers):
            (root / paper.name).touch()
            _, passages = cutter.split(paper.document.text)
            stamp = FileStamp(paper.name, len(paper.document.text), 1, number + 1)
            store.add_document(stamp, hashlib.sha256(paper.name.encode()).digest(), paper.document, passages)


if __name__ == "__main__":
    main()
