"""Context extension of transformers: formulas against literal versions, and readers against plain MiniLM.

A small random BERT of 32 positions stands for MiniLM.
"""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn import functional as F

from longsearch.engine.errors import LongsearchError
from longsearch.engine.evaluation import run as run_module
from longsearch.engine.evaluation.extension import names, reader
from longsearch.engine.evaluation.extension.bert import Bert, plain_attention
from longsearch.engine.evaluation.extension.names import EXTENSIONS, Extension
from longsearch.engine.evaluation.extension.positions import (
    attention_scale,
    grouped,
    interpolated,
    interpolated_table,
    is_original_row,
    recurrent,
    scale_of,
    windows,
)
from longsearch.engine.evaluation.extension.reader import Reader
from longsearch.engine.evaluation.extension.rotary import frequencies, rotary_attention, self_extend, turn
from longsearch.engine.evaluation.options import Options, check
from tests.engine.evaluation.evaluation_helpers import write_model, write_set

POSITIONS, LENGTH = 32, 128  # L_o and L_t of the small model
WORDS = [f"w{i}" for i in range(40)]


class SmallMiniLM:
    """What a reader needs of MiniLM: a tokenizer, a BertModel and the ids of the marks."""

    device = "cpu"

    def __init__(self):
        from transformers import BertConfig, BertModel  # seconds to import

        torch.manual_seed(0)
        vocabulary = {word: i for i, word in enumerate(["[PAD]", "[CLS]", "[SEP]", *WORDS])}
        self.tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[PAD]"))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        self.cls, self.sep = 1, 2
        config = BertConfig(
            vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=48, max_position_embeddings=POSITIONS,
        )  # fmt: skip
        self.model = BertModel(config).eval().requires_grad_(False)
        for name, parameter in self.model.named_parameters():  # sharp attention, or positions would hardly matter
            torch.nn.init.normal_(parameter, 0.0, 0.8 if "query" in name or "key" in name else 0.3)

    def tokenize(self, texts):
        return [np.array(encoding.ids, np.int64) for encoding in self.tokenizer.encode_batch(texts)]

    def encode(self, text):
        """The vector by transformers' own pass."""
        ids = torch.tensor([[self.cls, *self.tokenize([text])[0], self.sep]])
        return F.normalize(self.model(ids).last_hidden_state.mean(1), dim=-1)[0].numpy()


@pytest.fixture(scope="module")
def small() -> SmallMiniLM:
    return SmallMiniLM()


@pytest.fixture(autouse=True)
def small_settings(monkeypatch):
    """NTK and SelfExtend have settings for each length; the small model has its own length."""
    monkeypatch.setitem(names.STRETCH, LENGTH, 5.0)
    monkeypatch.setitem(names.GROUP_AND_NEAR, LENGTH, (3, 8))


def text_of(n: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, n))


def rope_folder(small, folder):
    """Weights for the rotary systems: the small model's, without its table."""
    weights = {name: tensor.clone() for name, tensor in small.model.state_dict().items()}
    weights["embeddings.position_embeddings.weight"].zero_()
    (folder / "rope").mkdir(exist_ok=True)
    save_file(weights, folder / "rope" / "model.safetensors")
    return folder


def literal_attention(q, k, v, distances, theta):
    """Equation 2 of the paper for one head in complex float64: Re sum_j q_j conj(k_j) exp(-i distance theta_j)."""
    q, k = (torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) for x in (q, k))
    phase = torch.exp(-1j * torch.from_numpy(distances)[..., None] * theta)
    scores = (q[:, None] * k[None].conj() * phase).real.sum(-1) / (2 * q.shape[-1]) ** 0.5
    return (scores.softmax(-1) @ v.double()).float()


