"""Reads the section "longsearch" of a checkpoint's config.json: how hidden states become vectors and scores."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

from longsearch.engine.errors import ModelError
from longsearch.engine.passages import EXCERPT_WEIGHT

INSTRUCTION_TEMPLATE = "Instruction: {prompt}\nQuery: {text}"
E5_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
"""The retrieval instruction of the E5 recipe (Wang et al. 2024; arXiv 2604.18199, table 11, uses it in training)."""
READOUTS = ("mean", "eos", "contextual", "generative")
"""The names of the readouts."""


@dataclass(frozen=True, slots=True)
class ReadoutConfig:
    """How hidden states become vectors: the section "longsearch" of config.json."""

    readout: str = "eos"
    """One of `READOUTS`."""
    dim: int = 0
    """Length of the vectors; 0 means what the readout makes of d_model."""
    default_instruction: str = ""
    """The instruction of a query that comes without one, as config.json gives it; "" means none."""
    query_template: str = INSTRUCTION_TEMPLATE
    """Joins an instruction and a query."""
    widths: tuple[float, ...] = (1.0,)
    """The fractions of its heads that the model was trained at (MatMamba)."""
    query_instruction: str = field(default="", repr=False)
    """The instruction of a query that comes without one: `default_instruction`, or that of `RELEASED_READOUT`.

    It is not in the repr and so not in the fingerprint: the vectors of documents do not depend on it.
    """
    excerpt_weight: float = field(default=EXCERPT_WEIGHT, repr=False)
    """The share of the nearest excerpt in a passage's score by meaning, 0 to 1; see `engine.search.fusion`.

    It is not in the repr and so not in the fingerprint: no vector depends on it.
    """
    encoder_heads: int = field(default=0, repr=False)
    """Attention heads of the bidirectional encoder; only the readout `contextual` has one.

    It is not in the repr, so that the fingerprints of other models stay as they were; see `identity.fingerprint`.
    """
    soft_tokens: int = field(default=0, repr=False)
    """K: soft tokens generated after each passage and each document; only the readout `generative` has them.

    It is not in the repr, so that the fingerprints of other models stay as they were; see `identity.fingerprint`.
    """


RELEASED_READOUT = ReadoutConfig(query_instruction=E5_INSTRUCTION)
"""The readout of a checkpoint without a section "longsearch": the E5 recipe has an instruction before every query."""


MOST_SOFT_TOKENS = 100
"""Soft tokens of a query at most: five times as many as the paper's most."""


def check_thinking(readout: ReadoutConfig, steps: int) -> None:
    """Raise ModelError unless a query may have K = `steps` soft tokens under `readout`."""
    if readout.readout != "generative":
        hint = "leave out --think or LONGSEARCH_THINK: neither bundled model can, only one that is `generative`"
        raise ModelError(f"this model cannot think: its readout is `{readout.readout}`", hint)
    if not 0 <= steps <= MOST_SOFT_TOKENS:
        raise ModelError(f"a query can have 0 to {MOST_SOFT_TOKENS} soft tokens, not {steps}")


_SIZES = {"contextual": "encoder_heads", "generative": "soft_tokens"}
"""The size that config.json must give for a readout."""


def read_readout(raw: dict[str, Any]) -> ReadoutConfig:
    """Read the section. Raises ModelError if a value of it cannot be used."""
    names = {f.name for f in fields(ReadoutConfig)}
    section = ReadoutConfig(**{name: value for name, value in raw.items() if name in names})
    if section.readout not in READOUTS:
        raise ModelError(f"unknown readout {section.readout!r}", "this model needs a newer longsearch")
    sizes = dict.fromkeys(_SIZES.values(), 0)  # another readout's size may be left from an earlier training
    if name := _SIZES.get(section.readout):
        sizes[name] = getattr(section, name)
        if type(sizes[name]) is not int or sizes[name] < 1:
            raise ModelError(f"{name} is {sizes[name]!r}", f"the readout {section.readout!r} needs a number from 1 on")
    widths = tuple(section.widths)
    if not widths or not all(0 < width <= 1 for width in widths):
        raise ModelError(f"widths are {widths}", "widths are fractions such as 0.5")
    weight = section.excerpt_weight
    if not isinstance(weight, int | float) or not 0 <= weight <= 1:
        raise ModelError(f"excerpt_weight is {weight!r}", "it is a share of a score, from 0 to 1")
    return replace(
        section,
        widths=widths,
        query_instruction=section.default_instruction,
        encoder_heads=sizes["encoder_heads"],
        soft_tokens=sizes["soft_tokens"],
    )
