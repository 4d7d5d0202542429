"""Chooses the device and the dtype, and refuses missing and unknown ones."""

import pytest
import torch

from engine.errors import ModelError
from engine.inference.device import choose_hardware

no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="about machines without a GPU")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_requested_device_and_dtype_are_used(dtype: str) -> None:
    hardware = choose_hardware("cpu", dtype)
    assert hardware.device == "cpu"
    assert hardware.dtype == getattr(torch, dtype)
    assert "cpu was asked for" in hardware.reason


@no_gpu
def test_without_a_gpu_auto_means_the_cpu_and_gives_the_reason() -> None:
    hardware = choose_hardware()
    assert hardware.device == "cpu"
    assert hardware.dtype in (torch.float32, torch.bfloat16)
    assert "no CUDA" in hardware.reason


@no_gpu
@pytest.mark.parametrize("fast", [True, False])
def test_auto_means_bfloat16_only_on_processors_that_multiply_it(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: fast)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    assert choose_hardware("cpu").dtype == (torch.bfloat16 if fast else torch.float32)


@no_gpu
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:7"])
def test_a_missing_gpu_is_refused(device: str) -> None:
    with pytest.raises(ModelError) as caught:
        choose_hardware(device)
    assert "cpu" in caught.value.hint


@pytest.mark.parametrize("device", ["tpu", "", "CPU", "cuda:", "cuda:-1", "cuda:x", "mps", "cpu:0"])
def test_an_unknown_device_is_refused(device: str) -> None:
    with pytest.raises(ModelError) as caught:
        choose_hardware(device)
    assert "auto" in caught.value.hint


@pytest.mark.parametrize("dtype", ["float64", "half", "", "BFLOAT16"])
def test_an_unknown_dtype_is_refused(dtype: str) -> None:
    with pytest.raises(ModelError) as caught:
        choose_hardware("cpu", dtype)
    assert "bfloat16" in caught.value.hint
