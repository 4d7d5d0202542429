"""Fixtures that choose where the tests run: on an NVIDIA GPU, or in Triton's interpreter on the CPU (kernels only).

    pytest -m gpu tests/gpu                                           # on a GPU
    TRITON_INTERPRET=1 pytest -m gpu tests/gpu/test_gpu_kernels.py    # on a CPU with triton, mamba-ssm and einops

In the interpreter only float32 is tested: it cannot multiply bfloat16 (Triton 3.9 multiplies the bits as integers).
"""

import contextlib
import warnings

import pytest
import torch

from longsearch.engine.models.ops.ssd_triton import load_mamba_ssm
from tests.gpu.interpreting import INTERPRETED


@pytest.fixture
def gpu() -> torch.device:
    """Return the GPU, or skip the test."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return torch.device("cuda:0")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """Return the device of Triton kernels: the GPU, or the CPU in the interpreter. Skip the test without either."""
    if torch.cuda.is_available() and not INTERPRETED:
        return torch.device("cuda:0")
    if not INTERPRETED:
        pytest.skip("no CUDA device, and TRITON_INTERPRET is not 1")
    pytest.importorskip("triton")
    monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    return torch.device("cpu")


@pytest.fixture
def mamba_ssm(device: torch.device) -> None:
    """Import mamba-ssm's kernels, or skip the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mamba-ssm warns that it chose a configuration
        try:
            load_mamba_ssm("ssd_combined")
        except ImportError as error:
            pytest.skip(f"mamba-ssm cannot be imported: {error}")


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=str)
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    """Return the number format of the matrix products."""
    if INTERPRETED and request.param == torch.bfloat16:
        pytest.skip("Triton's interpreter cannot multiply bfloat16")
    chosen: torch.dtype = request.param
    return chosen
