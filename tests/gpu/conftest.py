"""Chooses where the GPU tests run: on an NVIDIA GPU; the kernel tests also in Triton's interpreter on the CPU.

    pytest -m gpu tests/gpu                                           # on a GPU
    TRITON_INTERPRET=1 pytest -m gpu tests/gpu/test_gpu_kernels.py    # on a CPU with triton, mamba-ssm and einops

The interpreter cannot multiply bfloat16 (Triton 3.9 multiplies its bits as integers), so it tests only float32.
"""

import contextlib
import sys
import warnings
from pathlib import Path

import pytest
import torch
from interpreting import INTERPRETED

from engine.models.ops.ssd_triton import load_mamba_ssm

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # tiny_models


@pytest.fixture
def gpu() -> torch.device:
    """A GPU."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch.device("cuda:0")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """The device of the Triton kernels: a GPU, or the CPU in the interpreter."""
    if torch.cuda.is_available() and not INTERPRETED:
        return torch.device("cuda:0")
    if not INTERPRETED:
        pytest.skip("no CUDA device, and TRITON_INTERPRET is not 1")
    pytest.importorskip("triton")
    monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    return torch.device("cpu")


@pytest.fixture
def mamba_ssm(device: torch.device) -> None:
    """Import mamba-ssm's kernels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it chose a configuration
        try:
            load_mamba_ssm("ssd_combined")
        except ImportError as error:
            pytest.skip(f"mamba-ssm cannot be imported: {error}")


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=str)
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    """The dtype of the products."""
    if INTERPRETED and request.param == torch.bfloat16:
        pytest.skip("Triton's interpreter cannot multiply bfloat16")
    chosen: torch.dtype = request.param
    return chosen
