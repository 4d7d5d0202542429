"""The models that `gpu.py` times. Their random weights are made on the device: speed does not depend on training."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """The shape of a transformer decoder. The defaults are those of Mistral-7B."""

    n_layers: int = 32
    d_model: int = 4096
    n_heads: int = 32
    n_kv_heads: int = 8
    d_ffn: int = 14336
    vocab_size: int = 32000


CONFIGS: dict[str, Mamba2Config | DecoderConfig] = {
    # state-spaces/mamba2-1.3b, and its embedder dynatrace-oss/llama-embed-mamba2-1.3b
    "Mamba2 1.3B": Mamba2Config(d_model=2048, n_layers=48, vocab_size=50288, n_heads=64, gated_norm_groups=1),
    "Transformer 7B": DecoderConfig(),
    # mistralai/Mamba-Codestral-7B-v0.1, and dynatrace-oss/llama-embed-mamba2-7b
    "Mamba2 7B": Mamba2Config(
        d_model=4096, n_layers=64, vocab_size=32768, n_heads=128, n_groups=8, gated_norm_groups=8
    ),
}
SMOKE_CONFIGS: dict[str, Mamba2Config | DecoderConfig] = {
    "Mamba2 1.3B": Mamba2Config(
        d_model=32, n_layers=2, vocab_size=100, n_heads=4, head_dim=16, d_state=16, gated_norm_groups=1, block_size=16
    ),
    "Mamba2 7B": Mamba2Config(
        d_model=32, n_layers=2, vocab_size=100, n_heads=8, head_dim=8, d_state=16, n_groups=2, gated_norm_groups=2,
        block_size=16,
    ),
    "Transformer 7B": DecoderConfig(n_layers=2, d_model=32, n_heads=4, n_kv_heads=2, d_ffn=64, vocab_size=100),
}  # fmt: skip


def make(config: Mamba2Config | DecoderConfig, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """Make a model of shape `config` directly on the device."""
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)  # 7 billion float32 weights would need 28 GB before rounding
    try:
        with torch.device(device), torch.no_grad():
            model = Decoder(config) if isinstance(config, DecoderConfig) else Mamba2(config)
    finally:
        torch.set_default_dtype(torch.float32)
    if isinstance(model, Mamba2):
        with torch.no_grad():
            for layer in model.layers:  # as Mamba2 is initialised: dt of 0.001 to 0.1, A of -1 to -16
                layer.mixer.dt_bias.uniform_(-6.9, -2.3)
                layer.mixer.A_log.uniform_(0, 2.77)
    return model.eval().requires_grad_(False)


def read(model: nn.Module, tokens: Tensor, vertical_size: int) -> Tensor:
    """Return the last hidden states (batch, d_model) of tokens (batch, length).

    An embedder needs no more, so there is no product with the vocabulary. A Mamba2 reads `vertical_size` tokens at a
    time, a transformer reads all at once.
    """
    with torch.inference_mode():
        if not isinstance(model, Mamba2):
            hidden: Tensor = model(tokens)
            return hidden[:, -1]
        state = model.initial_state(len(tokens))
        for slice_ids in tokens.split(vertical_size, 1):
            hidden, state = model.step(slice_ids, state)
        return hidden[:, -1]


def flops_per_token(model: nn.Module) -> int:
    """Return 2 operations per weight of the linear layers. Scan, attention, convolution and norms are not counted."""
    return 2 * sum(m.weight.numel() for m in model.modules() if isinstance(m, nn.Linear))


class Decoder(nn.Module):
    """The prefill of a transformer decoder: RMSNorm, rotary positions, grouped queries, SwiGLU, torch's attention."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocab_size, config.d_model)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.norm = nn.RMSNorm(config.d_model, 1e-5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Read tokens (batch, length). Returns hidden states (batch, length, d_model)."""
        hidden = self.embeddings(tokens)
        half = self.config.d_model // self.config.n_heads // 2
        position = torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float32)
        rates = 1e6 ** (-torch.arange(half, device=tokens.device, dtype=torch.float32) / half)
        angles = (position[:, None] * rates).repeat(1, 2)  # (length, head_dim)
        rotary = angles.cos().to(hidden.dtype), angles.sin().to(hidden.dtype)
        for layer in self.layers:
            hidden = layer(hidden, rotary)
        out: Tensor = self.norm(hidden)
        return out


class DecoderLayer(nn.Module):
    """Attention, then SwiGLU, each with a residual sum. Projections of the same input are one product."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = c = config
        self.head_dim = c.d_model // c.n_heads
        self.norm_in, self.norm_ffn = nn.RMSNorm(c.d_model, 1e-5), nn.RMSNorm(c.d_model, 1e-5)
        self.qkv = nn.Linear(c.d_model, (c.n_heads + 2 * c.n_kv_heads) * self.head_dim, bias=False)
        self.out = nn.Linear(c.d_model, c.d_model, bias=False)
        self.gate_up = nn.Linear(c.d_model, 2 * c.d_ffn, bias=False)
        self.down = nn.Linear(c.d_ffn, c.d_model, bias=False)

    def forward(self, hidden: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        """Map hidden states (batch, length, d_model) to hidden states of the same shape."""
        c = self.config
        qkv = self.qkv(self.norm_in(hidden)).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        q, k, v = qkv.split((c.n_heads, c.n_kv_heads, c.n_kv_heads), 1)  # (batch, heads, length, head_dim)
        mixed = F.scaled_dot_product_attention(
            _rotate(q, *rotary), _rotate(k, *rotary), v, is_causal=True, enable_gqa=True
        )
        hidden = hidden + self.out(mixed.transpose(1, 2).flatten(2))
        gate, up = self.gate_up(self.norm_ffn(hidden)).chunk(2, -1)
        out: Tensor = hidden + self.down(F.silu(gate) * up)
        return out


def _rotate(t: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = t.chunk(2, -1)
    return t * cos + torch.cat((-second, first), -1) * sin
