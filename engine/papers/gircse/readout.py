"""The `generative` readout: a vector is the mean of the hidden states of K soft tokens (GIRCSE, equation 4).

At the end of each passage, and of the document, the state branches: the branch reads EOS, then K soft tokens that the
model makes itself (`engine.papers.gircse.soft_tokens`). The branch is dropped, and the stream goes on as if there had
been none. With K = 0 the vector is the hidden state of EOS, as under the `eos` readout.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.models.recurrent import RecurrentModel
from longsearch.engine.papers.gircse.soft_tokens import SoftTokens, generate
from longsearch.engine.papers.recurrent.eos import EosReading, EosReadout
from longsearch.engine.readouts.reading import Finished, Readout, Slice
from longsearch.engine.readouts.vertical import joined

_BRANCH_BYTES = 32 << 20  # the states of the branches that wait for their soft tokens; one of the bundled model: .4 MB


class GenerativeReadout(EosReadout):
    """The `generative` readout: normalise((g_1 + ... + g_K) / K), and the hidden state of EOS for K = 0."""

    def __init__(self, eos_id: int, soft: SoftTokens, steps: int) -> None:
        super().__init__(eos_id, soft.mixing.shape[0])
        self.soft = soft
        self.steps = steps
        """K."""

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor], config: Mamba2Config, eos_id: int, steps: int) -> Self:
        """Take a checkpoint's `readout.*` tensors. Raises ModelError if one is missing or has the wrong shape."""
        return cls(eos_id, SoftTokens.from_tensors(tensors, config.d_model, config.vocab_size), steps)

    def read(
        self, model: RecurrentModel, readings: Sequence[EosReading], given: Slice, state: Any
    ) -> tuple[list[Finished], Any]:
        """See `Readout`. Each row is read from passage end to passage end, and its branches are answered in batches."""
        mamba = cast(Mamba2, model)  # `open_readout` refuses other families
        pooled = torch.zeros(*given.tokens.shape, self.dim, device=given.tokens.device)
        rows = zip(given.tokens, given.probes, _rows_of(state), pooled, strict=True)
        states = [self._read_row(mamba, *row) for row in rows]
        return self.take(readings, pooled, given), joined(states)

    def _read_row(self, model: Mamba2, tokens: Tensor, probes: NDArray[np.bool_], state: Any, pooled: Tensor) -> Any:
        """Read one row (length,), and write the vector of each probe into `pooled` (length, dim). Returns its state."""
        at_once = max(_BRANCH_BYTES // sum(t.nbytes for t in state.tensors().values()), 1)
        if not probes.any():
            return model.step(tokens[None], state)[1]
        begin, ends = 0, np.flatnonzero(probes).tolist()
        for batch in (ends[i : i + at_once] for i in range(0, len(ends), at_once)):
            branches = []
            for end in batch:
                if begin < end:
                    _, state = model.step(tokens[None, begin:end], state)
                branches.append(state)
                begin = end + 1
            pooled[batch] = self.pooled(model, tokens[batch], joined(branches))
        return model.step(tokens[None, begin:], state)[1] if begin < len(tokens) else state

    def pooled(self, model: Mamba2, ends: Tensor, state: Any) -> Tensor:
        """Return the vectors (n, d_model), not yet normalised, of branches from `state` that first read `ends` (n,)."""
        hidden, state = model.step(ends[:, None], state)
        table = model.embeddings.weight
        generated = generate(model.step_embedded, table, self.soft, hidden[:, 0], state, self.steps)
        return pool(generated) if self.steps else hidden[:, 0]


def pool(generated: Tensor) -> Tensor:
    """Return z (n, d_model), the mean of hidden states (n, K, d_model) of soft tokens (equation 4)."""
    return generated.float().mean(1)


def with_steps(readout: Readout, steps: int) -> GenerativeReadout:
    """Return a generative readout with K = `steps` soft tokens. It shares the weights of `readout`."""
    other = copy(cast(GenerativeReadout, readout))
    other.steps = steps
    return other


def _rows_of(state: Any) -> list[Any]:
    n = len(next(iter(state.tensors().values())))
    return [state.rows([row]) for row in range(n)]
