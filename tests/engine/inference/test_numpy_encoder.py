"""Documents read by numpy have torch's vectors, in float32 and int8, and each resumes what the other one saved."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.errors import ModelError
from longsearch.engine.inference import numpy_encoder
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.inference.numpy_encoder import NumpyEncoder
from longsearch.engine.inference.query_encoder import QueryEncoder
from longsearch.engine.models.without_torch import query_model
from longsearch.engine.models.without_torch.int8_layer import Int8Layer, product, quantise
from longsearch.engine.models.without_torch.onnx_graph import Graph
from longsearch.engine.models.without_torch.query_model import Layer, read_slices, scan, scan_factored
from longsearch.engine.readouts.parts import DocumentEmbedding, EmbeddedPart
from tests.engine.tiny_models import PROSE, save_embedder

LIKE_THE_BUNDLED = {
    "intermediate_size": 24,
    "hidden_act": "hardswish",
    "use_bias": True,
    "final_norm": False,
    "num_heads": 4,
    "head_dim": 4,
}
TEXT = "\n\n".join(" ".join(PROSE.split()[i : i + 150]) for i in range(0, 500, 110))
AnyEncoder = Encoder | NumpyEncoder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "model"
    return save_embedder(folder, "mean", widths=(1.0, 0.5, 0.25), **LIKE_THE_BUNDLED)


def excerpts_of(document: DocumentEmbedding) -> np.ndarray:
    return np.concatenate([excerpts.vectors for excerpts in document.excerpts])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("width", [1.0, 0.5, 0.25])
def test_a_document_has_the_vectors_that_torch_gives_it(tiny: Path, width: float, n_threads: int) -> None:
    theirs = Encoder.open(tiny, device="cpu", dtype="float32").at(width).encode_document(TEXT)
    ours = NumpyEncoder.open(tiny, "float32", n_threads).at(width).encode_document(TEXT)
    assert (ours.passages, ours.n_tokens) == (theirs.passages, theirs.n_tokens)
    np.testing.assert_allclose(ours.vector, theirs.vector, rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours.passage_vectors, theirs.passage_vectors, rtol=0, atol=1e-5)
    np.testing.assert_allclose(excerpts_of(ours), excerpts_of(theirs), rtol=0, atol=1e-5)
    for mine, other in zip(ours.excerpts, theirs.excerpts, strict=True):
        np.testing.assert_array_equal(mine.starts, other.starts)


@pytest.mark.parametrize(("model", "least"), [("bundled", 0.999), ("multilingual", 0.997)])
def test_the_shipped_models_read_a_document_as_torch_does_in_float32_and_in_int8(model: str, least: float) -> None:
    """`least` is the cosine of torch's own int8 with float32, rounded down: .9995 and .9984 in a longer text."""
    theirs = Encoder.open(model, device="cpu", dtype="float32").encode_document(TEXT[:2_000])
    exact = NumpyEncoder.open(model, "float32").encode_document(TEXT[:2_000])
    quick = NumpyEncoder.open(model, "int8").encode_document(TEXT[:2_000])
    np.testing.assert_allclose(exact.passage_vectors, theirs.passage_vectors, rtol=0, atol=1e-4)
    np.testing.assert_allclose(excerpts_of(exact), excerpts_of(theirs), rtol=0, atol=1e-4)
    assert (quick.passage_vectors * theirs.passage_vectors).sum(1).mean() > least
    assert quick.vector @ theirs.vector > least


def parts(encoder: AnyEncoder, saved: bytes | None = None) -> list[EmbeddedPart]:
    return list(encoder.stream(*encoder.split(TEXT), saved))


