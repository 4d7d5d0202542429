"""Damages an index and a person's own files at random places, and says what longsearch makes of it. Run by hand.

    python -m tests.faults.rot --rounds 100 --seed 48 [--large]

Each round flips bytes, zeroes a page or cuts a file off: of the index (a page of each table and of each tree of FTS5 in
turn), of a segment, or of the basket, saved searches, history, names of folders and settings. Then it asks, has
`longsearch check --repair` mend it, and asks again. *same* is right, *told* is an error in a sentence.
`--large`: an index of a few hundred documents in several languages, not of twelve.
"""

import argparse
import contextlib
import io
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = 4096
QUERIES = ("honey bees swarm", "valve", "notice period", "the archive of records")

OTHERS = {
    "de": "Die Imkerin wartet, bis der Schwarm im Lindenbaum ruhig wird, und holt dann die Leiter. Kapitel",
    "fr": "Le gardien du phare note chaque matin le vent et la marée dans un grand cahier. Chapitre",
    "ru": "Пчёлы возвращаются в улей, когда над садом начинается дождь. Глава",
    "ja": "庭師は毎朝、りんごの木の根元に水をやります。章",
    "ar": "يسجل الحارس حالة البحر كل صباح في دفتر كبير. الفصل",
}
"""Sentences in other languages."""


def damaged(data: bytes, kind: str, at: int, chance: random.Random) -> bytes:
    """Return `data` with 1 to 16 flipped bytes, a page of zeros, or without its end, from the place `at`."""
    changed = bytearray(data)
    if kind == "flip":
        for place in range(at, min(at + chance.choice((1, 16)), len(data))):
            changed[place] ^= chance.randrange(1, 256)
    elif kind == "zero":
        first = at // PAGE * PAGE
        changed[first : first + PAGE] = bytes(len(changed[first : first + PAGE]))
    else:
        del changed[at:]
    return bytes(changed)


def outcome(ask: Callable[[], Any], *expected: Any) -> str:
    """Return whether what is asked is the same, told to be damaged, wrong in silence, or a traceback."""
    from longsearch.engine.errors import LongsearchError

    try:
        return "same" if ask() in expected else "WRONG"
    except LongsearchError:
        return "told"
    except Exception as error:
        return f"TRACEBACK {error!r:.70}"


def quietly(*arguments: str) -> int:
    """Run a command in this process, which has the model in its memory; return its exit code."""
    from longsearch.app.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main(arguments)


