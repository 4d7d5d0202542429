"""The SSD scan by mamba-ssm's Triton kernels, for CUDA tensors: twin of `engine.models.ops.ssd`.

Of mamba-ssm (Dao and Gu, arXiv 2405.21060) only Triton files are used, so that it needs no CUDA compiler. Knows no
layers, weights or tokens, and not whether the kernels work here: `engine.models.ops.kernels` finds that out.
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
    x: Tensor,
    dt: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    initial_state: Tensor,
    block_size: int,
    documents: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """As `ssd_scan`, in several launches where one cannot address all of it.

    documents (batch, length) int32: which document of its row each token belongs to, ascending. `initial_state` goes
    on in document 0 alone, the final state is that of a row's last document, and nothing passes from one to the next.
    Raises what the import, Triton or CUDA raise.
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
                labels = labels - documents[part[0], start - 1 : start]  # the document that goes on is 0 again
            y, state = _launch(x[part], dt[part], A, B[part], C[part], state, block_size, labels)
            row_ys.append(y)
        ys.append(_joined(row_ys, 1))
        states.append(state)
    return _joined(ys, 0), _joined(states, 0)


def load_mamba_ssm(name: str) -> ModuleType:
    """A module of `mamba_ssm.ops.triton`. Raises ImportError.

    The package's own __init__ imports a compiled extension that an install without nvcc lacks, so it is not run.
    """
    if "mamba_ssm" not in sys.modules:
        os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")  # or each process spends seconds on tuning anew
        spec = importlib.util.find_spec("mamba_ssm")
        if spec is None:
            raise ModuleNotFoundError("No module named 'mamba_ssm'", name="mamba_ssm")
        sys.modules["mamba_ssm"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"mamba_ssm.ops.triton.{name}")


def _launch(
    x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, state: Tensor, block_size: int, labels: Tensor | None
) -> tuple[Tensor, Tensor]:
    scan = load_mamba_ssm("ssd_combined").mamba_chunk_scan_combined
    with torch.cuda.device_of(x):  # Triton launches on the current device, whatever the tensors' device is
        y, state = scan(x, dt, A, B, C, block_size, initial_states=state, seq_idx=labels, return_final_states=True)
    return y, state


def _at_once(x: Tensor, B: Tensor, Q: int) -> tuple[int, int]:
    """How many rows, and how many tokens of each, one launch may address; the tokens a multiple of Q or all.

    Addressed are the inputs, each block's state (heads, head_dim, d_state) and each block's C B^T (groups, Q, Q). At
    1.3 billion parameters (8,512 elements a token) that is 252,000 tokens.
    """
    length, heads, head_dim = x.shape[1:]
    groups, d_state = B.shape[2:]
    blocks = -(-length // Q)
    of_block = max(x.stride(1) * Q, B.stride(1) * Q, heads * head_dim * d_state, groups * Q * Q)
    of_row = max(x.stride(0), B.stride(0), blocks * of_block)
    rows = min(MAX_ELEMENTS // of_row, MAX_PROGRAMS // (blocks * groups))
    return (rows, length) if rows else (1, min(MAX_ELEMENTS // of_block, MAX_PROGRAMS // groups) * Q)


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    """Without a copy where there is one part."""
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)
