"""Times models on a device, cell by cell, within a time budget. Knows no table and no file."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from gpu_models import flops_per_token, read
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Cell:
    """A combination to time: a model, a batch size, a length and V."""

    model: str
    batch: int
    tokens: int
    """Tokens in each row of the batch."""
    vertical_size: int
    """V. A value of `tokens` or more means the horizontal pass, which is the only one of a transformer."""

    @property
    def whole(self) -> bool:
        """Whether all tokens pass through each layer at once."""
        return self.vertical_size >= self.tokens


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a cell."""

    cell: Cell
    seconds: float = 0.0
    """The median time of one pass; 0 if the cell was left out."""
    peak_gib: float = 0.0
    """Peak allocated memory, weights included; 0 on a CPU."""
    share: float = 0.0
    """The share of the device's matmul rate. Only the products of linear layers are counted."""
    left_out: str = ""
    """Why nothing was measured, or ""."""

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second over all rows of the batch."""
        return self.cell.batch * self.cell.tokens / self.seconds if self.seconds else 0.0


class Clock:
    """Times functions that run on a device."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def seconds(self, run: Callable[[], object]) -> float:
        """Return the seconds of one run, until the device is done."""
        self._wait()
        began = time.perf_counter()
        run()
        self._wait()
        return time.perf_counter() - began

    def median(self, run: Callable[[], object], budget_s: float, at_most: int = 5) -> float:
        """Return the median seconds of up to `at_most` runs. A first run counts only if it uses up the budget alone."""
        first = self.seconds(run)
        runs = min(at_most, int(budget_s / first))
        return statistics.median([self.seconds(run) for _ in range(runs)] or [first])

    def matmul_flops(self, sizes: tuple[int, ...], dtype: torch.dtype) -> float:
        """Return the operations per second of the fastest product of square random matrices.

        Zeros would be 13 % faster on an H200.
        """
        found = []
        for size in sizes:
            a, b = (torch.randn(size, size, device=self.device, dtype=dtype) for _ in range(2))
            found.append(2 * size**3 / self.median(lambda a=a, b=b: a @ b, 1.0, at_most=50))
        return max(found)

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


class Bench:
    """Times cells, and leaves out those that do not fit the time or the memory."""

    def __init__(self, clock: Clock, matmul_flops: float, cell_s: float, deadline: float) -> None:
        """`cell_s`: the longest pass to time, in seconds; `deadline`: when to stop, as `time.perf_counter` counts."""
        self.clock, self.matmul_flops, self.cell_s, self.deadline = clock, matmul_flops, cell_s, deadline
        self._last: dict[tuple[str, int, bool], Row] = {}

    def row(self, cell: Cell, model: nn.Module) -> Row:
        """Time a cell, or return why it is left out."""
        kind = (cell.model, cell.batch, cell.whole)
        reason = why_leave_out(self._last.get(kind), cell, self.cell_s, self.deadline - time.perf_counter())
        if reason:
            return Row(cell, left_out=reason)
        try:
            row = self._measured(cell, model)
        except torch.OutOfMemoryError:
            return Row(cell, left_out="out of memory")
        except RuntimeError as error:  # CUDA, cuBLAS or cuDNN refuse some sizes: go on with the rest
            return Row(cell, left_out=f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
        self._last[kind] = row
        return row

    def ratio(self, model: nn.Module, batch: int, tokens: int, vertical_size: int, rounds: int = 5) -> float:
        """Return vertical time / horizontal time: the median over rounds in which both take turns."""
        ids = random_tokens(batch, tokens, self.clock.device)
        ratios = []
        for _ in range(rounds + 1):
            vertical, whole = (
                self.clock.seconds(lambda size=size: read(model, ids, size)) for size in (vertical_size, tokens)
            )
            ratios.append(vertical / whole)
        return statistics.median(ratios[1:])

    def _measured(self, cell: Cell, model: nn.Module) -> Row:
        tokens, cuda = random_tokens(cell.batch, cell.tokens, self.clock.device), self.clock.device.type == "cuda"
        if cuda:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        seconds = self.clock.median(lambda: read(model, tokens, cell.vertical_size), self.cell_s / 4)
        peak_gib = torch.cuda.max_memory_allocated() / 2**30 if cuda else 0.0
        flops = flops_per_token(model) * tokens.numel() / seconds
        return Row(cell, seconds, peak_gib, flops / self.matmul_flops)


def why_leave_out(last: Row | None, cell: Cell, cell_s: float, left_s: float) -> str:
    """Return why there is no time for a cell, judged by the last cell of its kind, or "".

    The estimate is linear in tokens, but quadratic for a transformer, whose time becomes quadratic for long texts.
    """
    growth = cell.tokens / last.cell.tokens if last else 1.0
    expected_s = last.seconds * growth ** (2 if cell.model.startswith("Transformer") else 1) if last else 0.0
    if expected_s > cell_s:
        return f"about {expected_s:.0f} s, more than {cell_s:.0f}"
    return "" if expected_s < left_s - 5 else "no time left"


def random_tokens(batch: int, length: int, device: torch.device) -> Tensor:
    """Return random ids (batch, length) that are in every vocabulary."""
    return torch.randint(0, 99, (batch, length), device=device)
