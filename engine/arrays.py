"""The type of vectors, and the different numbers of an array. Not in `engine.types`: numpy loads slowly for the app."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""(n, dim) or (dim,) vectors in float32."""

_Distinct = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[np.intp]]]
distinct = cast(_Distinct, partial(np.unique, return_index=True))
"""(The different numbers, ascending; where each is first.) Without these places `np.unique` imports numpy.ma at its
first call, and so do `np.union1d` and the like: 20 ms of a search in a new process."""
