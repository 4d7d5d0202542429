"""The reader without torch: it agrees with its twin in torch, reads long passages whole, and keeps what it has read."""

from pathlib import Path

import numpy as np
import pytest
import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.tokens import TextTokenizer
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import bundled_model
from longsearch.engine.models.without_torch.query_weights import open_query_weights
from longsearch.engine.reader import reading
from longsearch.engine.reader.layers import HEAD_DIM, Layers, gelu
from longsearch.engine.reader.reading import FILE, LONGEST_WINDOW, Reader, Reading
from longsearch.engine.sentences import Span, cut_sentences
from longsearch.engine.training.reader.batches import Batch
from longsearch.engine.training.reader.model import Bert, Late, Scores, Table
from longsearch.engine.training.reader.training import save

BEES = (
    "Bees fly on warm days. A colony that has eaten through its honey in March needs syrup at once! "
    "Who feeds them later harms them.\n\n- Syrup: two parts sugar, one part water\n- Feed it in the evening"
)
HARBOUR = "The harbour was dredged in 1911. Its pilots spoke four languages."


@pytest.fixture(scope="module")
def table() -> torch.Tensor:
    """The bundled table."""
    config, _ = read_config(bundled_model() / "config.json")
    weights = open_query_weights(bundled_model(), config)
    return torch.from_numpy(weights.rows(np.arange(config.vocab_size))[0])


