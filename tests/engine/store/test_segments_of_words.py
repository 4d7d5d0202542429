"""Segments of words rank and count as FTS5 does, to the last bit, whatever changed since they were written."""

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import apsw.fts5
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longsearch.engine.index import fts5_words, segment_words
from longsearch.engine.index.bm25 import pooled
from longsearch.engine.index.lookup import Lookup, lookup
from longsearch.engine.index.sqlite import SqliteBackend
from longsearch.engine.languages import document_words
from longsearch.engine.query_language.query import parse
from longsearch.engine.store import keywords, lifecycle, manifest
from longsearch.engine.store.documents import count as n_documents
from longsearch.engine.store.documents import documents_of
from longsearch.engine.store.documents import lengths as lengths_by_sql
from longsearch.engine.store.languages import IndexLanguages
from longsearch.engine.store.manifest import Kind
from longsearch.engine.store.segments import files, postings, term_counts, upkeep, word_parts, word_positions
from longsearch.engine.store.segments.candidate_filter import CandidateFilter
from longsearch.engine.store.segments.files import Segments
from longsearch.engine.store.store import Store
from longsearch.engine.types.documents import DocumentText, Passage
from tests.engine.store.store_helpers import ROOT, open_store, record

WORDS = [
    "apple", "apples", "pear", "plum", "über", "running", "runs", "run", "cherry", "c++", "don't", "e-mail", "Äpfel",
    "苹果", "applesauce",
]  # fmt: skip
QUERIES = [
    "apple", "pear plum", "run apple über", '"apple pear" plum', "don't", "e-mail plum", "applesauc", "app", "ru",
    "nothing", "c++", "苹果", "apple pear plum running cherry äpfel über run runs",
]  # fmt: skip


ENGLISH = IndexLanguages(("en",), is_settled=True)


def asked(text: str, is_typing: bool = False) -> Lookup:
    return lookup(parse(text, is_typing), ENGLISH)


def by_segments(db: apsw.Connection, query: Lookup) -> segment_words.WordsBySegments | None:
    words = SqliteBackend(Segments(db), 0).words(query, n_documents(db))
    return words if isinstance(words, segment_words.WordsBySegments) else None


def write(store: Store, path: str, sentences: list[str], title: str = "") -> None:
    starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences)]).tolist()
    places = [Passage(start, start + len(text), 5) for start, text in zip(starts, sentences, strict=False)]
    text = DocumentText("\n".join(sentences), (), title)
    content_hash = repr((path, sentences, title)).encode()
    store.add_document(record(path), content_hash, text, places)


def check(store: Store, queries: list[str] = QUERIES, least: int = 1) -> None:
    """Compare the ranking and all figures with FTS5's, with and without filters, for whole and for unfinished words."""
    with store.reading() as db:
        ids = np.array([row[0] for row in db.execute("SELECT id FROM passages ORDER BY id")], np.int64)
        documents = [row[0] for row in db.execute("SELECT id FROM contents ORDER BY id")]
        filters = [
            None,
            CandidateFilter(holding=ids[::2]),
            CandidateFilter(np.array(documents[1::2], np.int64), excluded=ids[::3]),
        ]
        for query in [asked(text, is_typing) for text in queries for is_typing in (False, True)]:
            found, expected = by_segments(db, query), fts5_words.by_fts5(db, query, n_documents(db))
            assert found is not None
            assert found.statistics == expected.statistics
            for limit in (least, 1000):
                for allowed in filters:
                    assert found.best(limit, allowed) == expected.best(limit, allowed)
            figures = pooled([expected.statistics] * 2)
            assert found.pooled_with(figures).best(1000, None) == expected.pooled_with(figures).best(1000, None)
            np.testing.assert_array_equal(
                found.in_documents(np.array(documents)), expected.in_documents(np.array(documents))
            )
        document_of, length_of = documents_of(db, ids.tolist()), lengths_by_sql(db, documents)
        assert SqliteBackend(Segments(db), 0).documents_of(ids).tolist() == [document_of[id_] for id_ in ids.tolist()]
        assert SqliteBackend(Segments(db), 0).lengths(np.array(documents, np.int64)).tolist() == [
            length_of[id_] for id_ in documents
        ]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(upkeep, "LEAST_PASSAGES", 1)
    monkeypatch.setattr(upkeep, "CHECK_EVERY", 4)
    monkeypatch.setattr(lifecycle, "language_of", lambda _: "en")
    with open_store(tmp_path / "index.db") as opened:
        yield opened


sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
change = st.one_of(
    st.tuples(
        st.just("write"), st.integers(0, 5), st.lists(sentence, min_size=1, max_size=4), st.sampled_from(["", "Plum"])
    ),
    st.tuples(st.just("forget"), st.integers(0, 5)),
    st.tuples(st.just("rename"), st.integers(0, 5)),
    st.tuples(st.just("tidy")),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(change, min_size=1, max_size=14), st.integers(1, 5))
def test_segments_agree_with_fts5_after_any_changes(changes: list[tuple], least: int) -> None:  # type: ignore[type-arg]
    with pytest.MonkeyPatch.context() as patch, open_scratch() as store:
        patch.setattr(upkeep, "LEAST_PASSAGES", 1)
        patch.setattr(upkeep, "CHECK_EVERY", 3)
        patch.setattr(upkeep, "_WRITTEN_AT_ONCE", 5)
        patch.setattr(upkeep, "_MAX_OUTDATED", 3)
        patch.setattr(postings, "_POSTINGS_AT_ONCE", 7)
        patch.setattr(postings, "LOW_BITS", 1)
        patch.setattr(term_counts, "LOW_BITS", 1)
        patch.setattr(segment_words, "_BLOCK", 2)
        patch.setattr(term_counts, "_AT_ONCE", 3)
        patch.setattr(word_parts, "_AT_ONCE", 3)
        names = {number: f"{number}.md" for number in range(6)}
        for number, (kind, *given_values) in enumerate(changes):
            if kind == "tidy":
                store.tidy()
            elif kind == "forget":
                store.forget([names[given_values[0]]])
            elif kind == "rename":
                new = f"apple {number}.md"
                store.move([(names[given_values[0]], record(new))])
                names[given_values[0]] = new
            else:
                write(store, names[given_values[0]], *given_values[1:])
        with store.reading() as db:
            listed = manifest.read(db, Kind.WORDS)
        if listed.segments:
            check(store, QUERIES[:8], least)
        store.tidy()
        with store.reading() as db:
            has_passages = db.execute("SELECT EXISTS (SELECT 1 FROM passages)").get
        if has_passages:
            check(store, QUERIES[:8], least)


def write_as_before(store: Store, n_bytes: int, without: Collection[str] = ()) -> None:
    """Write the segments of words, small ones, as they were while places had so many bytes, and counts one."""
    with store.reading() as db:
        segments = manifest.read(db, Kind.WORDS).segments
    for one in segments:
        now = files.mapped(files.path_of(store.path, Kind.WORDS, one.token), one.token)
        n = int(now["posting_ends"][-1])
        kept = ("ids", "lengths", "text_lengths", "document_ids", "first_of", "terms", "term_ends", "posting_ends",
                "n_documents", "position_ends", "positions", "far", "highs")  # fmt: skip
        whole = {**now, "far": postings._far(now, 0, len(now["positions"]))[0]}
        own = {name: whole[name] for name in kept if name not in without}
        own |= {
            "places": term_counts.places_at(now, 0, n).astype(f"u{n_bytes}"),
            "counts": term_counts.counts_at(now, 0, n),
        }
        own |= {} if n_bytes == 4 else {name: np.empty(0, np.uint8) for name in ("turns", "above")}
        shapes = {name: (array.dtype, array.shape) for name, array in own.items()}
        with files.writing(store.path, Kind.WORDS, shapes) as (token, writer):
            for name, array in own.items():
                writer.write(name, [array])
        with store.changing() as db:
            db.execute("UPDATE segments SET token = ? WHERE token = ?", (token, one.token))


