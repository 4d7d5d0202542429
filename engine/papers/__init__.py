"""PAPERS: what the five papers have and the shipped models do not need, one room for each paper.

The shipped models are Mamba2 with the readout `mean`. `engine.inference.registry` opens a model of the papers, and
imports these rooms only then. docs/papers.md has the formulas, their tests, and what was measured.

| paper | here | elsewhere |
| --- | --- | --- |
| recurrent embeddings | `recurrent`: RWKV-7, xLSTM, readout `eos` | `engine.readouts` (chunks), `engine.models.ops` |
| Causal2Vec | `causal2vec`: the contextual token and its readout | |
| GIRCSE | `gircse`: soft tokens and their readout | |
| MatMamba | | `engine.models.matmamba`, `engine.models.without_torch.heads`: the widths ship |
| LongEmbed | | `engine.evaluation.longembed`, `engine.evaluation.extension` |

`engine.training.papers` trains them.
"""
