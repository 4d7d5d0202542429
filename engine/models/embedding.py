"""Makes the table of token vectors without slowing down the loading of a checkpoint."""

import torch
from torch import nn


def token_table(vocabulary: int, d_model: int) -> nn.Embedding:
    """Return an embedding (vocabulary, d_model), drawn from a normal distribution unless it is a "meta" tensor.

    To draw numbers for a "meta" tensor, torch imports some 800 modules. That takes most of the time of opening a model.
    """
    table = torch.empty(vocabulary, d_model)
    if not table.is_meta:
        nn.init.normal_(table)
    return nn.Embedding(vocabulary, d_model, _weight=table)
