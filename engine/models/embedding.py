"""The table of token vectors, made so that loading a checkpoint stays quick."""

import torch
from torch import nn


def token_table(vocabulary: int, d_model: int) -> nn.Embedding:
    """An embedding (vocabulary, d_model), drawn from a normal distribution, unless it is a "meta" tensor.

    torch imports some 800 modules to draw random numbers that do not exist: most of the time of opening a model.
    """
    table = torch.empty(vocabulary, d_model)
    if not table.is_meta:
        nn.init.normal_(table)
    return nn.Embedding(vocabulary, d_model, _weight=table)
