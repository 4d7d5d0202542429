"""Tokens are kept up to a bound, and handed out once."""

from longsearch.indexer.token_cache import TokenCache


def test_tokens_are_handed_out_once() -> None:
    cache = TokenCache()
    cache.put(1, [7, 8])
    assert cache.take(2) is None
    assert cache.take(1) == [7, 8]
    assert cache.take(1) is None


def test_the_first_tokens_are_evicted_when_the_bound_is_passed() -> None:
    cache = TokenCache(max_tokens=5)
    for document_id in (1, 2, 3):
        cache.put(document_id, [0, 0])
    assert [cache.take(document_id) for document_id in (1, 2, 3)] == [None, [0, 0], [0, 0]]


def test_new_tokens_of_a_document_replace_its_old_ones() -> None:
    cache = TokenCache(max_tokens=5)
    cache.put(1, [1, 1, 1])
    cache.put(1, [2, 2, 2])
    cache.put(2, [0, 0])
    assert cache.take(1) == [2, 2, 2]
    assert cache.take(2) == [0, 0]


def test_a_document_longer_than_the_bound_is_not_kept_and_evicts_nothing() -> None:
    cache = TokenCache(max_tokens=5)
    cache.put(1, [0] * 5)
    cache.put(2, [0] * 6)
    assert cache.take(2) is None
    assert cache.take(1) == [0] * 5
