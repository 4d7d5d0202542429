"""Whole models on a GPU: the same results as on the CPU, the same results in slices, and memory that does not grow."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import read_config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2State
from longsearch.engine.models.ops import kernels
from longsearch.engine.models.weights import load_mamba2
from longsearch.engine.readouts.borders import Borders
from longsearch.engine.readouts.saved_states import PassState, from_bytes, to_bytes
from tests.engine.slices import run_vertically
from tests.engine.tiny_models import BUNDLED, PROSE, random_tensors, save_checkpoint, tiny_config

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::UserWarning:triton")]
Q = 16


@pytest.fixture(params=[1, 8], ids=["one group", "eight groups"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    config = tiny_config(hidden_size=64, num_heads=8, head_dim=16, state_size=16, n_groups=request.param, chunk_size=Q)
    return save_checkpoint(tmp_path, config, random_tensors(config))


def load(folder: Path, device: torch.device | str, dtype: torch.dtype = torch.float32) -> Mamba2:
    config, _ = read_config(folder / "config.json")
    return load_mamba2(folder, config, str(device), dtype)[0]


def random_ids(length: int) -> np.ndarray:
    return np.random.default_rng(length).integers(0, 390, length)


def read(model: Mamba2, ids: np.ndarray, size: int) -> tuple[Tensor, Mamba2State]:
    parts = list(run_vertically(model, ids, size, model.device))
    return torch.cat([hidden for hidden, _ in parts]), parts[-1][1]


def difference(found: Tensor, expected: Tensor) -> float:
    """Return the norm of the difference, relative to the norm of `expected`."""
    return float((found.cpu().double() - expected.cpu().double()).norm() / expected.cpu().double().norm())


@pytest.mark.parametrize(("dtype", "rounding"), [(torch.float32, 1e-4), (torch.bfloat16, 0.05)])
def test_a_model_gives_the_same_result_on_the_gpu_and_on_the_cpu(
    gpu: torch.device, folder: Path, dtype: torch.dtype, rounding: float
) -> None:
    ids = random_ids(5 * Q + 3)
    hidden, state = read(load(folder, gpu, dtype), ids, 2 * Q)
    expected, expected_state = read(load(folder, "cpu"), ids, 2 * Q)
    assert difference(hidden, expected) < rounding
    for ssm, expected_ssm in zip(state.ssm, expected_state.ssm, strict=True):
        assert ssm.dtype == torch.float32
        assert difference(ssm, expected_ssm) < rounding


@pytest.mark.parametrize(("dtype", "rounding"), [(torch.float32, 1e-4), (torch.bfloat16, 0.03)])
@pytest.mark.parametrize("size", [Q, 4 * Q, 7])
def test_vertical_chunks_give_the_result_of_one_pass(
    gpu: torch.device, folder: Path, dtype: torch.dtype, rounding: float, size: int
) -> None:
    model, ids = load(folder, gpu, dtype), random_ids(20 * Q + 5)
    hidden, state = read(model, ids, size)
    whole, whole_state = read(model, ids, len(ids))
    assert difference(hidden, whole) < rounding
    assert difference(torch.stack(state.ssm), torch.stack(whole_state.ssm)) < rounding


def test_rows_of_a_batch_do_not_affect_each_other(gpu: torch.device, folder: Path) -> None:
    model = load(folder, gpu)
    tokens = torch.from_numpy(np.stack([random_ids(3 * Q), random_ids(3 * Q)[::-1]])).to(gpu)
    with torch.inference_mode():
        both, _ = model.step(tokens, model.initial_state(2))
        alone = [model.step(row[None], model.initial_state())[0] for row in tokens]
    assert difference(both, torch.cat(alone)) < 1e-4


def test_probes_leave_no_trace(gpu: torch.device, folder: Path) -> None:
    """A probe's hidden state is that of a text that ends there. The other tokens' are as if there were no probe."""
    model, ids = load(folder, gpu), torch.from_numpy(random_ids(2 * Q)).to(gpu)
    mask = np.zeros((1, 2 * Q), np.bool_)
    mask[0, [5, Q + 1]] = True
    kept = torch.from_numpy(~mask[0]).to(gpu)
    with torch.inference_mode():
        probed, state = model.step_probed(ids[None], mask, model.initial_state())
        plain, plain_state = model.step(ids[kept][None], model.initial_state())
        ended, _ = model.step(ids[None, :6], model.initial_state())
    assert difference(probed[:, kept], plain) < 1e-4
    assert difference(torch.stack(state.ssm), torch.stack(plain_state.ssm)) < 1e-4
    assert difference(probed[0, 5], ended[0, -1]) < 1e-4


def test_a_pass_resumes_from_a_state_saved_on_the_gpu(gpu: torch.device, folder: Path) -> None:
    model, ids = load(folder, gpu), random_ids(6 * Q)
    whole, _ = read(model, ids, 2 * Q)
    _, state = read(model, ids[: 4 * Q], 2 * Q)
    borders = Borders.from_characters(np.arange(0), [], [])
    data = to_bytes(PassState(state, 4 * Q, 0, ()), ids, borders, lambda *_: ())
    resumed = from_bytes(data, str(gpu), Mamba2State)
    (rest, _), *_ = list(run_vertically(model, ids[4 * Q :], 2 * Q, gpu, resumed.model))
    assert difference(rest, whole[4 * Q :]) < 1e-6


@pytest.mark.usefixtures("mamba_ssm")
def test_the_model_runs_the_triton_kernels(gpu: torch.device, folder: Path) -> None:
    """In bfloat16. Torch runs the float32 scan, because Triton would multiply in TensorFloat-32."""
    kernels._chosen.clear()
    kernels._verdicts.clear()
    read(load(folder, gpu, torch.bfloat16), random_ids(3 * Q), Q)
    assert sorted(verdict.split("; ")[0] for verdict in kernels.verdicts() if "causal-conv1d is" not in verdict) == [
        "gated norm by mamba-ssm",
        "scan by mamba-ssm",
    ]


def test_without_mamba_ssm_torch_gives_the_same_hidden_states(
    gpu: torch.device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = random_ids(5 * Q)
    expected, _ = read(load(folder, gpu, torch.bfloat16), ids, 2 * Q)
    for cache in ("_chosen", "_verdicts"):
        monkeypatch.setattr(kernels, cache, {})
    for name in [name for name in sys.modules if name.split(".")[0] == "mamba_ssm"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mamba_ssm", None)
    found, _ = read(load(folder, gpu, torch.bfloat16), ids, 2 * Q)
    assert any(verdict.startswith("scan by torch; mamba-ssm is not installed") for verdict in kernels.verdicts())
    assert difference(found, expected) < 0.03


def test_memory_does_not_grow_from_8_thousand_to_256_thousand_tokens(gpu: torch.device, folder: Path) -> None:
    model, peaks = load(folder, gpu, torch.bfloat16), []
    read_to_the_end(model, random_ids(8192))
    for length in (8192, 65_536, 262_144):
        torch.cuda.reset_peak_memory_stats(gpu)
        read_to_the_end(model, random_ids(length))
        peaks.append(torch.cuda.max_memory_allocated(gpu))
    assert max(peaks) < 1.02 * min(peaks)


def read_to_the_end(model: Mamba2, ids: np.ndarray) -> None:
    for _ in run_vertically(model, ids, 4096, model.device):
        pass


def test_the_bundled_model_gives_the_same_vectors_on_the_gpu_and_on_the_cpu(gpu: torch.device) -> None:
    text = PROSE[:8000]
    on_gpu = Encoder.open(BUNDLED, device="cuda:0", dtype="bfloat16")
    on_cpu = Encoder.open(BUNDLED, device="cpu", dtype="float32")
    found, expected = on_gpu.encode_document(text), on_cpu.encode_document(text)
    assert found.passages == expected.passages
    assert float(found.vector @ expected.vector) > 0.999
    assert float((found.passage_vectors * expected.passage_vectors).sum(1).min()) > 0.999
    query = "may I use it without paying?"
    assert float(on_gpu.encode_query(query) @ on_cpu.encode_query(query)) > 0.999


def test_documents_read_together_get_the_vectors_of_each_read_alone(gpu: torch.device) -> None:
    encoder = Encoder.open(BUNDLED, device="cuda:0", dtype="bfloat16")
    texts = [PROSE[start : start + length] for start, length in ((0, 9000), (500, 40), (2000, 3000))]
    together = dict(encoder.encode_documents(enumerate(texts)))
    for index, text in enumerate(texts):
        assert float(together[index].vector @ encoder.encode_document(text).vector) > 0.999
