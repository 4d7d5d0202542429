"""Random models of a few thousand weights, saved as checkpoints in every layout that is read, and tokenizers for them.

The weights are scaled so that decays range from "forgets in three tokens" to "remembers for thousands".
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor

from longsearch.engine.models.hub import WORLD_VOCABULARY
from longsearch.engine.papers.causal2vec.encoder import BidirectionalEncoder
from longsearch.engine.papers.causal2vec.token import ContextualToken

EOS = "<|endoftext|>"
BUNDLED = Path(__file__).parents[2] / "assets" / "model"
# GPT-2's pattern, as every byte-level BPE descends from it
GPT2_WORDS = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
PROSE = (Path(__file__).parents[2] / "LICENSE").read_text("utf-8")
"""Some 10,000 characters of English from a file that the repository has anyway."""


def tiny_config(**changes: Any) -> dict[str, Any]:
    """A config.json in Hugging Face's words; d_inner is 2 * hidden_size = num_heads * head_dim."""
    config: dict[str, Any] = {
        "model_type": "mamba2",
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "vocab_size": 400,
        "state_size": 8,
        "head_dim": 8,
        "num_heads": 4,
        "expand": 2,
        "n_groups": 1,
        "conv_kernel": 4,
        "chunk_size": 8,
        "layer_norm_epsilon": 1e-5,
        "use_bias": False,
        "use_conv_bias": True,
        "time_step_limit": [0.0, 1e30],
    }
    return config | changes


def state_spaces_config(config: dict[str, Any]) -> dict[str, Any]:
    """The same model in state-spaces' words."""
    return {
        "d_model": config["hidden_size"],
        "n_layer": config["num_hidden_layers"],
        "vocab_size": config["vocab_size"] - 3,  # padded to a multiple of 16 in the weights
        "pad_vocab_size_multiple": 16,
        "ssm_cfg": {
            "layer": "Mamba2",
            "d_state": config["state_size"],
            "headdim": config["head_dim"],
            "ngroups": config["n_groups"],
            "chunk_size": config["chunk_size"],
            "bias": config["use_bias"],
            "conv_bias": config["use_conv_bias"],
        },
    }


def random_tensors(config: dict[str, Any], seed: int = 0) -> dict[str, Tensor]:
    """Weights under Hugging Face's names, without a prefix, float32."""
    make = torch.Generator().manual_seed(seed)

    def normal(*shape: int, scale: float = 1.0, mean: float = 0.0) -> Tensor:
        return torch.randn(*shape, generator=make) * scale + mean

    width, heads, inner = config["hidden_size"], config["num_heads"], config["num_heads"] * config["head_dim"]
    channels = inner + 2 * config["n_groups"] * config["state_size"]
    tensors = {"embeddings.weight": normal(config["vocab_size"], width)}
    for layer in range(config["num_hidden_layers"]):
        prefix = f"layers.{layer}."
        rows = inner + channels + heads
        tensors |= {
            prefix + "mixer.in_proj.weight": normal(rows, width, scale=width**-0.5),
            prefix + "mixer.conv1d.weight": normal(channels, 1, config["conv_kernel"], scale=0.5),
            prefix + "mixer.dt_bias": normal(heads, mean=-2),
            prefix + "mixer.A_log": torch.rand(heads, generator=make) * 4 - 2,
            prefix + "mixer.D": normal(heads, mean=1),
            prefix + "mixer.norm.weight": normal(inner, scale=0.1, mean=1),
            prefix + "mixer.out_proj.weight": normal(width, inner, scale=inner**-0.5),
        }
        tensors |= {prefix + name: tensor for name, tensor in _around_the_mixer(config, normal)}
        if config["use_conv_bias"]:
            tensors[prefix + "mixer.conv1d.bias"] = normal(channels, scale=0.2)
        if config["use_bias"]:
            tensors[prefix + "mixer.in_proj.bias"] = normal(rows, scale=0.2)
            tensors[prefix + "mixer.out_proj.bias"] = normal(width, scale=0.2)
    if config.get("final_norm", True):
        tensors["norm_f.weight"] = normal(width, scale=0.1, mean=1)
    return tensors


