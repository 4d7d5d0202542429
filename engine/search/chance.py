"""Measures the background of an index: the scores that queries without a meaning reach in it. See `calibration`."""

import random
from collections.abc import Callable

from longsearch.engine.arrays import Vectors
from longsearch.engine.errors import QueryError
from longsearch.engine.index.index import Background, Index
from longsearch.engine.languages.analysis import characters_of
from longsearch.engine.languages.scripts import SPACED_OR_RUN, UNSPACED_RUN
from longsearch.engine.query_language.query import parse
from longsearch.engine.search.calibration import MADE_UP
from longsearch.engine.search.searcher import SearchRequest, search
from longsearch.engine.store import documents, texts
from longsearch.engine.types.results import DocumentHit, SearchMode

N_QUERIES = 64
_WORDS = (3, 8)  # of a query
_CHARACTERS = (2, 4)  # of a word of a script without spaces
_SYLLABLES = (2, 4)  # of a word that does not exist
_LEAST_BEATEN = 0.9  # of the made-up queries


def random_queries(index: Index, n: int = N_QUERIES, seed: int = 0) -> list[str]:
    """Return `n` queries of three to eight words, each word from a passage of its own; fewer if passages lack words."""
    chosen = random.Random(seed)  # noqa: S311 - no secret
    ids = documents.all_passages(index.db).tolist()
    sizes = [chosen.randint(*_WORDS) for _ in range(n)]
    drawn = chosen.choices(ids, k=sum(sizes)) if ids else []
    rows = index.passage_rows(drawn)
    words = []
    for id_ in drawn:
        row = rows[id_]
        (text,) = texts.spans(index.db, row.document_id, [(row.start, row.stop)])
        words.append(_random_word(text, chosen))
    queries = (" ".join(words[sum(sizes[:number]) :][:size]) for number, size in enumerate(sizes))
    return [query for query in queries if query.strip()]


def _random_word(text: str, chosen: random.Random) -> str:
    """Return a word of `text`, of a run of an unspaced script two to four neighbouring characters; "" without words."""
    word: str = chosen.choice(SPACED_OR_RUN.findall(text) or [""])
    if not UNSPACED_RUN.match(word):
        return word
    characters, size = characters_of(word), chosen.randint(*_CHARACTERS)
    first = chosen.randint(0, max(0, len(characters) - size))
    return "".join(characters[first : first + size])


def made_up_queries(n: int = N_QUERIES, seed: int = 0) -> list[str]:
    """Return `n` queries of three to eight words that do not exist, such as "ruzoka"."""
    chosen = random.Random(seed)  # noqa: S311 - no secret

    def word() -> str:
        n_syllables = chosen.randint(*_SYLLABLES)
        return "".join(chosen.choice("bcdfghjklmnprstvwz") + chosen.choice("aeiou") for _ in range(n_syllables))

    return [" ".join(word() for _ in range(chosen.randint(*_WORDS))) for _ in range(n)]


def measure(
    index: Index, encode: Callable[[str], Vectors], must_stop: Callable[[], bool] = lambda: False
) -> Background | None:
    """Measure the background of an index: some seconds. Returns None if `must_stop`, or if too little can be drawn.

    By meaning, made-up words may come nearer to a passage than random words of the index do. So no score by meaning is
    lower than the one that nine in ten made-up queries stay below.

    `encode` returns the vector of a query, by the model that made the vectors of the index.
    """
    queries, n_passages = random_queries(index), documents.n_passages(index.db)
    scores: dict[str, list[float]] = {kind: [] for kind in (*map(str, SearchMode), "passage", MADE_UP)}
    for text in queries:
        if must_stop():
            return None
        try:
            best = _best_hits(index, text, encode, *SearchMode)
        except QueryError:  # such as "_ _"
            continue
        for mode, hit in best.items():
            scores[mode.value].append(_score(hit))
        meaning = best[SearchMode.MEANING]
        for share in meaning.reason.meaning if meaning and meaning.reason else ():
            scores.setdefault(share.vector_of, []).append(round(share.cosine, 4))
    if len(scores[SearchMode.HYBRID.value]) < N_QUERIES // 2:
        return None
    for text in made_up_queries():
        if must_stop():
            return None
        scores[MADE_UP] += map(_score, _best_hits(index, text, encode, SearchMode.MEANING).values())
    least = sorted(scores[MADE_UP])[int(_LEAST_BEATEN * N_QUERIES)]
    scores[SearchMode.MEANING.value] = [max(score, least) for score in scores[SearchMode.MEANING.value]]
    return Background(index.fingerprint, n_passages, {mode: sorted(found) for mode, found in scores.items()})


def _best_hits(
    index: Index, text: str, encode: Callable[[str], Vectors], *modes: SearchMode
) -> dict[SearchMode, DocumentHit | None]:
    """The best hit in each of these modes; that by meaning with its reason."""
    query = parse(text)
    vector = encode(query.meaning)

    def best(mode: SearchMode) -> DocumentHit | None:
        request = SearchRequest(query, mode, (vector,), k=1, explain=mode is SearchMode.MEANING)
        return next(iter(search([index], request).hits), None)

    return {mode: best(mode) for mode in modes}


def _score(hit: DocumentHit | None) -> float:
    return round(hit.score, 4) if hit else 0.0
