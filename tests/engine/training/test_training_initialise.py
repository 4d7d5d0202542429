"""A new model reads, and its blocks add nothing yet."""

import torch

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.training.data.shards import load_pairs, write_shards
from longsearch.engine.training.student.initialise import new_model, token_counts
from tests.engine.training.training_helpers import make_pairs, make_tokenizer


def test_the_blocks_of_a_new_model_add_nothing_and_have_dt_between_a_thousandth_and_a_tenth():
    config = Mamba2Config(16, 2, 30, 8, 4, 8, gated_norm_groups=1, block_size=8, final_norm=False)
    model = new_model(config, seed=0)
    tokens = torch.arange(30)[None]
    assert torch.equal(model(tokens), model.embeddings(tokens))
    dt = torch.nn.functional.softplus(model.layers[0].mixer.dt_bias)
    assert (dt >= 0.99e-3).all() and (dt <= 0.101).all()
    assert torch.equal(new_model(config, 0).layers[1].mixer.A_log, model.layers[1].mixer.A_log)


def test_token_counts_are_those_of_the_shards(tmp_path):
    write_shards(make_pairs(50), make_tokenizer(), tmp_path)
    counts = token_counts(load_pairs(tmp_path, make_tokenizer(), False), make_tokenizer().get_vocab_size())
    assert counts.sum() == sum(len((p.query + " " + p.passage).split()) for p in make_pairs(50))