def main() -> None:
    """Do the rounds and print what happened, and how often."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=48)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config"}
        os.environ["LONGSEARCH_WIDTH"] = "1/8"
        _own_files(options.rounds, random.Random(options.seed))
        _index(Path(home), options.rounds, random.Random(options.seed), options.large)


def _index(home: Path, rounds: int, chance: random.Random, is_large: bool) -> None:
    import longsearch
    from longsearch.app.paths import index_path
    from longsearch.engine.store.segments import files, upkeep

    upkeep.LEAST_PASSAGES = 1  # so that so small an index has segments
    root = home / "root"
    shutil.copytree(Path(longsearch.__path__[0]) / "assets" / "samples", root)
    if is_large:
        _cut_up(root)
    assert quietly("index", str(root)) == 0
    path = index_path(root)
    pages, counts = _pages(path), Counter[tuple[str, str, str, str]]()
    kept = {file: file.read_bytes() for file in path.parent.glob(f"{path.name}*") if not file.name.endswith("-shm")}
    expected, read = _answers(root), _texts(root)
    segments = sorted(file for file in kept if file.name.count("-") >= 2)
    for number in range(rounds):
        files.mapped.cache_clear()
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
        for file, data in kept.items():
            file.write_bytes(data)
        kind, where = chance.choice(("flip", "zero", "cut")), [*pages, "segment"][number % (len(pages) + 1)]
        file = path if where in pages else chance.choice(segments)
        place = chance.choice(pages[where]) * PAGE if where in pages else 0
        at = min(place + chance.randrange(PAGE if where in pages else len(kept[file])), len(kept[file]) - 1)
        file.unlink()
        file.write_bytes(damaged(kept[file], kind, at, chance))
        first = outcome(lambda: _answers(root), expected)
        code = outcome(lambda: quietly("check", "--repair", str(root)), 0)
        after = outcome(lambda: _texts(root), read) if code == "same" else f"check: {code}"
        counts[where, kind, first, after] += 1
        print(f"{number:4} {where:28} {kind:5} at first: {first:6} after the repair: {after}", flush=True)
    _print_sums("index", counts)


def _cut_up(root: Path) -> None:
    """Add a document for each few paragraphs of the samples, and some in other languages."""
    for sample in sorted(root.iterdir()):
        paragraphs = sample.read_text().split("\n\n")
        for number in range(0, len(paragraphs), 3):
            part = "\n\n".join(paragraphs[number : number + 3])
            (root / f"{sample.stem} {number}.md").write_text(f"{part}\n\nPart {number} of {sample.stem}.\n")
    for language, text in OTHERS.items():
        for number in range(20):
            (root / f"{language} {number}.txt").write_text(f"{text} {number}. " * (number + 1))


def _print_sums(what: str, counts: Counter[tuple[str, str, str, str]]) -> None:
    sums = Counter[tuple[str, str, str]]()
    for (_, kind, first, after), n in counts.items():
        sums[kind, first, after] += n
    for (kind, first, after), n in sorted(sums.items()):
        print(f"{what}   {kind:5} {n:4}  at first: {first:6} after: {after}")


def _pages(path: Path) -> dict[str, list[int]]:
    """Return the pages of each table and index that hold anything, by its name."""
    import apsw

    data, found = path.read_bytes(), dict[str, list[int]]()
    for name, page in apsw.Connection(str(path)).execute("SELECT name, pageno - 1 FROM dbstat"):
        if any(data[page * PAGE : page * PAGE + PAGE - 8]):
            found.setdefault(name, []).append(page)
    return found


def _answers(root: Path) -> Any:
    """Return what an index answers by words and by meaning, and all of what it holds of the documents."""
    import longsearch
    from longsearch.app.paths import index_path
    from longsearch.engine.index.opening import open_index
    from longsearch.engine.store import vectors

    index = longsearch.open_index(root)
    found = [[(hit.path, round(hit.score, 3)) for hit in index.search(q, mode="words", k=9).hits] for q in QUERIES]
    with open_index(index_path(root)) as opened:
        ids = [row[0] for row in opened.db.execute("SELECT id FROM contents ORDER BY id")]
        held = {id_: vectors.of_passages(opened.db, id_) for id_ in ids}
        near = [
            sorted(id_ for id_, _ in opened.backend.nearest_passages(own[0], 5))
            for own in list(held.values())[:: max(1, len(held) // 12)]
            if len(own)
        ]
        states = opened.db.execute("SELECT content_id, state FROM resume_points ORDER BY 1").fetchall()
        excerpts = opened.db.execute("SELECT * FROM excerpt_vectors ORDER BY 1").fetchall()
    texts = [index.text(id_).text for id_ in held]
    return found, near, {id_: own.tobytes() for id_, own in held.items()}, states, excerpts, texts


def _texts(root: Path) -> Any:
    """Return what is found by words, and the texts of the documents."""
    import longsearch

    index = longsearch.open_index(root)
    hits = [hit for query in QUERIES for hit in index.search(query, mode="words", k=9).hits]
    return sorted({(hit.path, index.text(hit.document_id).text) for hit in hits})


def _own_files(rounds: int, chance: random.Random) -> None:
    from longsearch.app.folders.names import names_file, rename
    from longsearch.app.paths import config_path
    from longsearch.app.settings.checking import check
    from longsearch.app.user_data import user_file
    from longsearch.app.user_data.basket import Basket
    from longsearch.app.user_data.history import History
    from longsearch.app.user_data.saved import SavedSearch, SavedSearches
    from longsearch.app.user_data.settings_copies import note_settings, settings_file
    from longsearch.engine.types.results import SearchMode
    from tests.app.test_basket_command import a_passage

    for number in range(4):
        Basket().add(a_passage(number))
        History().add(f"query {number}", SearchMode.WORDS, "", "/papers")
        SavedSearches().save(SavedSearch(f"name {number}", f"query {number}"), ())
        rename(Path("/papers"), f"papers of {number}", ())
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text('theme = "textual-light"\nwidth = "1/2"\n')
    note_settings()
    settings = settings_file().path
    readers = {file.path: file for file in (Basket().file, History().file, SavedSearches().file, names_file())}
    allowed = {path: [file.read(), *map(file.read_version, file.versions())] for path, file in readers.items()}
    targets = [*readers, config_path()]
    folder = {file: file.read_bytes() for path in (*readers, settings) for file in path.parent.glob(f"{path.name}*")}
    written_ns = config_path().stat().st_mtime_ns
    whole, counts = {path: path.read_bytes() for path in targets}, Counter[tuple[str, str, str, str]]()
    for number in range(rounds):
        for file, data in {**folder, **whole}.items():
            file.write_bytes(data)
        kind, path = chance.choice(("flip", "zero", "cut")), targets[number % len(targets)]
        user_file.told.clear()
        path.write_bytes(damaged(whole[path], kind, chance.randrange(len(whole[path])), chance))
        if path in readers:
            first = outcome(readers[path].read, *allowed[path])
            first = "told, and its last version" if first == "same" and user_file.told else first
        else:
            if kind != "cut":  # what rots keeps its time; what loses its end has that of its last write
                os.utime(path, ns=(written_ns, written_ns))
            note_settings()
            first = outcome(lambda: bool(check()[1] or user_file.told), True)
        counts[path.name, kind, first, ""] += 1
    config_path().unlink()
    print("of the settings, `same` is told in a line")
    for (name, kind, first, _), n in sorted(counts.items()):
        print(f"{name:14} {kind:5} {n:4}  {first}")


if __name__ == "__main__":
    main()
