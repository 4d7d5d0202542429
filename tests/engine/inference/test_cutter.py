"""A text is cut into passages and excerpts without a model's weights."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from longsearch.engine.errors import ModelError
from longsearch.engine.inference.cutter import PassageCutter
from longsearch.engine.inference.encoder import Encoder
from tests.engine.tiny_models import save_embedder

REPOSITORY = Path(__file__).parents[3]
TEXT = (REPOSITORY / "LICENSE").read_text()


@pytest.mark.parametrize("readout", ["mean", "eos", "contextual", "generative"])
def test_a_cutter_opened_without_the_weights_cuts_as_the_encoder_does(tmp_path: Path, readout: str) -> None:
    folder = save_embedder(tmp_path / "model", readout)
    of_encoder = Encoder.open(folder).cutter
    (folder / "model.safetensors").unlink()
    alone = PassageCutter.open(folder)
    (tokens, passages), (expected_tokens, expected_passages) = alone.split(TEXT), of_encoder.split(TEXT)
    np.testing.assert_array_equal(tokens.ids, expected_tokens.ids)
    assert passages == expected_passages
    first = TEXT[passages[0].start : passages[0].stop]
    assert alone.excerpt_starts(first) == of_encoder.excerpt_starts(first)
    assert (len(alone.excerpt_starts(first)) > 1) == (readout == "mean")


def test_a_tokenizer_that_does_not_fit_the_model_is_refused(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model", "eos")
    (folder / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match="end-of-sequence"):
        PassageCutter.open(folder)


def test_cutting_imports_neither_torch_nor_transformers() -> None:
    program = """
import sys
from longsearch.engine.inference.cutter import PassageCutter

tokens, passages = PassageCutter.open("bundled").split(open("LICENSE").read())
assert len(tokens) > 1000 and len(passages) > 10
print([name for name in ("torch", "transformers") if name in sys.modules])
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "[]\n"), ended.stderr
