"""The token embedding, built so that opening a model stays fast."""

import torch
from torch import nn


def token_table(vocabulary: int, d_model: int) -> nn.Embedding:
    """Return an embedding (vocabulary, d_model) with normally distributed weights; "meta" tensors stay empty.

    torch imports some 800 modules to initialise a "meta" tensor, which took most of the time of opening a model.
    """
    table = torch.empty(vocabulary, d_model)
    if not table.is_meta:
        nn.init.normal_(table)
    return nn.Embedding(vocabulary, d_model, _weight=table)