def test_position_maps_follow_the_formulas_of_the_paper():
    s = scale_of(100, 32)
    assert s == 4 and scale_of(4096) == 8 and scale_of(512) == 1
    assert grouped(100, s).tolist() == [p // 4 for p in range(100)]
    assert recurrent(100, 32).tolist() == [p % 32 for p in range(100)]
    assert interpolated(100, s).tolist() == [p / 4 for p in range(100)]
    assert attention_scale(512) == attention_scale(7) == 1.0
    assert attention_scale(4096) == pytest.approx(np.log(4096) / np.log(512))


def test_interpolated_positions_lie_between_their_neighbours_and_keep_the_original_rows():
    table = torch.randn(32, 8, generator=torch.Generator().manual_seed(0))
    long = interpolated_table(table, 128)
    for p in range(128):
        i, f = divmod(p / 4, 1)
        expected = (1 - f) * table[int(i)].double() + f * table[min(int(i) + 1, 31)].double()
        assert torch.allclose(long[p].double(), expected, atol=1e-6)
    assert torch.equal(long[::4], table)
    assert np.flatnonzero(is_original_row(128, 32)).tolist() == list(range(0, 128, 4))
    assert torch.equal(interpolated_table(table, 32), table)


def test_windows_lie_side_by_side_and_the_last_one_is_full():
    assert windows(30, 30) == [(0, 30)]
    assert windows(60, 30) == [(0, 30), (30, 60)]
    assert windows(70, 30) == [(0, 30), (30, 60), (40, 70)]


def test_rotary_attention_is_equation_2_and_ntk_with_lambda_1_is_plain_rope():
    q, k, v = torch.randn(3, 20, 8, generator=torch.Generator().manual_seed(1))
    distances = np.arange(20)[None] - np.arange(20)[:, None]
    theta = frequencies(8)
    assert torch.allclose(theta, torch.tensor([10_000 ** (-2 * j / 8) for j in range(4)], dtype=torch.float64))
    found = rotary_attention(theta)(q[None, None], k[None, None], v[None, None], None)[0, 0]
    assert torch.allclose(found, literal_attention(q, k, v, distances, theta), atol=1e-5)
    assert torch.equal(frequencies(8, 1.0), theta)
    assert torch.allclose(frequencies(8, 10.0)[1], torch.tensor(100_000 ** (-2 / 8), dtype=torch.float64))
    assert frequencies(8, 10.0)[0] == theta[0] == 1  # NTK leaves the highest frequency as it is


def test_turning_by_a_position_is_a_rotation_in_the_complex_plane():
    x, theta = torch.randn(5, 8, generator=torch.Generator().manual_seed(2)).double(), frequencies(8)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    expected = torch.view_as_real(pairs * torch.exp(1j * torch.arange(5)[:, None] * theta)).flatten(-2)
    assert torch.allclose(turn(x, torch.arange(5), theta), expected)


def grouped_distances(n, group, near):
    """Return (n, n): the distance from token m (row) to token k (column), by the formula that `self_extend` names."""
    place = np.arange(n)
    distance = place[None] - place[:, None]
    far = np.abs(place[None] // group - place[:, None] // group) + near - near // group
    return np.where(np.abs(distance) <= near, distance, np.sign(distance) * far)


def test_self_extend_gives_the_distances_that_the_paper_prints():
    distances = grouped_distances(10, group=2, near=4)
    assert distances[0].tolist() == [0, 1, 2, 3, 4, 4, 5, 5, 6, 6]
    assert distances[4].tolist() == [-4, -3, -2, -1, 0, 1, 2, 3, 4, 4]
    assert np.array_equal(distances, -distances.T)


@pytest.mark.parametrize(("group", "near"), [(3, 8), (2, 5), (9, 4), (1, 3)])
def test_self_extend_in_blocks_is_attention_by_its_distances(group, near):
    q, k, v = torch.randn(3, 45, 8, generator=torch.Generator().manual_seed(3))
    theta = frequencies(8)
    expected = literal_attention(q, k, v, grouped_distances(45, group, near), theta)
    found = self_extend(q[None, None], k[None, None], v[None, None], None, theta, group, near)[0, 0]
    assert torch.allclose(found, expected, atol=1e-5)


def test_self_extend_does_not_see_padding():
    q, k, v = torch.randn(3, 1, 2, 30, 8, generator=torch.Generator().manual_seed(4))
    keep = (torch.arange(30) < 21)[None, None, None]
    alone = self_extend(q[:, :, :21], k[:, :, :21], v[:, :, :21], None, frequencies(8), 3, 4)
    assert torch.allclose(self_extend(q, k, v, keep, frequencies(8), 3, 4)[:, :, :21], alone, atol=1e-5)


def test_our_pass_is_that_of_transformers_with_padding_too(small):
    tokens = torch.randint(3, 40, (3, 20), generator=torch.Generator().manual_seed(5))
    mask = (torch.arange(20) < torch.tensor([20, 7, 13])[:, None]).float()
    expected = small.model(input_ids=tokens, attention_mask=mask).last_hidden_state
    bert = Bert(small.model)
    found = bert(tokens, mask, bert.table[:20], plain_attention)
    assert torch.allclose(found[mask > 0], expected[mask > 0], atol=1e-5)


@pytest.mark.parametrize("method", ["pcw", "gp", "rp", "pi", "tuned"])
def test_a_text_that_fits_keeps_its_vector_and_a_longer_one_is_read_to_its_end(small, method, tmp_path):
    (tmp_path / f"tuned-{LENGTH}").mkdir()
    save_file({"positions": torch.randn(LENGTH, 32)}, tmp_path / f"tuned-{LENGTH}" / "model.safetensors")
    for scaled in (False, True):
        read = Reader(Extension(method, LENGTH, scaled=scaled), small, tmp_path).encode
        short, long = text_of(POSITIONS - 2), text_of(90)
        assert np.allclose(read([short, "w1"])[0], small.encode(short), atol=1e-5)
        together = read([long, short, long.replace("w1", "w2")])
        assert np.allclose(together[0], read([long])[0], atol=1e-5)
        last = read([" ".join([*long.split()[:-1], "w39" if not long.endswith("w39") else "w38"])])[0]
        assert not np.allclose(together[0], last, atol=1e-4)
        assert np.allclose(read([text_of(500)]), read([" ".join(text_of(500).split()[: LENGTH - 2])]), atol=1e-5)


def test_windows_give_the_mean_of_their_vectors_before_normalising(small):
    ids = small.tokenize([text_of(70)])[0]
    parts = [ids[a:b] for a, b in ((0, 30), (30, 60), (40, 70))]
    marked = [torch.tensor([[small.cls, *part, small.sep]]) for part in parts]
    means = torch.stack([small.model(part).last_hidden_state.mean(1)[0] for part in marked])
    found = Reader(Extension("pcw", LENGTH), small, None).encode([text_of(70)])[0]
    assert np.allclose(found, F.normalize(means.mean(0), dim=-1), atol=1e-5)


@pytest.mark.parametrize(
    ("method", "ids"), [("gp", [p // 4 for p in range(100)]), ("rp", [*range(32)] * 3 + [0, 1, 2, 3])]
)
def test_a_reader_hands_transformers_the_position_ids_of_its_method(small, method, ids):
    tokens = torch.tensor([[small.cls, *small.tokenize([text_of(98)])[0], small.sep]])
    expected = F.normalize(small.model(tokens, position_ids=torch.tensor([ids])).last_hidden_state.mean(1), dim=-1)
    assert np.allclose(Reader(Extension(method, LENGTH), small, None).encode([text_of(98)]), expected, atol=1e-5)


def test_frozen_rows_of_tuned_positions_are_those_of_the_model(small, tmp_path):
    (tmp_path / f"tuned-{LENGTH}").mkdir()
    new = torch.randn(LENGTH, 32)
    save_file({"positions": new.half()}, tmp_path / f"tuned-{LENGTH}" / "model.safetensors")
    table = Reader(Extension("tuned", LENGTH), small, tmp_path).positions(LENGTH)
    assert torch.equal(table[::4], small.model.embeddings.position_embeddings.weight)
    assert torch.equal(table[1::4], new.half().float()[1::4])


def test_rotary_methods_give_long_texts_different_vectors_and_short_ones_equal_ones(small, tmp_path):
    folder = rope_folder(small, tmp_path)
    long, short = text_of(100), text_of(6)
    vectors = {
        method: Reader(Extension(method, LENGTH, rotary=True), small, folder).encode([long, short])
        for method in names.ROTARY_METHODS
    }
    for method in ("pcw", "gp", "pi", "se"):  # a text within SelfExtend's window has no far distances
        assert np.allclose(vectors[method][1], vectors[""][1], atol=1e-5)
    assert not np.allclose(vectors["ntk"][1], vectors[""][1], atol=1e-4)
    for i, one in enumerate(vectors.values()):
        assert all(not np.allclose(one[0], other[0], atol=1e-4) for other in list(vectors.values())[:i])


def test_attention_scaling_multiplies_the_queries_of_long_texts(small):
    q, k, v = torch.randn(3, 1, 4, 100, 8, generator=torch.Generator().manual_seed(6))
    factor = np.log(100) / np.log(POSITIONS)
    scores = (factor * q) @ k.transpose(-1, -2) / 8**0.5
    found = Reader(Extension("pi", LENGTH, scaled=True), small, None).attention(100)(q, k, v, None)
    assert torch.allclose(found, scores.softmax(-1) @ v, atol=1e-5)


def test_every_name_is_of_the_one_scheme_and_known_by_itself():
    assert {"minilm-512", "minilm-pi-4096", "minilm-pcw-2048", "minilm-gp-1024", "minilm-rp-scaled-4096"} < set(
        EXTENSIONS
    )
    assert {"minilm-rope-512", "minilm-rope-2048", "minilm-rope-ntk-4096", "minilm-rope-se-scaled-1024"} < set(
        EXTENSIONS
    )
    assert all(extension.name == name for name, extension in EXTENSIONS.items())
    assert names.GROUP_AND_NEAR[4096] == (9, 64) and names.STRETCH[4096] == 10


def test_an_unknown_name_is_refused_with_the_scheme_of_the_known_ones():
    check(Options(("set",), systems=("meaning", *EXTENSIONS)))
    for unknown in ("minilm-pi-777", "minilm-se-4096", "minilm-rope-tuned-4096", "minilm-pcw-scaled-4096"):
        with pytest.raises(LongsearchError, match=f"no such system: {unknown}") as error:
            check(Options(("set",), systems=(unknown,)))
        assert "minilm-(pcw|gp|rp|pi|tuned)[-scaled]-(1024|2048|4096)" in error.value.hint


def test_weights_that_are_missing_are_told_with_the_command_that_trains_them(small, tmp_path):
    for folder, told in ((None, "trained ones"), (tmp_path, "cannot read")):
        with pytest.raises(LongsearchError, match=told) as error:
            Reader(Extension("se", LENGTH, rotary=True), small, folder)
        assert "training rope" in error.value.hint


def test_a_run_ranks_by_an_extension_beside_longsearch_and_keeps_its_vectors(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_module, "MiniLM", lambda device, dtype: small)
    monkeypatch.setattr(run_module, "minilm_folder", lambda: tmp_path)
    arguments = [str(write_set(tmp_path)), "--model", str(write_model(tmp_path)), "--device", "cpu", "--cache"]
    arguments += [str(tmp_path / "cache"), "--systems", "document", "minilm-pi-1024", "minilm-rope-se-1024", "--json"]
    assert run_module.run(arguments) == 1
    assert "the weights rope are trained ones" in capsys.readouterr().err
    assert run_module.run([*arguments, "--extended", str(rope_folder(small, tmp_path))]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [result["system"] for result in results] == ["document", "minilm-pi-1024", "minilm-rope-se-1024"]
    kept = {path.name[:-29] for path in (tmp_path / "cache").glob("minilm-*")}
    assert len(kept) == 2 and "minilm-pi-1024" in kept


def test_the_name_in_the_cache_changes_with_the_trained_weights(small, tmp_path):
    folder = rope_folder(small, tmp_path)
    extension = Extension("se", LENGTH, rotary=True)
    before = Reader(extension, small, folder).key
    assert Reader(extension, small, folder).key == before
    weights = reader.load_file(folder / "rope" / "model.safetensors")
    weights["encoder.layer.0.output.dense.bias"] += 1
    save_file(weights, folder / "rope" / "model.safetensors")
    assert Reader(extension, small, folder).key != before
