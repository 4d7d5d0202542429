"""The type alias for vectors. Not in `engine.types`, which the terminal app imports: numpy loads slowly."""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, dim) or (dim,) vectors in float32."""
