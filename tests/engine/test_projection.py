"""The plane of a map: the two directions in which vectors differ most."""

import numpy as np
import pytest

from longsearch.engine.projection import project


def test_vectors_of_a_plane_keep_all_their_distances() -> None:
    rng = np.random.default_rng(3)
    inside = rng.normal(size=(9, 2)) * (3, 1)
    basis, _ = np.linalg.qr(rng.normal(size=(16, 2)))
    plane = project((inside @ basis.T + rng.normal(size=16)).astype(np.float32))
    assert plane is not None and sum(plane.kept) == pytest.approx(1.0)

    def distances(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, None] - points[None], axis=-1)

    np.testing.assert_allclose(distances(plane.points), distances(inside), atol=1e-4)


def test_it_agrees_with_the_eigenvectors_of_the_covariance() -> None:
    vectors = np.random.default_rng(4).normal(size=(40, 12)).astype(np.float32)
    plane = project(vectors)
    assert plane is not None
    values, directions = np.linalg.eigh(np.cov(vectors.astype(np.float64).T))
    np.testing.assert_allclose(plane.kept, values[::-1][:2] / values.sum(), atol=1e-6)
    twin = (vectors - vectors.mean(axis=0)) @ directions[:, ::-1][:, :2]
    np.testing.assert_allclose(np.abs(plane.points), np.abs(twin), atol=1e-4)
    assert (plane.points.max(axis=0) >= -plane.points.min(axis=0)).all(), "its way up is always the same"


def test_too_few_vectors_or_equal_ones_have_no_plane() -> None:
    vector = np.ones(5, np.float32)
    assert project(np.empty((0, 5), np.float32)) is None
    assert project(np.stack([vector, -vector])) is None
    assert project(np.stack([vector] * 4)) is None
    line = project(np.stack([vector, -vector, 3 * vector]))
    assert line is not None and line.kept[0] == pytest.approx(1.0)
