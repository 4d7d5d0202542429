"""The SSD scan by mamba-ssm's Triton kernels, for CUDA tensors: twin of `engine.models.ops.ssd`.

Uses only the Triton files of mamba-ssm (Dao and Gu, arXiv 2405.21060), so no CUDA compiler is needed. Knows no layers,
weights or tokens. `engine.models.ops.kernels` finds out whether the kernels work on this machine.
"""

import importlib.util
import os
import sys
from types import ModuleType

import torch
from torch import Tensor

MAX_ELEMENTS = 2**31 - 1  # the kernels count elements in int32
MAX_PROGRAMS = 65_535  # along the second and the third axis of a grid


def ssd_scan_triton(
    x: Tensor,
    dt: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    initial_state: Tensor,
    block_size: int,
    documents: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """As `ssd_scan`, in several launches if one cannot address all elements.

    documents (batch, length) int32: the document of its row that each token belongs to, ascending. Only document 0
    continues from `initial_state`; no state passes between documents; the final state is that of a row's last document.
    Raises whatever the import, Triton or CUDA raise.
    """
    batch, length = x.shape[:2]
    rows, tokens = _at_once(x, B, block_size)
    ys, states = [], []
    for row in range(0, batch, rows):
        state, row_ys = initial_state[row : row + rows], []
        for start in range(0, length, tokens):
            part = slice(row, row + rows), slice(start, start + tokens)
            labels = None if documents is None else documents[part]
            if labels is not None and documents is not None and start:
                labels = labels - documents[part[0], start - 1 : start]  # the document that continues is 0 again
            y, state = _launch(x[part], dt[part], A, B[part], C[part], state, block_size, labels)
            row_ys.append(y)
        ys.append(_joined(row_ys, 1))
        states.append(state)
    return _joined(ys, 0), _joined(states, 0)


def load_mamba_ssm(name: str) -> ModuleType:
    """Import a module of `mamba_ssm.ops.triton`. Raises ImportError.

    Skips the package's own __init__, which imports a compiled extension that an install without nvcc lacks.
    """
    if "mamba_ssm" not in sys.modules:
        os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")  # or each process spends seconds on tuning again
        spec = importlib.util.find_spec("mamba_ssm")
        if spec is None:
            raise ModuleNotFoundError("No module named 'mamba_ssm'", name="mamba_ssm")
        sys.modules["mamba_ssm"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"mamba_ssm.ops.triton.{name}")


def _launch(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, state: Tensor, block_size: int, labels: Tensor | None
) -> tuple[Tensor, Tensor]:
    scan = load_mamba_ssm("ssd_combined").mamba_chunk_scan_combined
    with torch.cuda.device_of(x):  # Triton launches on the current device, not on that of the tensors
        y, state = scan(x, dt, A, B, C, block_size, initial_states=state, seq_idx=labels, return_final_states=True)
    return y, state


def _at_once(x: Tensor, B: Tensor, Q: int) -> tuple[int, int]:
    """Return how many rows, and how many tokens of each, one launch can address: all tokens, or a multiple of Q.

    A launch addresses the inputs, a state (heads, head_dim, d_state) per block and C B^T (groups, Q, Q) per block. With
    1.3 billion parameters (8,512 elements a token) the limit is 252,000 tokens.
    """
    length, heads, head_dim = x.shape[1:]
    groups, d_state = B.shape[2:]
    blocks = -(-length // Q)
    of_block = max(x.stride(1) * Q, B.stride(1) * Q, heads * head_dim * d_state, groups * Q * Q)
    of_row = max(x.stride(0), B.stride(0), blocks * of_block)
    rows = min(MAX_ELEMENTS // of_row, MAX_PROGRAMS // (blocks * groups))
    return (rows, length) if rows else (1, min(MAX_ELEMENTS // of_block, MAX_PROGRAMS // groups) * Q)


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    """Concatenate the parts; a single part is returned without a copy."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)
