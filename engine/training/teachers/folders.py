"""Writes and reads a teacher's folder in Hugging Face's layout."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor


def save_bert(folder: Path, config: dict[str, Any], tensors: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    """Write a BertModel's config.json, model.safetensors in float32, and tokenizer.json to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu"} | config
    (folder / "config.json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(
        {name: t.float().contiguous() for name, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"}
    )
