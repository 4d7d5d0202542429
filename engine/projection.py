"""A plane through vectors that keeps as much of their differences as a plane can: principal component analysis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST = 3
"""Fewer vectors lie in a plane anyway."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Where vectors lie on the plane."""

    points: NDArray[np.float64]
    """(n, 2), the mean at (0, 0). The farthest point of each axis is on its positive side: a map keeps its way up."""
    kept: tuple[float, float]
    """The share of the variance that each axis keeps, 0 to 1."""


def project(vectors: NDArray[np.float32]) -> Plane | None:
    """Return the first two principal components of `vectors` (n, dim); None for fewer than `LEAST`, or for equal ones.

    By singular value decomposition of the centred vectors; Jolliffe, Principal Component Analysis, section 3.5.
    """
    if len(vectors) < LEAST:
        return None
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)  # (n, dim)
    left, scales, _ = np.linalg.svd(centred, full_matrices=False)
    variance = scales**2
    if variance.sum() <= np.finfo(np.float32).eps:
        return None
    points = left[:, :2] * scales[:2]  # (n, 2)
    farthest = points[np.abs(points).argmax(axis=0), [0, 1]]
    shares = variance[:2] / variance.sum()
    return Plane(points * np.where(farthest < 0, -1.0, 1.0), (float(shares[0]), float(shares[1])))