@pytest.mark.parametrize("n_bytes", [4, 2])
def test_longer_postings_of_an_older_version_are_read_and_get_shorter(store: Store, n_bytes: int) -> None:
    write(store, "a.md", ["apple pear", "plum apple", "cherry"])
    store.tidy()
    write_as_before(store, n_bytes)
    check(store)
    for path in store.path.parent.glob(f"{store.path.name}-{Kind.WORDS}-*"):
        old = files.mapped(path, path.name.rpartition("-")[2])
        if "pairs" not in old.raw:
            n, slow = int(old["posting_ends"][-1]), (term_counts.places_at, term_counts.counts_at)
            for read, at in zip(term_counts.of_rare(old, np.arange(n)), slow, strict=True):
                assert read.tolist() == at(old, 0, n).tolist()
    write(store, "b.md", ["apple plum"])
    check(store)
    store.tidy()
    check(store)
    for path in store.path.parent.glob(f"{store.path.name}-{Kind.WORDS}-*"):
        assert "pairs" in files.mapped(path, path.name.rpartition("-")[2]).raw


@settings(max_examples=25)
@given(st.data())
def test_postings_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Common terms and rare ones, far passages, high counts, and blocks that end in the middle of a byte."""
    n = data.draw(st.sampled_from([1, 100, 700, 70_000, 200_000]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    sizes = random.choice([1, 2, 5, n // 64 + 1, n // 8 + 1], data.draw(st.integers(1, 9)))
    held = [np.sort(random.choice(n, min(size, n), replace=False)) for size in sizes.tolist()]
    terms, places = np.repeat(np.arange(len(held)), list(map(len, held))), np.concatenate(held)
    counts = random.choice([1, 2, 15, 16, 17, 300], len(places), p=[0.6, 0.36, 0.01, 0.01, 0.01, 0.01])
    positions = random.integers(0, 400, counts.sum())
    cuts = np.sort(random.choice(len(held) + 1, 2))

    def blocks() -> Iterator[postings.Block]:
        for start, stop in pairwise([0, *cuts.tolist(), len(held)]):
            own = (terms >= start) & (terms < stop)
            yield postings.Block(terms[own], places[own], counts[own], positions[np.repeat(own, counts)])

    ids, ones = np.arange(n), np.ones(n, np.int32)
    passages = postings.Passages(ids, ids, ones, ones)
    counted = postings.Counted.of(len(held), passages.document_ids, blocks)
    names = [b"%04d" % number for number in range(len(held))]
    index = tmp_path_factory.mktemp("postings") / "index.sqlite"
    with files.writing(index, Kind.WORDS, postings.shapes(passages, names, counted)) as (token, writer):
        postings.write(writer, passages, names, counted)
    segment, ends = (
        files.mapped.__wrapped__(files.path_of(index, Kind.WORDS, token), token),
        np.cumsum([0, *map(len, held)]),
    )
    for first in range(len(held)):
        for last in range(first + 1, len(held) + 1):
            own = slice(ends[first], ends[last])
            assert np.array_equal(term_counts.places_at(segment, own.start, own.stop), places[own])
            assert np.array_equal(term_counts.counts_at(segment, own.start, own.stop), counts[own])
    rare = [number for number in random.permutation(len(held)).tolist() if len(held[number]) * term_counts.COMMON < n]
    rows = np.concatenate([np.empty(0, np.int64), *(np.arange(ends[own], ends[own + 1]) for own in rare)])
    if len(rows):
        for read, written in zip(term_counts.of_rare(segment, rows), (places, counts), strict=True):
            assert np.array_equal(read, written[rows])
    assert np.array_equal(postings.positions_at(segment, np.arange(len(positions))), positions)
    few = np.sort(random.choice(len(positions), len(positions) // 20, replace=False))
    assert np.array_equal(postings.positions_at(segment, few), positions[few])
    assert segment["n_documents"].tolist() == list(map(len, held))


@pytest.mark.parametrize("is_merged", [True, False])
def test_a_document_counts_once_where_many_come_at_once_and_where_it_grows(
    store: Store, monkeypatch: pytest.MonkeyPatch, is_merged: bool
) -> None:
    monkeypatch.setattr(upkeep, "_WRITTEN_AT_ONCE", 5)
    if not is_merged:
        monkeypatch.setattr(upkeep, "_merge_due", lambda *_, **__: None)
    with store.changing():
        for number in range(7):
            write(store, f"{number}.md", ["apple pear", "apple plum", "apple", "pear"][: 2 + number % 3])
    store.tidy()
    check(store)
    for grown in (["apple"] * 3, ["apple"] * 7, ["apple"] * 12):
        write(store, "3.md", grown)
        check(store)
        store.tidy()
        check(store)


def test_words_of_an_older_index_are_written_in_pages_that_fit_those_of_the_file(tmp_path: Path) -> None:
    def n_split(db: apsw.Connection) -> int:
        sql = "SELECT count(*) FROM dbstat WHERE name = 'words_data' AND pagetype = 'overflow'"
        return int(db.execute(sql).get)

    with open_store(tmp_path / "index.db") as store:
        with store.changing() as db:
            db.execute("INSERT INTO words (words, rank) VALUES ('pgsz', 4050)")
            db.execute("INSERT INTO meta VALUES ('old_words', 0)")
        for part in range(2):
            with store.changing():
                for number in range(part, 200, 2):
                    rare = " ".join(f"w{number * 7919 + place:x}" for place in range(40))
                    write(store, f"{number}.md", [f"apple number{number} {rare}", "pear plum"])
        with store.changing() as db:
            before, was_split = keywords.best(db, "apple OR number7", 900), n_split(db)
            db.execute("INSERT INTO words (words, rank) VALUES ('pgsz', 4045)")  # as the migration does
        store.tidy()
        with store.reading() as db:
            assert keywords.best(db, "apple OR number7", 900) == before
            assert was_split > 0 == n_split(db)
            assert not keywords.are_old(db)
            assert db.pragma("freelist_count") == 0


def open_scratch() -> Store:
    """An index in a folder that goes with the process's temporary files."""
    import tempfile

    return Store.open(Path(tempfile.mkdtemp()) / "index.db", root=ROOT)


