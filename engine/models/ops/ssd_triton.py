"""The SSD scan by mamba-ssm's Triton kernels, for CUDA tensors: the fast twin of `engine.models.ops.ssd`.

It uses only the Triton files of mamba-ssm (Dao and Gu, arXiv 2405.21060), so no CUDA compiler is needed. Knows no
layers, weights or tokens. `engine.models.ops.kernels` finds out whether the kernels work on this machine.
"""

import importlib.util
import os
import sys
from types import ModuleType

import torch
from torch import Tensor

MAX_ELEMENTS = 2**31 - 1  # the kernels count elements in int32
MAX_PROGRAMS = 65_535  # along a grid's second and third axis


def ssd_scan_triton(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, initial_state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """Run `ssd_scan`, in several launches if one launch cannot address all elements.

    Raises the errors of the import, Triton and CUDA.
    """
    batch, length = x.shape[:2]
    rows, tokens = _launch_size(x, B, block_size)
    ys, states = [], []
    for row in range(0, batch, rows):
        state, row_ys = initial_state[row : row + rows], []
        for start in range(0, length, tokens):
            part = slice(row, row + rows), slice(start, start + tokens)
            y, state = _launch(x[part], dt[part], A, B[part], C[part], state, block_size)
            row_ys.append(y)
        ys.append(_joined(row_ys, 1))
        states.append(state)
    return _joined(ys, 0), _joined(states, 0)


def load_mamba_ssm(name: str) -> ModuleType:
    """Import a module of `mamba_ssm.ops.triton`. Raises ImportError.

    The package's own __init__ is not run, because it imports an extension that only an install with nvcc has.
    """
    if "mamba_ssm" not in sys.modules:
        os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")  # otherwise each process spends seconds on tuning
        spec = importlib.util.find_spec("mamba_ssm")
        if spec is None:
            raise ModuleNotFoundError("No module named 'mamba_ssm'", name="mamba_ssm")
        sys.modules["mamba_ssm"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"mamba_ssm.ops.triton.{name}")


def _launch(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, state: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    scan = load_mamba_ssm("ssd_combined").mamba_chunk_scan_combined
    with torch.cuda.device_of(x):  # Triton launches on the current device, not on that of the tensors
        y, state = scan(x, dt, A, B, C, block_size, initial_states=state, return_final_states=True)
    return y, state


def _launch_size(x: Tensor, B: Tensor, Q: int) -> tuple[int, int]:
    """Return how many rows, and how many tokens of each, one launch may address. Tokens are a multiple of Q, or all.

    A launch addresses the inputs, the state of each block (heads, head_dim, d_state) and its C B^T (groups, Q, Q). With
    a model of 1.3 billion parameters (8,512 elements a token) that allows 252,000 tokens.
    """
    length, heads, head_dim = x.shape[1:]
    groups, d_state = B.shape[2:]
    blocks = -(-length // Q)
    of_block = max(x.stride(1) * Q, B.stride(1) * Q, heads * head_dim * d_state, groups * Q * Q)
    of_row = max(x.stride(0), B.stride(0), blocks * of_block)
    rows = min(MAX_ELEMENTS // of_row, MAX_PROGRAMS // (blocks * groups))
    return (rows, length) if rows else (1, min(MAX_ELEMENTS // of_block, MAX_PROGRAMS // groups) * Q)


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    """Concatenate the parts, without a copy if there is only one."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)
