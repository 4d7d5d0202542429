"""The alias for arrays of vectors. Not in `engine.types`: the terminal app imports that, and numpy loads slowly."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, dim) or (dim,) vectors in float32."""
