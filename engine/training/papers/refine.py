"""The contrastive stage of a generative model: InfoNCE at every soft token (GIRCSE, section 3.3).

L_k is InfoNCE between the vectors z_k, which are the means of the first k soft tokens of a query and of the passages.
The loss is sum_k L_k + lambda L_reg (equations 7 and 8).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.training.data.instructions import Prompter
from longsearch.engine.training.data.shards import PairSet
from longsearch.engine.training.papers.generative import GenerativeStudent
from longsearch.engine.training.stages.gradient_cache import read_in_pieces
from longsearch.engine.training.stages.losses import refinement, stepwise
from longsearch.engine.training.stages.pair_stages import Contrast, PairOptions
from longsearch.engine.training.stages.words import Words


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """The paper's loss, or a part of it for an ablation."""

    every_step: bool = True
    """Whether InfoNCE is at every soft token, or at the last alone."""
    regulariser: float = 1.0
    """lambda, the weight of the regulariser beside InfoNCE."""


class Refine(Contrast):
    """`Contrast` for a `GenerativeStudent`. Vectors of texts are (n, K, dim): z_1 .. z_K."""

    def __init__(
        self,
        student: GenerativeStudent,
        pairs: PairSet,
        options: PairOptions,
        prompter: Prompter,
        words: Words | None = None,
        refine: RefineOptions | None = None,
    ) -> None:
        """Compare the teacher's scores and vectors with z_K, if there are labels."""
        super().__init__(student, pairs, options, prompter, words)
        self._generative, self._refine = student, refine or RefineOptions()

    def _read(self, texts: list[NDArray[np.int64]], width: float, n_instruction: int = 0) -> Tensor:
        pieces, student = self._options.accumulate, self._generative
        return read_in_pieces(student, texts, width, pieces, n_instruction, student.refinements)

    def _contrasted(
        self, q: Tensor, p: Tensor, rows: NDArray[np.int64], texts: list[NDArray[np.int64]]
    ) -> dict[str, Tensor]:
        if not self._refine.every_step:
            return super()._contrasted(q[:, -1], p[:, -1], rows, texts)
        losses = torch.stack([self._nce(q[:, k], p[:, k], rows, texts) for k in range(q.shape[1])])
        terms = {"nce": stepwise(losses)}
        if self._refine.regulariser:
            terms["refinement"] = self._refine.regulariser * refinement(losses)
        return terms

    def _taught(
        self, q: Tensor, p: Tensor, rows: NDArray[np.int64], passages: list[NDArray[np.int64]]
    ) -> dict[str, Tensor]:
        return super()._taught(q[:, -1], p[:, -1], rows, passages)
