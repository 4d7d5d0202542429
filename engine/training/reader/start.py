"""Makes and reads the weights that the reader starts from: the bundled table and layers, and MiniLM's layers.

One safetensors file of about 28 MB; its matrices are rows in 8 bits.
"""

from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config, ModelConfig
from longsearch.engine.models.embedding import SCALE, from_int8_rows, to_int8_rows
from longsearch.engine.reader.layers import BERT_MARKS
from longsearch.engine.training.reader.model import Bert, Carried, Cross, Floor, Late, Table

DESIGNS = ("late", "cross", "carried", "floor")
_BERT = {
    "attention.output.dense": "out", "attention.output.LayerNorm": "norm", "intermediate.dense": "up",
    "output.dense": "down", "output.LayerNorm": "mlp_norm",
}  # fmt: skip


def make(minilm: Path, bundled: Path, out: Path) -> None:
    """Write the file from MiniLM's safetensors and the model's, whose table may be rows in 8 bits."""
    own, bert = read(bundled), load_file(minilm)
    table = own["backbone.embeddings.weight"]
    found = {"table": table, "projection": own["readout.projection.weight"]}
    found |= {
        f"mamba.{name.removeprefix('backbone.')}": tensor
        for name, tensor in own.items()
        if name.startswith(("backbone.layers.0.", "backbone.layers.1.", "backbone.layers.2."))
    }
    found |= {f"bert.{name}": tensor for name, tensor in _bert(bert, table).items()}
    stored = {}
    for name, tensor in found.items():
        if tensor.dim() == 2 and tensor.numel() > 100_000:
            stored[name], stored[name + SCALE] = to_int8_rows(tensor)
        else:
            stored[name] = tensor.half().contiguous()
    out.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, out)


def _bert(weights: dict[str, Tensor], table: Tensor) -> dict[str, Tensor]:
    """Return MiniLM's weights by the names of `Bert`, with the affine map that brings the table nearest to its own."""
    words = weights["embeddings.word_embeddings.weight"].float()
    mean, own_mean = table.mean(0), words.mean(0)
    gain = ((table - mean) * (words - own_mean)).sum(0) / (table - mean).pow(2).sum(0)
    found = {
        "gain": gain, "shift": own_mean - gain * mean,
        "position": weights["embeddings.position_embeddings.weight"][:256],
        "kind": weights["embeddings.token_type_embeddings.weight"],
        "norm.weight": weights["embeddings.LayerNorm.weight"], "norm.bias": weights["embeddings.LayerNorm.bias"],
    }  # fmt: skip
    n = 0
    while f"encoder.layer.{n}.output.dense.weight" in weights:
        layer = f"encoder.layer.{n}."
        for end in ("weight", "bias"):
            parts = [weights[f"{layer}attention.self.{name}.{end}"] for name in ("query", "key", "value")]
            found[f"layers.{n}.qkv.{end}"] = torch.cat(parts)
            for name, new in _BERT.items():
                found[f"layers.{n}.{new}.{end}"] = weights[f"{layer}{name}.{end}"]
        n += 1
    return found


def read(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file in float32."""
    stored = load_file(path)
    return {
        name: from_int8_rows(name, tensor, stored.get(name + SCALE)) if tensor.dtype == torch.int8 else tensor.float()
        for name, tensor in stored.items()
        if not name.endswith(SCALE)
    }


def build(
    design: str,
    n_layers: int,
    start: dict[str, Tensor],
    idf: Tensor,
    mamba: ModelConfig | None = None,
    marks: tuple[int, int] = BERT_MARKS,
) -> nn.Module:
    """Return a reader of a design with its first weights. `mamba`: the model's shape, for "carried"."""
    table = Table(start["table"], start["projection"], idf, marks)
    if design == "floor":
        return Floor(table)
    if design == "carried":
        if not isinstance(mamba, Mamba2Config):
            raise ModelError("a reader that carries a state needs a Mamba2")
        carried = Carried(replace(mamba, n_layers=n_layers))
        _fill(carried.mamba, _under(start, "mamba."))
        body: Bert | Carried = carried
    else:
        weights = _under(start, "bert.")
        d_mlp, d = weights["layers.0.up.weight"].shape
        body = Bert(n_layers, d, d_mlp, heads=d // 32)
        _fill(body, weights)
    d = start["table"].shape[1]
    if design == "late" and isinstance(body, Bert):
        return Late(table, body, d)
    return Cross(table, body, d)


def _under(start: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in start.items() if name.startswith(prefix)}


def _fill(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy weights into a module's parameters of the same names; deeper layers are left out."""
    own = dict(module.named_parameters())
    missing = [name for name in own if name not in weights and not name.startswith("embeddings.")]
    if missing:
        raise KeyError(f"no weights for {missing[:3]}")
    with torch.no_grad():
        for name, parameter in own.items():
            if name in weights:
                parameter.copy_(weights[name])
