"""Which instruction a query gets if it comes without one: that of config.json, of the E5 recipe, or none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longsearch.engine.inference.encoder import Encoder
from longsearch.engine.models.config import read_config
from longsearch.engine.models.identity import identify
from longsearch.engine.models.readout_config import E5_INSTRUCTION
from tests.engine.family_checkpoints import save_family
from tests.engine.tiny_models import BUNDLED, save_embedder

WITH_E5_INSTRUCTION = (
    "Instruction: Given a web search query, retrieve relevant passages that answer the query\nQuery: harbour dues"
)


def with_section(folder: Path, section: dict[str, Any] | None) -> Path:
    """Replace the section "longsearch" of config.json; None removes it, as in a released embedder."""
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config.pop("longsearch", None)
    path.write_text(json.dumps(config if section is None else config | {"longsearch": section}), "utf-8")
    return folder


def query_vectors(folder: Path) -> list[np.ndarray]:
    """Vectors of a query without an instruction, with the E5 instruction written out, and of its bare text."""
    encoder = Encoder.open(folder, device="cpu", dtype="float32")
    asked = (("harbour dues", None), (WITH_E5_INSTRUCTION, ""), ("harbour dues", ""))
    return [encoder.encode_query(text, instruction) for text, instruction in asked]


def test_a_released_embedder_gets_the_e5_instruction_by_default(tmp_path: Path) -> None:
    by_default, instructed, bare = query_vectors(with_section(save_embedder(tmp_path, "eos"), None))
    np.testing.assert_array_equal(by_default, instructed)
    assert by_default @ bare < 0.999


def test_a_document_never_gets_an_instruction(tmp_path: Path) -> None:
    encoder = Encoder.open(with_section(save_embedder(tmp_path, "eos"), None), device="cpu", dtype="float32")
    bare = encoder.encode_query("harbour dues", "")
    np.testing.assert_allclose(encoder.encode_document("harbour dues").vector, bare, atol=1e-6)


@pytest.mark.parametrize("family", ["rwkv7", "xlstm"])
def test_released_embedders_of_the_other_families_get_it_too(family: str, tmp_path: Path) -> None:
    _, readout = read_config(save_family(tmp_path, family) / "config.json")
    assert readout.query_instruction == E5_INSTRUCTION


@pytest.mark.parametrize(
    ("section", "instruction"),
    [
        (
            {"readout": "eos"},
            "",
        ),  # as `contrast --lora` saves an embedder, which it trains with and without instructions
        ({"readout": "eos", "default_instruction": "Find the clause"}, "Find the clause"),
        ({"readout": "eos", "default_instruction": ""}, ""),
        ({"readout": "mean"}, ""),
        ({"readout": "mean", "default_instruction": "Find the clause"}, "Find the clause"),
        ({"readout": "mean", "query_instruction": "ignored"}, ""),
    ],
)
def test_a_model_with_a_section_of_its_own_gets_the_instruction_it_names(
    section: dict[str, str], instruction: str, tmp_path: Path
) -> None:
    folder = with_section(save_embedder(tmp_path, section["readout"]), section)
    _, readout = read_config(folder / "config.json")
    assert readout.query_instruction == instruction


def test_the_bundled_model_encodes_queries_without_an_instruction() -> None:
    by_default, instructed, bare = query_vectors(BUNDLED)
    np.testing.assert_array_equal(by_default, bare)
    assert by_default @ instructed < 0.999


def test_the_default_does_not_change_the_fingerprint_of_documents(tmp_path: Path) -> None:
    """Indexes made before queries got the E5 instruction stay valid."""
    folder = with_section(save_embedder(tmp_path, "eos"), None)
    _, readout = read_config(folder / "config.json")
    assert "query_instruction" not in repr(readout) and E5_INSTRUCTION not in repr(readout)
    before = identify(folder).fingerprint
    assert before == identify(with_section(folder, {"readout": "eos", "default_instruction": ""})).fingerprint
