"""A document that is read in int8 has the vectors of one that is read in float32, nearly."""

import platform
from pathlib import Path

import numpy as np
import pytest
import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.inference import device
from longsearch.engine.inference.device import choose_hardware
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.mamba2_quick import QuickMamba2
from longsearch.engine.models.ops.int8 import Int8Linear, largest_activation
from longsearch.engine.platforms.buffers import keep_freed_memory
from tests.engine.tiny_models import save_embedder

TEXT = (Path(__file__).parents[3] / "assets" / "samples" / "glaciers.md").read_text("utf-8")


@pytest.fixture(scope="module")
def float32() -> Encoder:
    return Encoder.open("bundled", "cpu", "float32")


@pytest.fixture(scope="module")
def in_int8() -> Encoder:
    return Encoder.open("bundled", "cpu", "int8")


@pytest.mark.parametrize("width", [1.0, 0.5, 0.25])
def test_passages_and_documents_are_near_those_in_float32(float32: Encoder, in_int8: Encoder, width: float) -> None:
    exact, rounded = (encoder.at(width).encode_document(TEXT) for encoder in (float32, in_int8))
    cosines = (exact.passage_vectors * rounded.passage_vectors).sum(1)
    assert cosines.mean() > 0.999
    assert cosines.min() > 0.998
    assert exact.vector @ rounded.vector > 0.998


def test_every_product_of_every_layer_runs_in_int8(in_int8: Encoder) -> None:
    for encoder in (in_int8, in_int8.at(0.5)):
        model = encoder.model
        assert isinstance(model, QuickMamba2)
        assert sum(isinstance(module, Int8Linear) for module in model.modules()) == 4 * len(model.layers)
        assert encoder.hardware.products == "int8"


def test_a_document_resumes_in_int8_as_if_it_had_not_stopped(in_int8: Encoder) -> None:
    tokens, passages = in_int8.split(TEXT)
    parts = list(Encoder.open("bundled", "cpu", "int8", vertical_size=64).stream(tokens, passages))
    *_, last = in_int8.stream(tokens, passages, parts[2].saved_state())
    assert np.abs(last.document_vector - parts[-1].document_vector).max() < 2e-3


def test_it_has_the_fingerprint_of_the_float32_model(float32: Encoder, in_int8: Encoder) -> None:
    assert in_int8.fingerprint == float32.fingerprint


@pytest.mark.parametrize("capability", ["AVX2", "AVX512", "DEFAULT"])
@pytest.mark.parametrize("has_bfloat16", [True, False])
def test_auto_chooses_int8_only_without_bfloat16_and_only_where_it_is_fast(
    capability: str, has_bfloat16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "has_fast_bfloat16", lambda _: has_bfloat16)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    chosen = choose_hardware("cpu", can_be_int8=True)
    assert chosen.int8 == (capability != "DEFAULT" and not has_bfloat16)
    assert ("int8" in chosen.reason) == chosen.int8
    assert not choose_hardware("cpu").int8


@pytest.mark.parametrize("readout", ["mean", "eos"])
def test_small_models_and_models_without_mlps_are_not_run_in_int8(tmp_path: Path, readout: str) -> None:
    folder = save_embedder(tmp_path, readout)
    assert not Encoder.open(folder, "cpu").hardware.int8
    with pytest.raises(ModelError, match="int8 is for reading"):
        Encoder.open(folder, "cpu", "int8")


def test_asking_for_float32_is_obeyed(float32: Encoder) -> None:
    assert float32.hardware.products == "float32"
    assert not any(isinstance(module, Int8Linear) for module in float32.model.modules())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_buffers_are_used_again_instead_of_new_pages() -> None:
    import resource

    keep_freed_memory()
    torch.zeros(4 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        torch.empty(4 << 20).zero_()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 50 * 1024  # 16 MB are 4,096 pages


@pytest.mark.parametrize(("has_vnni", "largest"), [(True, 255), (False, 127)])
def test_vnni_decides_how_many_bits_activations_have_and_the_reason_names_it(
    monkeypatch: pytest.MonkeyPatch, has_vnni: bool, largest: int
) -> None:
    monkeypatch.setattr(device, "has_fast_bfloat16", lambda _: False)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: has_vnni)
    assert largest_activation() == largest
    assert choose_hardware("cpu", can_be_int8=True).reason.endswith(f"with AVX512{' and VNNI' if has_vnni else ''}")
