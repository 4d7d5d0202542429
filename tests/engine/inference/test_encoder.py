"""Vectors of texts, compared with a slow reference that reads the whole text again for each vector."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from longsearch.engine.errors import ModelError, QueryError
from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.papers.causal2vec.readout import ContextualReadout
from longsearch.engine.papers.gircse.readout import GenerativeReadout
from longsearch.engine.passages import cut_excerpts
from longsearch.engine.readouts.mean import MeanReadout
from longsearch.engine.readouts.parts import DocumentEmbedding
from longsearch.engine.types.documents import Passage
from tests.engine.algorithm_1 import generated_from_scratch
from tests.engine.tiny_models import BUNDLED, PROSE, save_embedder

TEXT = PROSE[:6000]
SHORT = PROSE[:2400]
READOUTS = ["mean", "eos", "contextual", "generative"]
Vector = NDArray[np.float32]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("embedders")
    return {readout: save_embedder(base / readout, readout, n_groups=2) for readout in READOUTS}


@pytest.fixture(params=READOUTS)
def folder(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Path:
    return folders[request.param]


def open_exact(folder: Path, vertical_size: int | None = None) -> Encoder:
    return Encoder.open(folder, device="cpu", dtype="float32", vertical_size=vertical_size)


def unit(vector: torch.Tensor) -> Vector:
    return (vector / vector.norm()).numpy()  # type: ignore[no-any-return]


def hidden_from_scratch(encoder: Encoder, ids: NDArray[np.int64]) -> torch.Tensor:
    """Return the hidden states (length, d_model) of one pass over the whole text."""
    with torch.inference_mode():
        return encoder.model(torch.from_numpy(ids)[None])[0]  # type: ignore[no-any-return]


def slow_vector(encoder: Encoder, ids: NDArray[np.int64], start: int, stop: int) -> Vector:
    """Return the vector of tokens start .. stop - 1 by definition: their mean, EOS after `stop` tokens, soft tokens.

    With the contextual readout: C of the passage after `start` tokens, then EOS; C of the document comes first.
    """
    if isinstance(encoder.reader, ContextualReadout):
        return slow_contextual_vector(encoder, encoder.reader, ids, start, stop)
    if isinstance(encoder.reader, MeanReadout):
        head = encoder.reader.head
        weights = head.token_weight[torch.from_numpy(ids[start:stop])]
        total = (hidden_from_scratch(encoder, ids)[start:stop] * weights[:, None]).sum(0)
        return unit(head.projection @ total)
    assert encoder.tokenizer.eos_id is not None
    if isinstance(encoder.reader, GenerativeReadout):
        return unit(generated_from_scratch(encoder, np.append(ids[:stop], encoder.tokenizer.eos_id)).mean(0))
    return unit(hidden_from_scratch(encoder, np.append(ids[:stop], encoder.tokenizer.eos_id))[-1])


def slow_contextual_vector(
    encoder: Encoder, readout: ContextualReadout, ids: NDArray[np.int64], start: int, stop: int
) -> Vector:
    """Read the text twice: to C of the passage, and to EOS. The whole document has the C of the document alone."""
    model, token = encoder.model, readout.token
    assert isinstance(model, Mamba2)
    table = model.embeddings.weight

    def contextual(tokens: NDArray[np.int64]) -> torch.Tensor:
        embedded = table[torch.from_numpy(tokens[:512])][None]
        return token(embedded, torch.ones(embedded.shape[:2]))[0]

    def last(*rows: torch.Tensor) -> torch.Tensor:
        embedded = torch.cat([row.reshape(-1, table.shape[1]) for row in rows])[None]
        return model.step_embedded(embedded, model.initial_state())[0][0, -1]

    with torch.no_grad():
        first, embedded = contextual(ids), table[torch.from_numpy(ids)]
        whole = (start, stop) == (0, len(ids))
        of_text = last(first) if whole else last(first, embedded[:start], contextual(ids[start:stop]))
        return unit(torch.cat((of_text, last(first, embedded[:stop], table[encoder.tokenizer.eos_id]))))


def assert_same(ours: DocumentEmbedding, theirs: DocumentEmbedding, atol: float) -> None:
    assert ours.passages == theirs.passages
    assert ours.n_tokens == theirs.n_tokens
    np.testing.assert_allclose(ours.vector, theirs.vector, atol=atol)
    np.testing.assert_allclose(ours.passage_vectors, theirs.passage_vectors, atol=atol)
    for own, other in zip(ours.excerpts, theirs.excerpts, strict=True):
        np.testing.assert_array_equal(own.starts, other.starts)
        np.testing.assert_allclose(own.vectors, other.vectors, atol=atol)


def test_vectors_equal_those_of_the_slow_reference(folder: Path) -> None:
    encoder = open_exact(folder, vertical_size=64)
    tokens, passages = encoder.split(TEXT)
    borders = np.searchsorted(tokens.starts, [(p.start, p.stop) for p in passages])
    document = encoder.encode_document(TEXT)
    assert document.n_tokens == len(tokens)
    assert len(document.passage_vectors) == len(passages) > 10
    np.testing.assert_allclose(document.vector, slow_vector(encoder, tokens.ids, 0, len(tokens)), atol=1e-5)
    for vector, (start, stop) in zip(document.passage_vectors, borders, strict=True):
        np.testing.assert_allclose(vector, slow_vector(encoder, tokens.ids, start, stop), atol=1e-5)


@pytest.mark.parametrize("vertical_size", [8, 64, 100_000])
def test_vectors_of_excerpts_equal_those_of_the_slow_reference(folders: dict[str, Path], vertical_size: int) -> None:
    encoder = open_exact(folders["mean"], vertical_size)
    tokens, passages = encoder.split(SHORT)
    document = encoder.encode_document(SHORT)
    assert len(document.excerpts) == len(passages)
    for (starts, vectors), passage in zip(document.excerpts, passages, strict=True):
        cuts = [start for start, _ in cut_excerpts(SHORT[passage.start : passage.stop])]
        assert starts.tolist() == cuts
        borders = np.searchsorted(tokens.starts, [*(passage.start + cut for cut in cuts), passage.stop]).tolist()
        assert len(vectors) == len(cuts) > 1
        for vector, start, stop in zip(vectors, borders, borders[1:], strict=False):
            np.testing.assert_allclose(vector, slow_vector(encoder, tokens.ids, start, stop), atol=1e-5)


def test_a_passage_of_one_excerpt_has_no_excerpt_vectors(folders: dict[str, Path]) -> None:
    document = open_exact(folders["mean"]).encode_document("A few words.")
    ((starts, vectors),) = document.excerpts
    assert (starts.shape, vectors.shape) == ((0,), (0, document.vector.size))


@pytest.mark.parametrize("readout", ["eos", "generative"])
def test_the_readouts_with_eos_have_no_excerpt_vectors(folders: dict[str, Path], readout: str) -> None:
    document = open_exact(folders[readout]).encode_document(SHORT)
    assert [len(own.vectors) for own in document.excerpts] == [0] * len(document.passages)


@pytest.mark.parametrize("vertical_size", [1, 7, 8, 160, 1000, 100_000])
def test_slices_of_any_size_give_the_vectors_of_the_whole(folder: Path, vertical_size: int) -> None:
    text = TEXT[:600] if vertical_size == 1 else TEXT
    assert_same(
        open_exact(folder, vertical_size).encode_document(text),
        open_exact(folder, 100_000).encode_document(text),
        atol=1e-5,
    )


def test_slices_do_not_change_the_vectors_of_the_bundled_model() -> None:
    encoder = Encoder.open("bundled", device="cpu", dtype="float32", vertical_size=128)
    sliced = encoder.encode_document(PROSE)
    encoder.vertical_size = 10**6
    assert_same(sliced, encoder.encode_document(PROSE), atol=1e-5)


def test_the_bundled_model_in_bfloat16_is_close_to_float32() -> None:
    exact, rounded = (Encoder.open("bundled", "cpu", dtype).encode_document(TEXT) for dtype in ("float32", "bfloat16"))
    assert exact.vector @ rounded.vector > 0.999
    assert (exact.passage_vectors * rounded.passage_vectors).sum(1).min() > 0.995


def test_the_bundled_model_finds_the_passage_that_answers_a_question() -> None:
    encoder = Encoder.open("bundled", device="cpu")
    document = encoder.encode_document(PROSE)
    query = encoder.encode_query("who pays if somebody sues over a patent")
    best = int((document.passage_vectors @ query).argmax())
    start, stop = document.passages[best]
    assert "patent" in PROSE[start:stop].lower()


@pytest.mark.parametrize("n_tokens", [1, 7, 8, 9, 16, 17])
def test_an_eos_alone_in_the_last_slice_gives_the_right_vector(folders: dict[str, Path], n_tokens: int) -> None:
    encoder = open_exact(folders["eos"], vertical_size=8)
    tokens = encoder.tokenizer.tokenize("a" + "\n" * (n_tokens - 1))
    tokens = encoder.tokenizer.tokenize("abcdefghijklmnopq"[:n_tokens]) if len(tokens) != n_tokens else tokens
    ids = np.resize(tokens.ids, n_tokens)
    text_tokens = type(tokens)(ids, np.arange(n_tokens), "a" * n_tokens)
    *_, last = encoder.stream(text_tokens, [Passage(0, n_tokens, n_tokens)])
    np.testing.assert_allclose(last.document_vector, slow_vector(encoder, ids, 0, n_tokens), atol=1e-5)
    np.testing.assert_allclose(last.vectors[0], last.document_vector, atol=1e-6)


def collect(
    encoder: Encoder, saved_state: bytes | None, stop_after: int | None = None
) -> tuple[list[Vector], bytes, Vector]:
    """Return the passage vectors from `saved_state` on, and the state and document vector of the last part taken."""
    tokens, passages = encoder.split(SHORT)
    vectors: list[Vector] = []
    first = None
    for n, part in enumerate(encoder.stream(tokens, passages, saved_state), start=1):
        first = part.first_passage if first is None else first
        assert part.first_passage == first + len(vectors)
        vectors.extend(part.vectors)
        if n == stop_after:
            break
    return vectors, part.saved_state(), part.document_vector


@pytest.mark.parametrize("vertical_size", [120, 64])
def test_a_pass_stopped_anywhere_goes_on_with_the_same_result(folder: Path, vertical_size: int) -> None:
    whole, _, document = collect(open_exact(folder, vertical_size), None)
    tokens, passages = open_exact(folder).split(SHORT)
    n_parts = len(list(open_exact(folder, vertical_size).stream(tokens, passages)))
    assert n_parts > 3
    for stop_after in range(1, n_parts + 1):
        before, saved_state, _ = collect(open_exact(folder, vertical_size), None, stop_after)
        after, _, vector = collect(open_exact(folder, vertical_size), bytes(saved_state))
        assert len(before) + len(after) == len(whole) == len(passages)
        np.testing.assert_allclose(np.array(before + after), np.array(whole), atol=1e-6)
        np.testing.assert_allclose(vector, document, atol=1e-6)


def test_a_pass_can_stop_after_every_part(folder: Path) -> None:
    whole, _, document = collect(open_exact(folder, 120), None)
    vectors, saved_state = [], None
    for _ in range(100):
        some, saved_state, vector = collect(open_exact(folder, 120), saved_state, stop_after=1)
        vectors.extend(some)
        if len(vectors) == len(whole):
            break
    np.testing.assert_allclose(np.array(vectors), np.array(whole), atol=1e-6)
    *_, vector = collect(open_exact(folder, 120), saved_state)
    np.testing.assert_allclose(vector, document, atol=1e-6)


def test_the_size_of_a_saved_state_does_not_grow(folder: Path) -> None:
    encoder = open_exact(folder, 64)
    tokens, passages = encoder.split(TEXT)
    sizes = {len(part.saved_state()) for part in encoder.stream(tokens, passages)}
    longest = max(len(own.starts) for own in encoder.encode_document(TEXT).excerpts)
    of_open_passage = 4 * longest * encoder.model.config.d_model  # bytes of its excerpts
    assert max(sizes) - min(sizes) < 100 + of_open_passage


@pytest.mark.parametrize("damage", ["empty", "truncated", "noise", "header", "other tensors", "scalar"])
def test_damaged_saved_states_are_refused(folder: Path, damage: str) -> None:
    from safetensors.torch import save

    encoder = open_exact(folder, 64)
    tokens, passages = encoder.split(TEXT)
    good = next(iter(encoder.stream(tokens, passages))).saved_state()
    data = {
        "empty": b"",
        "truncated": good[:-1],
        "noise": bytes(range(256)) * 20,
        "header": b"\xff" * 8 + good[8:],
        "other tensors": save({"x": torch.ones(2)}),
        "scalar": save({"done": torch.tensor(3)}),
    }[damage]
    with pytest.raises(ModelError) as caught:
        encoder.stream(tokens, passages, data)
    assert "start" in caught.value.hint


@pytest.mark.parametrize("changes", [{"num_hidden_layers": 3}, {"state_size": 4}, {"conv_kernel": 3}])
def test_a_saved_state_of_another_model_is_refused(folder: Path, tmp_path: Path, changes: dict[str, int]) -> None:
    encoder, other = open_exact(folder), open_exact(save_embedder(tmp_path, "mean", n_groups=2, **changes))
    tokens, passages = encoder.split(TEXT)
    foreign = next(iter(other.stream(tokens, passages))).saved_state()
    with pytest.raises(ModelError, match="another model"):
        encoder.stream(tokens, passages, foreign)


def test_a_saved_state_of_the_other_readout_is_refused(folders: dict[str, Path]) -> None:
    mean, eos = open_exact(folders["mean"]), open_exact(folders["eos"])
    tokens, passages = mean.split(TEXT)
    for ours, theirs in ((mean, eos), (eos, mean)):
        foreign = next(iter(theirs.stream(tokens, passages))).saved_state()
        with pytest.raises(ModelError):
            ours.stream(tokens, passages, foreign)


def test_a_saved_state_of_a_longer_document_is_refused(folder: Path) -> None:
    encoder = open_exact(folder)
    *_, last = encoder.stream(*encoder.split(TEXT))
    with pytest.raises(ModelError, match="another document"):
        encoder.stream(*encoder.split(TEXT[:500]), last.saved_state())


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_text_without_tokens_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="without tokens"):
        Encoder.open("bundled", device="cpu").encode_document(text)


def test_vectors_have_unit_length_and_the_promised_shape(folder: Path) -> None:
    encoder = open_exact(folder)
    document = encoder.encode_document(TEXT)
    assert document.vector.shape == (encoder.dim,)
    assert document.passage_vectors.shape == (len(document.passages), encoder.dim)
    assert document.vector.dtype == document.passage_vectors.dtype == np.float32
    norms = np.linalg.norm([document.vector, *document.passage_vectors], axis=1)
    np.testing.assert_allclose(norms, 1, atol=1e-5)


def test_a_query_without_an_instruction_is_encoded_like_a_document(folder: Path) -> None:
    encoder = open_exact(folder)
    np.testing.assert_allclose(
        encoder.encode_query("patent claims"), encoder.encode_document("patent claims").vector, atol=1e-6
    )


@pytest.mark.parametrize("readout", ["mean", "eos"])
def test_the_template_puts_the_instruction_before_the_query(folders: dict[str, Path], readout: str) -> None:
    encoder = open_exact(folders[readout])
    asked = encoder.encode_query("patent {claims}", "Find {the} clause")
    written = encoder.encode_query("Instruction: Find {the} clause\nQuery: patent {claims}")
    np.testing.assert_allclose(asked, written, atol=1e-6)
    assert encoder.encode_query("patent {claims}", "") @ asked < 0.999


def test_a_model_may_have_a_default_instruction(tmp_path: Path) -> None:
    import json

    folder = save_embedder(tmp_path, "eos")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["longsearch"] |= {"default_instruction": "Find it", "query_template": "{prompt}: {text}"}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    encoder = open_exact(folder)
    np.testing.assert_allclose(encoder.encode_query("a b"), encoder.encode_query("Find it: a b", ""), atol=1e-6)


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(folder: Path, query: str) -> None:
    with pytest.raises(QueryError):
        open_exact(folder).encode_query(query)


def test_a_query_without_tokens_is_refused() -> None:
    with pytest.raises(QueryError):
        Encoder.open(BUNDLED, device="cpu").encode_query("\u200b")


def test_inference_mode_does_not_leak_to_the_caller(folder: Path) -> None:
    encoder = open_exact(folder, 64)
    for _ in encoder.stream(*encoder.split(TEXT[:1500])):
        assert not torch.is_inference_mode_enabled()


def test_threads_do_not_disturb_each_other(folder: Path) -> None:
    encoder = open_exact(folder, 64)
    texts = [TEXT[i * 1000 : i * 1000 + 2000] for i in range(4)]
    alone = [encoder.encode_document(text).vector for text in texts]
    together: dict[int, Vector] = {}

    def work(i: int) -> None:
        together[i] = encoder.encode_document(texts[i]).vector

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, vector in enumerate(alone):
        np.testing.assert_allclose(together[i], vector, atol=1e-6)