def _around_the_mixer(config: dict[str, Any], normal: Callable[..., Tensor]) -> Iterator[tuple[str, Tensor]]:
    """A pre-norm, or two post-norms and an MLP."""
    width, inner = config["hidden_size"], config.get("intermediate_size")
    for name in ("norm",) if inner is None else ("mixer_norm", "mlp_norm"):
        yield f"{name}.weight", normal(width, scale=0.1, mean=1)
        if inner is not None:
            yield f"{name}.bias", normal(width, scale=0.2)
    if inner is not None:
        yield "mlp.up.weight", normal(inner, width, scale=width**-0.5)
        yield "mlp.up.bias", normal(inner, scale=0.2)
        yield "mlp.down.weight", normal(width, inner, scale=inner**-0.5)
        yield "mlp.down.bias", normal(width, scale=0.2)


def save_checkpoint(
    folder: Path, config: dict[str, Any], tensors: dict[str, Tensor], prefix: str = "backbone."
) -> Path:
    """Write config.json and model.safetensors; `readout.` tensors get no prefix."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    named = {name if name.startswith("readout.") else prefix + name: tensor for name, tensor in tensors.items()}
    save_file(named, folder / "model.safetensors")
    return folder


def save_embedder(
    folder: Path, readout: str, seed: int = 0, dim: int = 12, widths: tuple[float, ...] = (1.0,), **changes: Any
) -> Path:
    """A whole embedder of random weights with a byte-level BPE, as `Encoder.open` reads it."""
    tokenizer = byte_level_bpe()
    section: dict[str, Any] = {"readout": readout, "widths": list(widths)}
    section |= {"contextual": {"encoder_heads": 2}, "generative": {"soft_tokens": 3}}.get(readout, {})
    config = tiny_config(vocab_size=tokenizer.get_vocab_size(), longsearch=section, **changes)
    tensors = random_tensors(config, seed)
    if readout == "mean":
        make = torch.Generator().manual_seed(seed + 1)
        tensors["readout.projection.weight"] = torch.randn(dim, config["hidden_size"], generator=make)
        tensors["readout.token_log_weight"] = torch.randn(config["vocab_size"], generator=make)
    if readout == "contextual":
        tensors |= contextual_tensors(config["hidden_size"], seed + 1)
    if readout == "generative":
        make = torch.Generator().manual_seed(seed + 1)
        size = config["hidden_size"]
        tensors["readout.mixing.weight"] = torch.randn(size, size, generator=make) / size
        tensors["readout.bias"] = torch.randn(config["vocab_size"], generator=make)
    save_checkpoint(folder, config, tensors)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": EOS}), "utf-8")
    return folder


def contextual_tensors(d_model: int, seed: int) -> dict[str, Tensor]:
    """Random weights of the contextual readout, under their names in a checkpoint: two layers in the encoder."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        token = ContextualToken(BidirectionalEncoder(d_model, 2, 2, 3 * d_model))
        for parameter in token.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return {f"readout.{name}": tensor for name, tensor in token.state_dict().items()}


def byte_level_bpe(trim_offsets: bool = True) -> Tokenizer:
    """GPT-2's kind of tokenizer, trained on this repository's license; a fresh one each time, since it has settings."""
    tokenizer = Tokenizer.from_str(_trained_bpe())
    words = pre_tokenizers.Split(Regex(GPT2_WORDS), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=trim_offsets)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, level])
    if trim_offsets:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


@cache
def _trained_bpe() -> str:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=[EOS], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(_paragraphs(), trainer)
    return str(tokenizer.to_str())


def _paragraphs() -> Iterator[str]:
    yield from PROSE.split("\n\n")


def world_vocabulary(folder: Path, tokens: list[str]) -> Path:
    """A vocabulary in the format of RWKV's "World" tokenizer: all bytes, then `tokens` from id 257 on."""
    entries = [bytes([byte]) for byte in range(256)] + [token.encode() for token in tokens]
    lines = [f"{i} {_literal(entry)} {len(entry)}\n" for i, entry in enumerate(entries, 1)]
    path = folder / WORLD_VOCABULARY
    path.write_text("".join(lines), "utf-8")
    return path


def _literal(entry: bytes) -> str:
    try:
        return repr(entry.decode())
    except UnicodeDecodeError:
        return repr(entry)