@pytest.fixture(scope="module")
def twin(table: torch.Tensor) -> Late:
    """A reader in torch with two small layers of random weights."""
    torch.manual_seed(0)
    width = table.shape[1]
    made = Late(Table(table, torch.eye(width), torch.rand(len(table))), Bert(2, width, 64, width // HEAD_DIM), width)
    for name, parameter in made.named_parameters():
        if name != "mix":
            parameter.data += 0.05 * torch.randn(parameter.shape)
        parameter.data = parameter.data.half().float()  # as they are stored
    made.table.rows, made.table.idf = table, made.table.idf.half().float()
    return made.eval()


@pytest.fixture(scope="module")
def reader(twin: Late, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The same reader without torch."""
    folder = tmp_path_factory.mktemp("reader")
    save(twin, twin.table.idf, folder / FILE)
    return Reader.open(folder)


@torch.no_grad()
def by_twin(twin: Late, query: str, passage: str) -> Reading:
    """What torch says of a passage that is one window; of two sentences together, what it says of them as one."""
    spans = cut_sentences(passage, "en")
    whole = said_by_twin(twin, query, passage, spans)
    as_one = [[*spans[:at], (spans[at][0], spans[at + 1][1]), *spans[at + 2 :]] for at in range(len(spans) - 1)]
    pairs = [float(said_by_twin(twin, query, passage, own).sentences[0, at]) for at, own in enumerate(as_one)]
    answers, relevance = float(whole.answers), float(whole.relevance)
    return Reading(spans, whole.sentences[0].numpy(), np.array(pairs), relevance, answers)


def said_by_twin(twin: Late, query: str, passage: str, spans: list[Span]) -> Scores:
    tokenizer = TextTokenizer.load(bundled_model())
    tokens, asked = tokenizer.tokenize(passage), torch.from_numpy(tokenizer.tokenize(query).ids)[None]
    starts = np.array([start for start, _ in spans])
    sentence = torch.from_numpy(np.searchsorted(starts, tokens.starts, "right") - 1)[None]
    window, none = torch.from_numpy(tokens.ids)[None], torch.zeros(1, len(spans), dtype=torch.bool)
    one = torch.zeros(1, dtype=torch.int64)
    full, asked_full = torch.ones_like(window, dtype=torch.bool), torch.ones_like(asked, dtype=torch.bool)
    return twin(Batch(one, asked, asked_full, window, full, sentence, len(spans), none, none, one, one > 0, one))


@pytest.mark.parametrize("query", ["when should bees be fed sugar", "harbour"])
def test_the_reader_agrees_with_its_twin_in_torch(reader: Reader, twin: Late, query: str):
    for passage, read in zip((BEES, HARBOUR), reader.read(query, [(BEES, "en"), (HARBOUR, "en")]), strict=True):
        right = by_twin(twin, query, passage)
        assert read.sentences == right.sentences
        logits = read.scores * float(twin.mix[0].detach())
        np.testing.assert_allclose(logits, right.scores, atol=1e-4)
        np.testing.assert_allclose(read.pairs * float(twin.mix[0].detach()), right.pairs, atol=1e-4)
        np.testing.assert_allclose((read.relevance, read.answers), (right.relevance, right.answers), atol=1e-4)


def test_the_layers_agree_with_torch_beyond_the_last_position():
    torch.manual_seed(1)
    twin = Bert(2, 64, 96, 64 // HEAD_DIM).eval()
    for parameter in twin.parameters():
        parameter.data += 0.2 * torch.randn(parameter.shape)
    layers = Layers({name: tensor.numpy() for name, tensor in twin.state_dict().items()})
    lengths = [300, 1, 17]
    vectors = torch.randn(sum(lengths), 64)
    read = layers.read(vectors.numpy(), lengths, 1)
    for part, rows in zip(torch.split(vectors, lengths), np.split(read, np.cumsum(lengths)[:-1]), strict=True):
        places = torch.arange(len(part))[None]
        right = twin(part[None], places, torch.ones_like(places), torch.ones_like(places, dtype=torch.bool))
        np.testing.assert_allclose(rows, right[0].detach().numpy(), atol=1e-4)


def test_the_gelu_is_right_for_small_and_large_numbers():
    x = np.concatenate((np.linspace(-8, 8, 2001), [-1e4, -60, 60, 1e4])).astype(np.float32)
    right = torch.nn.functional.gelu(torch.from_numpy(x.astype(np.float64))).numpy()
    gelu(x)
    np.testing.assert_allclose(x, right, atol=3e-5, rtol=1e-6)


def test_a_long_passage_is_read_in_windows_that_hold_all_its_sentences(reader: Reader):
    sentence = "The pilot of ship number {} spoke of the weather, the tide and the price of herring. "
    passage = "".join(sentence.format(n) for n in range(40))
    (whole,) = reader.read("which ship was late", [(passage, "en")])
    assert len(whole.scores) == len(whole.sentences) == len(whole.pairs) + 1 == 40
    windows = reader._windows(passage, whole.sentences)
    assert len(windows) > 1 and all(len(window.ids) <= LONGEST_WINDOW for window in windows)
    assert sum(len(window.ids) for window in windows) == len(TextTokenizer.load(bundled_model()).tokenize(passage))
    first = passage[: whole.sentences[len(windows[0].starts) - 1][1]]
    (alone,) = reader.read("which ship was late", [(first, "en")])
    np.testing.assert_allclose(whole.scores[: len(alone.scores)], alone.scores, atol=1e-4)
    assert whole.answers > alone.answers
    ends = np.cumsum([len(window.starts) for window in windows])[:-1] - 1
    assert (
        np.flatnonzero(whole.pairs == -1).tolist() == ends.tolist()
    )  # no sentence is paired with one of another window


def test_a_page_break_parts_words_as_a_line_break_does(reader: Reader):
    (at_page,), (at_line,) = (
        reader.read("sugar", [(f"Bees live in the old mill{gap}and sugar is fed.", "en")]) for gap in "\f\n"
    )
    assert at_page.sentences == at_line.sentences
    np.testing.assert_array_equal(at_page.scores, at_line.scores)


def test_what_is_read_does_not_depend_on_what_was_read_before(reader: Reader, twin: Late, tmp_path: Path):
    save(twin, twin.table.idf, tmp_path / FILE)
    fresh = Reader.open(tmp_path)
    bees, harbour = (BEES, "en"), (HARBOUR, "en")
    (alone,) = fresh.read("bees", [bees])
    fresh.read("harbour", [harbour, bees, harbour])
    again, _, same = fresh.read("bees", [bees, harbour, bees])
    np.testing.assert_allclose(again.scores, alone.scores, atol=1e-5)
    np.testing.assert_array_equal(again.scores, same.scores)


@pytest.mark.parametrize(("query", "passage"), [("bees", ""), ("bees", "--- \n * "), ("", BEES), ("\x00", BEES)])
def test_without_words_nothing_answers(reader: Reader, query: str, passage: str):
    (read,) = reader.read(query, [(passage, "en")])
    assert len(read.scores) == len(read.sentences)
    if not query or not read.sentences:
        assert read.answers == read.relevance == -np.inf


def test_the_shipped_reader_is_found_if_it_is_there(reader: Reader, twin: Late, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(reading, "SHIPPED", tmp_path / "reader")
    assert Reader.shipped() is None
    (tmp_path / "reader").mkdir()
    save(twin, twin.table.idf, tmp_path / "reader" / FILE)
    opened = Reader.shipped()
    assert opened is not None
    given = [(BEES, "en")]
    np.testing.assert_array_equal(opened.read("syrup", given)[0].scores, reader.read("syrup", given)[0].scores)


def test_a_damaged_file_is_named(tmp_path: Path):
    (tmp_path / FILE).write_bytes(b"not weights")
    with pytest.raises(ModelError, match=FILE):
        Reader.open(tmp_path)
