"""Makes a model to start from: layers of a BERT with Mamba2 mixers in place of attention.

The student copies the teacher's token vectors and MLPs, and the value and output projections of its attention. Only
which tokens are added to which has to be learnt. After 0.9M tokens of distillation, a student of four of MiniLM's six
layers was as good as a static start after 43M (73.7 and 73.1 nDCG@10, mean of four sets; the teacher 84.2). The idea is
that of MOHAWK (Bick et al., arXiv 2408.10189) and of "Mamba in the Llama" (Wang et al., arXiv 2408.15237). The queries
and keys of attention are not used: under a causal mask they did not help. This module reads and writes no files.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2, Mamba2Mixer, PostNormBlock
from longsearch.engine.training.student.initialise import inverse_softplus

_POSITIONS = slice(1, 100)  # the student gets their mean: a recurrent model has no positions
_DT_MIN, _DT_MAX = 5e-3, 3e-1  # the first head remembers longest, as every width includes it
_GATE_BIAS = 1.5  # opens the gates, which are still untrained
_SMALL = 0.1  # factor of the usual initial weights, for projections that should change little at first
_NORM = 0.3  # initial weight of the gated norm
_GELU_SLOPE = 1.702  # GELU(x) is nearly x sigmoid(1.702 x) (Hendrycks and Gimpel 2016), so hardswish(1.702 x) / 1.702


def config_like(bert: Any, n_layers: int, d_state: int = 64, head_dim: int = 48) -> Mamba2Config:
    """Return the shape of a student of `bert`, a transformers BertModel; its mixers are as wide as attention."""
    c = bert.config
    return Mamba2Config(
        c.hidden_size, n_layers, c.vocab_size, d_state, head_dim, c.hidden_size // head_dim, gated_norm_groups=1,
        block_size=64, norm_eps=1e-6, dt_max=1.0, use_bias=True, final_norm=False, d_mlp=c.intermediate_size,
    )  # fmt: skip


@torch.no_grad()
def student_of(bert: Any, config: Mamba2Config, layers: Sequence[int], sample: Tensor, seed: int) -> Mamba2:
    """Return a Mamba2 of shape `config` made from `layers` of `bert`.

    The MLP channels that matter most for `sample`, token ids (batch, length), come first, so narrower widths keep them.
    """
    importance = _importance(bert, layers, sample)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Mamba2(config)
        for block, layer, order in zip(model.layers, layers, importance, strict=True):
            _copy_block(cast(PostNormBlock, block), bert.encoder.layer[layer], order)
    e = bert.embeddings
    positions = e.position_embeddings.weight[_POSITIONS].mean(0)
    model.embeddings.weight.copy_(e.LayerNorm(e.word_embeddings.weight + positions + e.token_type_embeddings.weight[0]))
    return model


@torch.no_grad()
def centre(model: Mamba2, texts: Sequence[Tensor]) -> None:
    """Subtract the mean hidden state of `texts`, each of token ids (length,), from all hidden states of `model`.

    A student of a centred teacher starts centred with it. The last norm's bias takes the mean; no other weight changes.
    """
    means = torch.stack([model(text[None])[0].mean(0) for text in texts])
    cast(PostNormBlock, model.layers[-1]).mlp_norm.bias.sub_(means.mean(0))


def _copy_block(block: PostNormBlock, bert_layer: Any, order: Tensor) -> None:
    block.mixer_norm.load_state_dict(bert_layer.attention.output.LayerNorm.state_dict())
    block.mlp_norm.load_state_dict(bert_layer.output.LayerNorm.state_dict())
    block.mlp.up.weight.copy_(bert_layer.intermediate.dense.weight[order] * _GELU_SLOPE)
    block.mlp.up.bias.copy_(bert_layer.intermediate.dense.bias[order] * _GELU_SLOPE)
    block.mlp.down.weight.copy_(bert_layer.output.dense.weight[:, order] / _GELU_SLOPE)
    block.mlp.down.bias.copy_(bert_layer.output.dense.bias)
    _initialise_mixer(block.mixer, bert_layer.attention)


def _importance(bert: Any, layers: Sequence[int], sample: Tensor) -> list[Tensor]:
    """Return each layer's MLP channels, sorted by how much they add to the sum: mean |activation| times |column|."""
    activity: dict[int, Tensor] = {}

    def keep(layer: int, activations: Tensor) -> None:
        activity[layer] = activations.abs().flatten(0, -2).mean(0)

    hooks = [
        bert.encoder.layer[layer].intermediate.register_forward_hook(lambda _m, _i, out, layer=layer: keep(layer, out))
        for layer in layers
    ]
    bert(input_ids=sample)
    for hook in hooks:
        hook.remove()
    return [
        torch.argsort(activity[layer] * bert.encoder.layer[layer].output.dense.weight.norm(dim=0), descending=True)
        for layer in layers
    ]


def _initialise_mixer(mixer: Mamba2Mixer, attention: Any) -> None:
    """Copy attention's values to x and its output to out_proj; B, C are random, the convolution near the identity."""
    c = mixer.config
    inner, values, out = c.d_inner, attention.self.value, attention.output.dense
    in_proj, in_bias = mixer.in_proj.weight, mixer.in_proj.bias
    nn.init.normal_(in_proj, std=1 / math.sqrt(c.d_model))
    nn.init.zeros_(in_bias)
    in_proj[:inner] *= _SMALL
    in_bias[:inner] = _GATE_BIAS
    in_proj[inner : 2 * inner] = values.weight
    in_bias[inner : 2 * inner] = values.bias
    in_proj[-c.n_heads :] *= _SMALL
    nn.init.normal_(mixer.conv1d.weight, std=0.02)
    mixer.conv1d.weight[..., -1] += 1
    if mixer.conv1d.bias is not None:
        nn.init.zeros_(mixer.conv1d.bias)
    dt = torch.exp(torch.linspace(math.log(_DT_MIN), math.log(_DT_MAX), c.n_heads))
    mixer.dt_bias.copy_(inverse_softplus(dt))
    nn.init.zeros_(mixer.A_log)
    nn.init.constant_(mixer.norm.weight, _NORM)
    mixer.out_proj.load_state_dict(out.state_dict())