def test_all_kinds_of_terms_are_ranked_as_fts5_ranks_them(store: Store) -> None:
    random = np.random.default_rng(1)
    for number in range(40):
        sentences = [" ".join(random.choice(WORDS, random.integers(1, 30))) for _ in range(random.integers(1, 6))]
        write(store, f"{number}.md", sentences, random.choice(["", "An apple", "pear"]))
    store.tidy()
    check(store, least=7)


def test_terms_that_most_passages_hold_leave_the_ranking_as_fts5_has_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rare words, of which common ones and beginnings change the order, or cannot lift another passage to the best."""
    counts: Counter[str] = Counter()
    candidates = segment_words._candidates

    def counted(part: word_parts.Part, *given: Any) -> Any:
        counts["terms"] += len(part.held)
        return candidates(part, *given)

    monkeypatch.setattr(segment_words, "_candidates", counted)
    for kind in (term_counts.Postings, term_counts.Counts):
        add = kind.add_scores
        monkeypatch.setattr(kind, "add_scores", lambda *given, add=add: counts.update(added=1) or add(*given))
    monkeypatch.setattr(segment_words, "_BLOCK", 2)
    random = np.random.default_rng(3)
    for number in range(60):
        rare = [str(random.choice(["plum", "cherry", "pear", ""])) for _ in range(4)]
        sentences = [" ".join(["apple"] * int(random.integers(1, 9)) + ["run", "running", word]) for word in rare]
        write(store, f"{number}.md", sentences, random.choice(["", "An apple"]))
    store.tidy()
    store.forget(["3.md", "50.md"])
    for least in (1, 5, 40):
        check(
            store,
            ["plum apple", "plum cherry apple run", "cherry app", "pear run app", "plum ru", "ap", "apple"],
            least,
        )
    assert 0 < counts["added"] < counts["terms"]  # some were decided before their last term


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.lists(st.integers(1, 5), min_size=1, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_counts_answer_as_postings_do(given_counts: list[int], sizes: list[int], seed: int) -> None:
    first_of = np.unique(np.minimum(np.append(0, np.cumsum(sizes)), len(given_counts)))
    first_of = np.unique(np.append(first_of, len(given_counts)))
    counts = np.array(given_counts, np.int32)
    places = np.flatnonzero(counts).astype(np.uint32)
    few = term_counts.Postings(places, counts[places], term_counts.n_documents_at(first_of, places))
    many = term_counts.Counts.of(counts, first_of)
    assert (many.n_passages, many.n_documents) == (few.n_passages, few.n_documents)
    random = np.random.default_rng(seed)
    asked_places = np.flatnonzero(random.integers(0, 2, len(counts)))
    assert many.at(asked_places).tolist() == few.at(asked_places).tolist() == counts[asked_places].tolist()
    chosen = np.flatnonzero(random.integers(0, 2, len(first_of) - 1))
    starts, stops = first_of[chosen], first_of[chosen + 1]
    assert many.n_between(starts, stops).tolist() == few.n_between(starts, stops).tolist()
    lengths, sums = counts + random.integers(1, 50, len(counts)), [np.zeros(len(counts), np.float32) for _ in range(2)]
    few.add_scores(sums[0], lengths, 1.5, 20.0)
    many.add_scores(sums[1], lengths, 1.5, 20.0)
    np.testing.assert_array_equal(*sums)


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_a_term_of_several_forms_is_held_as_often_as_they_are_together(
    forms: list[tuple[int, bool]], seed: int
) -> None:
    random, n = np.random.default_rng(seed), 240
    first_of = np.unique(np.append(random.integers(0, n, 60), [0, n]))
    given, held = [], list[term_counts.Held]()
    for rarity, is_counted in forms:
        given.append(random.integers(1, 4, n) * (random.integers(0, rarity, n) == 0))
        places = np.flatnonzero(given[-1]).astype(np.uint32)
        few = term_counts.Postings(places, given[-1][places], term_counts.n_documents_at(first_of, places))
        held.append(term_counts.Counts.of(given[-1], first_of) if is_counted else few)
    slow, fast = term_counts.Counts.of(np.sum(given, axis=0), first_of), term_counts.united(held, n, first_of)
    assert (fast.n_passages, fast.n_documents) == (slow.n_passages, slow.n_documents)
    assert fast.places.tolist() == slow.places.tolist()
    assert fast.at(np.arange(n)).tolist() == slow.counts.tolist()


def test_a_form_that_stands_in_several_terms_is_looked_up_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    write(store, "a.md", ["apple pear", "plum apple"])
    store.tidy()
    looked_up, does = list[bytes](), word_parts.number_of

    def spy(segment: files.Arrays, tokens: tuple[bytes, ...]) -> int | None:
        looked_up.extend(tokens)
        return does(segment, tokens)

    monkeypatch.setattr(word_parts, "number_of", spy)
    with store.reading() as db:
        parts = word_parts.parts_of(Segments(db), word_parts.forms_cut(db, [['"apple"', '"pear"'], ['"apple"']]))
    assert parts is not None
    assert [held.n_passages for held in parts[0].held] == [2, 2]
    assert sorted(looked_up) == [b"appl", b"pear"]


def test_a_search_cuts_words_with_the_tokenizer_of_the_word_index(store: Store) -> None:
    with store.reading() as db:
        assert apsw.fts5.Table(db, "words").structure.tokenize == keywords.TOKENIZER


def test_a_segment_takes_the_words_that_fts5_was_given(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def indexed(text: str, language: str) -> str:
        made.append(text)
        return document_words.indexed(text, language)

    monkeypatch.setattr(keywords, "indexed", indexed)
    keywords.forget_words()
    sentences = [f"a plum of the year {year}" for year in range(1990, 1999)]
    write(store, "plums.md", sentences)
    store.tidy()
    assert made == sentences
    check(store)


def test_a_search_finds_passages_that_came_and_misses_those_that_went_since_the_last_segment(store: Store) -> None:
    for number in range(9):
        write(store, f"{number}.md", [f"apple number {number}", "pear plum"])
    store.tidy()
    store.forget(["3.md"])
    write(store, "new.md", ["apple apple apple"])
    write(store, "5.md", ["plum alone"])
    check(store)


def test_a_renamed_file_is_found_by_its_new_name_alone(store: Store) -> None:
    write(store, "apple.md", ["some text", "more text"])
    write(store, "other.md", ["nothing to see"])
    store.tidy()
    store.move([("apple.md", record("plum.md"))])
    check(store, ["apple", "plum", "text"])
    store.tidy()
    check(store, ["apple", "plum", "text"])


def test_segments_are_merged_so_that_few_remain(store: Store) -> None:
    for number in range(64):
        write(store, f"{number}.md", ["apple pear", f"plum {number}"])
    with store.reading() as db:
        sizes = [one.n for one in manifest.read(db, Kind.WORDS).segments]
    assert 1 <= len(sizes) <= 6
    assert sizes == sorted(sizes, reverse=True)
    check(store, ["apple", "plum"])


def test_passages_that_have_gone_are_dropped_once_they_are_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_MAX_OUTDATED", 3)
    for number in range(16):
        write(store, f"{number}.md", ["apple pear", f"plum {number}"])
    store.tidy()
    store.forget([f"{number}.md" for number in range(6)])
    store.tidy()
    with store.reading() as db:
        listed = manifest.read(db, Kind.WORDS)
    assert not len(listed.outdated)
    assert sum(one.n for one in listed.segments) == 20
    check(store, ["apple", "plum"])


SPOKEN = IndexLanguages(("de", "en", "fr"), is_settled=True)


@pytest.mark.parametrize("text", ["colour", "running colors", '"run apple" äpfel', "cherries colo", "pear-1 run"])
def test_a_term_with_several_forms_is_the_union_of_their_postings(store: Store, text: str) -> None:
    for number in range(12):
        words = [
            ("colour", "color", "running run", "Äpfel apple", "cherries", "pear")[(number + at) % 6] for at in (0, 1, 3)
        ]
        write(store, f"{number}.md", [" ".join(words), f"run {number} colors {words[0]}"])
    store.tidy()
    write(store, "fresh.md", ["colour and color of running pears"])
    for is_typing in (False, True):
        query = lookup(parse(text, is_typing), SPOKEN)
        assert any(" OR " in term for term in query.terms)
        with store.reading() as db:
            found, expected = by_segments(db, query), fts5_words.by_fts5(db, query, n_documents(db))
            assert found is not None
            assert found.statistics == expected.statistics
            best, others = found.best(100, None), expected.best(100, None)
            assert dict(best) == pytest.approx(dict(others), abs=1e-9)
            assert [score for _, score in best] == pytest.approx([score for _, score in others], abs=1e-9)
            ids = np.array(sorted(id_ for id_, _ in best), np.int64)
            for ours, theirs in zip(found.occurrences(ids), expected.occurrences(ids), strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_a_query_in_an_index_of_several_languages_is_answered_by_segments(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, "a.md", ["colour and color"])
    store.tidy()
    monkeypatch.setattr(keywords, "scores_of_forms", None)
    monkeypatch.setattr(keywords, "n_matching_by_document", None)
    with store.reading() as db:
        words = SqliteBackend(Segments(db), 0).words(lookup(parse("colour"), SPOKEN), 1)
        assert len(words.best(10, None)) == 1


def test_flipped_bits_of_postings_change_no_answer(store: Store) -> None:
    for number in range(9):
        write(store, f"{number}.md", [f"apple number {number}", "pear plum apple"])
    store.tidy()
    with store.reading() as db:
        (listed, *_) = manifest.read(db, Kind.WORDS).segments
        expected = SqliteBackend(Segments(db), 0).words(asked("apple"), 9).best(10, None)
    path = files.path_of(store.path, Kind.WORDS, listed.token)
    content, counts = path.read_bytes(), files.mapped(path, listed.token)["pairs"]
    at = content.index(counts.tobytes())
    files.mapped.cache_clear()
    path.unlink()
    path.write_bytes(content[:at] + b"\1" * len(counts) + content[at + len(counts) :])
    with store.reading() as db:
        assert SqliteBackend(Segments(db), 0).words(asked("apple"), 9).best(10, None) == pytest.approx(expected)
    assert not path.exists()
    store.tidy()
    check(store)


@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_a_missing_or_damaged_segment_of_words_is_left_to_fts5(store: Store, damage: str) -> None:
    for number in range(9):
        write(store, f"{number}.md", [f"apple number {number}", "pear plum"])
    store.tidy()
    with store.reading() as db:
        (listed, *_) = manifest.read(db, Kind.WORDS).segments
    path = files.path_of(store.path, Kind.WORDS, listed.token)
    content = path.read_bytes()
    files.mapped.cache_clear()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"cut": content[:-1], "other": b"\0" * len(content)}[damage])
    with store.reading() as db:
        assert by_segments(db, asked("apple")) is None
        assert SqliteBackend(Segments(db), 0).words(asked("apple"), 9).best(10, None)
    store.tidy()
    check(store)


def test_files_of_segments_that_do_not_count_are_deleted(store: Store) -> None:
    for number in range(64):
        write(store, f"{number}.md", ["apple pear", f"plum {number}"])
    store.tidy()
    left = store.path.with_name(store.path.name + "-words-0123456789abcdef")
    left.write_bytes(b"of a process that was killed")
    store.tidy()
    with store.reading() as db:
        listed = manifest.read(db, Kind.WORDS).segments
    expected = {files.path_of(store.path, Kind.WORDS, one.token) for one in listed}
    assert set(files.all_of(store.path)) == expected


def test_a_segment_whose_arrays_are_not_filled_is_not_written(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    shapes = {"numbers": (np.int64, (3,))}
    with (
        pytest.raises(ValueError, match="numbers has 16 bytes, not 24"),
        files.writing(index, "words", shapes) as (_, writer),
    ):
        writer.write("numbers", [np.arange(2)])
    assert not list(tmp_path.iterdir())


_FORMS = [
    '"apple"',
    '"apple pear"',
    '"run run"',
    '"e mail"',
    '"don t"',
    '"apple pe"*',
    '"ru"*',
    '"no such words"',
    '"?"',
]
_LONG = "apple pear run " * 120
expressions = st.recursive(
    st.one_of(
        st.sampled_from(_FORMS),
        st.builds("NEAR({0} {1}, {2})".format, st.sampled_from(_FORMS), st.sampled_from(_FORMS), st.integers(0, 9)),
        st.builds("NEAR({0} {1} {0}, {2})".format, st.sampled_from(_FORMS), st.sampled_from(_FORMS), st.integers(0, 9)),
    ),
    lambda inner: st.builds("({0} {1} {2})".format, inner, st.sampled_from(["AND", "OR", "NOT"]), inner),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.one_of(sentence, st.just(_LONG)), min_size=1, max_size=4), min_size=1, max_size=6),
    st.lists(expressions, min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_where_words_stand_is_known_as_fts5_knows_it(
    documents: list[list[str]], asked_for: list[str], is_merged: bool, are_common: bool
) -> None:
    with open_scratch() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "LEAST_PASSAGES", 1)
        patch.setattr(upkeep, "_WRITTEN_AT_ONCE", 3 if is_merged else 100)
        patch.setattr(postings, "_POSTINGS_AT_ONCE", 7)
        patch.setattr(word_positions, "_AT_ONCE", 2)
        patch.setattr(word_positions, "_COMMON", 1_000 if are_common else 0)
        for number, sentences in enumerate(documents):
            write(store, f"{number}.md", sentences, "Apple pear run" if number % 2 else "")
        store.tidy()
        write(store, "0.md", ["fresh apple pear", "run"])
        with store.reading() as db:
            segments = Segments(db)
            for expression in asked_for:
                found = word_parts.matching(segments, expression)
                assert found is not None
                assert found.tolist() == keywords.matching(db, expression).tolist(), expression
            for arrays, _ in segments.opened(Kind.WORDS) or ():
                for (form,) in word_parts.forms_cut(db, [[form] for form in _FORMS]):
                    held = word_parts.held_in(segments, arrays, [form], np.empty(0, np.intp))[form]
                    raw = {name: array for name, array in arrays.items() if name != "positions"}
                    old = files.Arrays(arrays.path, raw, {}, {})
                    slow = word_parts.held_in(Segments(db), old, [form], np.empty(0, np.intp))[form]
                    if len(form.tokens) > 1:
                        living = np.isin(arrays["ids"][held.places], keywords.matching(db, form.expression))
                        places = held.places[living]
                        assert places.tolist() == slow.places.tolist()
                        assert held.at(places).tolist() == slow.at(places).tolist()


@pytest.mark.parametrize("n_positions", [1, 65_536, 131_072, 200_000])
@pytest.mark.parametrize("is_old", [False, True])
def test_positions_of_more_than_a_byte_are_found_wherever_they_stand(
    tmp_path: Path, n_positions: int, is_old: bool
) -> None:
    random = np.random.default_rng(n_positions)
    positions = np.where(random.random(n_positions) < 0.1, random.integers(0, 900, n_positions), 7)
    places = np.arange(n_positions)  # each passage holds one of two terms once
    terms = (places >= n_positions // 3).astype(np.int64)
    cuts = [slice(0, n_positions // 3), slice(n_positions // 3, None)]
    blocks = [postings.Block(terms[own], places[own], np.ones_like(places)[own], positions[own]) for own in cuts]
    passages = postings.Passages(places + 1, places + 1, *np.ones((2, n_positions), np.int32))
    counted = postings.Counted.of(2, passages.document_ids, lambda: iter(blocks))
    with files.writing(tmp_path / "index", "words", postings.shapes(passages, [b"a", b"b"], counted)) as (
        token,
        writer,
    ):
        postings.write(writer, passages, [b"a", b"b"], counted)
    segment = files.mapped(files.path_of(tmp_path / "index", "words", token), token)
    if is_old:
        raw = {**segment, "far": np.flatnonzero(positions > 255).astype(np.uint32)}
        del raw["far_starts"]
        segment = files.Arrays(segment.path, raw, {}, {})
    borders = sorted({0, 1, n_positions, *random.integers(0, n_positions, 9).tolist(), *range(0, n_positions, 65_536)})
    for start, stop in combinations(borders, 2):
        sums = np.arange(stop - start)
        postings.add_positions(segment, start, sums)
        assert np.array_equal(sums - np.arange(stop - start), positions[start:stop])
    for rows in (places, np.sort(random.integers(0, n_positions, 20)), places[:0]):
        assert np.array_equal(postings.positions_at(segment, rows), positions[rows])


_NEW = {"positions", "far", "highs", "far_starts"}


def test_segments_without_positions_are_written_again(store: Store) -> None:
    for number in range(9):
        write(store, f"{number}.md", [f"apple number {number}", "pear plum"])
    store.tidy()
    write_as_before(store, 4, without=_NEW)
    with store.reading() as db:
        assert not any("positions" in arrays.raw for arrays, _ in Segments(db).opened(Kind.WORDS) or ())
    check(store, ['"apple number"', "plum"])
    store.tidy()
    with store.reading() as db:
        assert all("positions" in arrays.raw for arrays, _ in Segments(db).opened(Kind.WORDS) or ())
    check(store, ['"apple number"', "plum"])


def test_a_segment_holds_ids_in_four_bytes_and_far_positions_in_two(store: Store) -> None:
    write(store, "a.md", ["apple pear", " ".join(f"plum{number}" for number in range(300))])
    write(store, "b.md", ["cherry"])
    store.tidy()
    with store.reading() as db:
        ((arrays, _),) = Segments(db).opened(Kind.WORDS) or ()
    assert arrays["ids"].dtype == np.uint32
    assert len(arrays["far"]) >= 40
    assert (arrays["far"].dtype, arrays["highs"].dtype) == (np.uint16, np.uint8)
    assert all(own.dtype.itemsize == 4 for own in arrays.sums.values())


def test_a_long_passage_takes_no_numbers_of_the_others() -> None:
    assert word_positions._bases(np.array([3, 900, 4])).tolist() == [0, 3, 903, 907]
    assert word_positions._owners(np.array([0, 3, 903, 907]), np.array([0, 2, 3, 902, 903, 906])).tolist() == [
        *(0, 0, 1, 1, 2, 2)
    ]
