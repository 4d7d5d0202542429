"""`longsearch doctor` reports what runs on the GPU, or why nothing does."""

import pytest
import torch

from longsearch.app.commands import doctor
from longsearch.engine.models.ops import kernels


@pytest.mark.parametrize(("cuda", "said"), [(None, "is built without CUDA"), ("13.0", "torch finds none (CUDA 13.0;")])
def test_an_unused_gpu_is_reported_with_the_reason(
    cuda: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert said in doctor.CHECKS["gpu"]()


def test_the_kernels_of_a_gpu_are_reported_with_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "NVIDIA H200")
    assert doctor.CHECKS["gpu"]().endswith("the model above does not run on it")
    monkeypatch.setattr(kernels, "_verdicts", {"a": "scan by torch; mamba-ssm is not installed (no module)"})
    assert doctor.CHECKS["gpu"]() == "NVIDIA H200, CUDA 13.0; scan by torch; mamba-ssm is not installed (no module)"