@pytest.mark.parametrize("torch_first", [True, False])
def test_each_resumes_what_the_other_one_saved(tiny: Path, torch_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_encoder, "CHUNK_TOKENS", 32)
    by_torch = Encoder.open(tiny, device="cpu", dtype="float32", vertical_size=64)
    by_numpy = NumpyEncoder.open(tiny, "float32", n_threads=1)
    first, second = (by_torch, by_numpy) if torch_first else (by_numpy, by_torch)
    whole = second.encode_document(TEXT)
    begun = parts(first)
    assert len(begun) > 3
    for stop in (1, len(begun) // 2, len(begun)):  # near the start, in the middle of a passage, at the end
        saved = begun[stop - 1].saved_state()
        assert second.can_resume(*second.split(TEXT), saved)
        rest = parts(second, saved)
        made = np.concatenate([part.vectors for part in (*begun[:stop], *rest)])
        np.testing.assert_allclose(made, whole.passage_vectors, rtol=0, atol=1e-5)
        np.testing.assert_allclose(rest[-1].document_vector, whole.vector, rtol=0, atol=1e-5)


def test_a_state_of_another_width_or_text_or_a_damaged_one_is_refused(tiny: Path) -> None:
    encoder = NumpyEncoder.open(tiny, "float32", n_threads=1)
    saved = parts(encoder)[0].saved_state()
    assert not encoder.at(0.5).can_resume(*encoder.split(TEXT), saved)
    assert not encoder.can_resume(*encoder.split("Other " + TEXT), saved)
    assert not encoder.can_resume(*encoder.split(TEXT), saved[:-9])
    with pytest.raises(ModelError, match="damaged"):
        encoder.stream(*encoder.split(TEXT), b"no state")


def test_a_slice_that_fails_ends_those_that_wait_for_it(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = NumpyEncoder.open(tiny, "float32", n_threads=3)
    monkeypatch.setattr(query_model, "CHUNK_TOKENS", 16)
    monkeypatch.setattr(Layer, "_convolve", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        parts(encoder)


def test_the_layers_compute_the_recurrence_in_float64(tiny: Path) -> None:
    """The reference follows h_t = exp(dt_t A) h_{t-1} + dt_t B_t x_t; y_t = C_t h_t token by token."""
    rng = np.random.default_rng(0)
    length, heads, head_dim, d_state = 150, 4, 6, 5
    x, B, C = (
        rng.standard_normal(shape) for shape in ((length, heads, head_dim), (length, d_state), (length, d_state))
    )
    dt, A, h = (
        rng.uniform(0, 0.5, (length, heads)),
        -rng.uniform(0.1, 4, heads),
        rng.standard_normal((heads, head_dim, d_state)),
    )
    given = [array.astype(np.float32) for array in (x, dt, A, B, C, h)]
    y = np.empty_like(x)
    for t in range(length):
        h = np.exp(dt[t] * A)[:, None, None] * h + (dt[t][:, None] * x[t])[..., None] * B[t]
        y[t] = h @ C[t]
    for scanned in (scan, scan_factored):
        found, state = scanned(*given, 16)
        np.testing.assert_allclose(found, y, rtol=0, atol=2e-5)
        np.testing.assert_allclose(state, h, rtol=0, atol=2e-5)


def test_a_block_that_decays_too_fast_for_the_factors_is_scanned_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, B, C = (rng.standard_normal((40, *rest), np.float32) for rest in ((2, 3), (4,), (4,)))
    dt, A, h = np.full((40, 2), 1, np.float32), np.array([-300, -1], np.float32), np.zeros((2, 3, 4), np.float32)
    expected = scan(x, dt, A, B, C, h, 16)
    for found, right in zip(scan_factored(x, dt, A, B, C, h, 16), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_a_text_read_in_slices_of_any_length_has_the_states_of_one_slice(tiny: Path) -> None:
    queries = QueryEncoder.open(tiny)
    assert queries is not None
    layers = queries.weights.layers(1.0)
    embedded = np.random.default_rng(2).standard_normal((100, 16)).astype(np.float32)
    whole, end = read_slices(layers, embedded, np.arange(100))
    states, read = None, []
    for start, stop in ((0, 1), (1, 33), (33, 97), (97, 100)):
        hidden, states = read_slices(layers, embedded, np.arange(start, stop), states)
        read.append(hidden)
    np.testing.assert_allclose(np.concatenate(read), whole, rtol=0, atol=1e-5)
    for state, right in zip(states or [], end, strict=True):
        for array, other in zip(state, right, strict=True):
            np.testing.assert_allclose(array, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize("products", [Layer, Int8Layer])
def test_the_first_product_is_made_once_for_each_distinct_token_of_a_slice(
    tiny: Path, products: type[Layer], monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = QueryEncoder.open(tiny)
    assert queries is not None
    layers, rng = queries.weights.layers(1.0, products), np.random.default_rng(3)
    rows, where = rng.standard_normal((9, 16)).astype(np.float32), rng.integers(9, size=60)
    monkeypatch.setattr(query_model, "CHUNK_TOKENS", 40)
    n_rows: list[int] = []
    project = products._project

    def counted(layer: Layer, hidden: np.ndarray) -> list[np.ndarray]:
        n_rows.append(len(hidden))
        return project(layer, hidden)

    monkeypatch.setattr(products, "_project", counted)
    once, end = read_slices(layers, rows, where)
    assert n_rows == [len(set(where[:40])), 40, len(set(where[40:])), 20]
    n_rows.clear()
    monkeypatch.setattr(np, "unique", lambda ids, return_inverse: (ids, np.arange(len(ids))))
    for_each, right = read_slices(layers, rows, where)
    assert n_rows == [40, 40, 20, 20]
    np.testing.assert_allclose(once, for_each, rtol=0, atol=1e-5)
    for state, other in zip(end, right, strict=True):
        np.testing.assert_allclose(state[1], other[1], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("n_out", "n_in"), [(1, 1), (7, 300), (130, 16)])
def test_a_product_in_int8_is_near_that_in_float32(n_out: int, n_in: int) -> None:
    rng = np.random.default_rng(n_out)
    weight, bias = rng.standard_normal((n_out, n_in), np.float32), rng.standard_normal(n_out, np.float32)
    x = rng.standard_normal((20, n_in), np.float32) + 3
    x[3] = 0  # all activations equal: their scale would be 0
    graph = Graph("x")
    session = graph.open(product(graph, quantise(graph, "x"), weight, bias))
    exact, quick = x @ weight.T + bias, session.run(None, {"x": x})[0]
    np.testing.assert_allclose(quick, exact, rtol=0, atol=0.15 * np.sqrt(n_in))
    np.testing.assert_allclose(quick[3], bias, rtol=0, atol=1e-6)


def test_a_least_value_that_is_known_gives_the_product_of_one_that_is_looked_for() -> None:
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((30, 40), np.float32), rng.standard_normal(30, np.float32)
    x = np.maximum(rng.standard_normal((20, 40), np.float32), -0.5)
    x[:, 0] = -0.5  # every token reaches it
    found = []
    for least in (None, -0.5):
        graph = Graph("x")
        session = graph.open(product(graph, quantise(graph, "x", least), weight, bias))
        found.append(session.run(None, {"x": x})[0])
    np.testing.assert_array_equal(found[0], found[1])


def test_a_layer_in_int8_passes_few_times_over_its_activations(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = QueryEncoder.open(tiny)
    assert queries is not None
    counts: Counter[str] = Counter()
    add = Graph.add

    def counted(graph: Graph, operator: str, *inputs: str, **attributes: float) -> str:
        counts[operator] += 1
        return add(graph, operator, *inputs, **attributes)

    monkeypatch.setattr(Graph, "add", counted)
    queries.weights.layers(1.0, Int8Layer)
    whole = ("MatMulIntegerToFloat", "Gemm", "QuantizeLinear", "ReduceMax", "ReduceMin", "HardSwish", "Add")
    # six products of four activations; hardswish tells its own least value, and sums are left for the residuals
    assert [counts[operator] / queries.weights.config.n_layers for operator in whole] == [6, 6, 4, 4, 3, 1, 2]


def test_a_format_that_needs_more_packages_says_which(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError) as refused:
        NumpyEncoder.open(tiny, "bfloat16")
    assert "longsearch[torch]" in refused.value.hint
    monkeypatch.setattr(numpy_encoder, "find_spec", lambda _: None)
    assert NumpyEncoder.open(tiny).hardware.products == "float32"
    with pytest.raises(ModelError) as refused:
        NumpyEncoder.open(tiny, "int8")
    assert "longsearch[int8]" in refused.value.hint


def test_a_model_that_numpy_cannot_read_says_that_it_needs_torch(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    with pytest.raises(ModelError, match="needs torch"):
        NumpyEncoder.open(folder)
