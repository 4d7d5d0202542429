"""The designs of the reader, in torch: from the tokens of a query and a passage to the scores of its sentences.

    late      BERT's layers read query and passage apart; a sentence is scored by late interaction
    cross     one stack of the same layers reads [CLS] query [SEP] passage [SEP]
    carried   Mamba2's layers read the query, and from its state the passage
    floor     late interaction over the bundled table, nothing trained

All share the bundled model's table of token vectors, which is not trained.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.models.config import Mamba2Config
from longsearch.engine.models.mamba2 import Mamba2
from longsearch.engine.reader.layers import BERT_MARKS
from longsearch.engine.training.reader.batches import Batch

NO_SENTENCE = -1e4
"""The logit of a sentence that is not there."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a reader says of a batch."""

    sentences: Tensor
    """(batch, sentences), logits; -1e4 for one that is not there."""
    nothing: Tensor
    """(batch,): the logit of "no sentence answers", beside those of the sentences."""
    relevance: Tensor
    """(batch,): a logit, to rank passages by."""
    tokens: Tensor | None = None
    """(batch, window length): logits that the answer begins at a token, for designs that have them."""

    @property
    def answers(self) -> Tensor:
        """(batch,): the logit that some sentence answers."""
        return self.sentences.logsumexp(1) - self.nothing


class Layer(nn.Module):
    """One layer of BERT (Devlin et al. 2019), with a norm after each sum."""

    def __init__(self, d: int, d_mlp: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm, self.mlp_norm = nn.LayerNorm(d, 1e-12), nn.LayerNorm(d, 1e-12)
        self.up, self.down = nn.Linear(d, d_mlp), nn.Linear(d_mlp, d)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Take hidden (batch, length, d) and mask (batch, 1, 1, length); return hidden."""
        q, k, v = self.qkv(hidden).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        hidden = self.norm(hidden + F.dropout(self.out(mixed), self.dropout, self.training))
        added = F.dropout(self.down(F.gelu(self.up(hidden))), self.dropout, self.training)
        normed: Tensor = self.mlp_norm(hidden + added)
        return normed


class Bert(nn.Module):
    """BERT's first layers over the bundled table, which an affine map brings to the scale of BERT's own."""

    def __init__(self, n_layers: int, d: int = 384, d_mlp: int = 1536, heads: int = 12, dropout: float = 0.1) -> None:
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.position, self.kind = nn.Parameter(torch.zeros(256, d)), nn.Parameter(torch.zeros(2, d))
        self.norm, self.dropout = nn.LayerNorm(d, 1e-12), dropout
        self.layers = nn.ModuleList(Layer(d, d_mlp, heads, dropout) for _ in range(n_layers))

    def forward(self, vectors: Tensor, position: Tensor, kind: Tensor, mask: Tensor) -> Tensor:
        """Return hidden of vectors (batch, length, d); kinds are 0 in the query, 1 in the passage.

        The gradients of both tables are sums over the batch: `table[index]` would add 60,000 rows one after another.
        """
        hidden = vectors * self.gain + self.shift + F.embedding(position.clamp(0, 255), self.position)
        hidden = hidden + torch.lerp(self.kind[0], self.kind[1], kind[..., None].float())
        hidden = F.dropout(self.norm(hidden), self.dropout, self.training)
        for layer in self.layers:
            hidden = layer(hidden, mask[:, None, None])
        return hidden


class Table(nn.Module):
    """The bundled table of token vectors, and how much each token weighs in late interaction."""

    rows: Tensor
    projection: Tensor
    idf: Tensor

    def __init__(self, rows: Tensor, projection: Tensor, idf: Tensor, marks: tuple[int, int] = BERT_MARKS) -> None:
        """`marks`: the tokens that stand before and after a text."""
        super().__init__()
        self.marks = marks
        self.register_buffer("rows", rows.half(), persistent=False)
        self.register_buffer("projection", projection.float(), persistent=False)
        self.register_buffer("idf", idf.float(), persistent=False)


def late_interaction(near: Tensor, weight: Tensor, batch: Batch) -> Tensor:
    """Return (batch, sentences): the weighted mean over query tokens of the nearest token of the sentence.

    near (batch, length, query length), weight (batch, query length).
    """
    near = near.masked_fill(~batch.window_mask[..., None], -1.0)
    shape = (len(near), batch.n_sentences, near.shape[2])
    index = batch.sentence[..., None].expand(-1, -1, near.shape[2])
    top = torch.full(shape, -1.0, device=near.device, dtype=near.dtype).scatter_reduce(1, index, near, "amax")
    return (top * weight[:, None]).sum(2) / weight.sum(1, keepdim=True).clamp(min=0.1)


def sentence_sizes(batch: Batch) -> Tensor:
    """Return (batch, sentences): the number of tokens of each sentence."""
    zeros = torch.zeros(len(batch.window), batch.n_sentences, device=batch.window.device)
    return zeros.scatter_add(1, batch.sentence, batch.window_mask.float())


class Floor(nn.Module):
    """Late interaction over the bundled table: what needs no training."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self.table = table

    def forward(self, batch: Batch) -> Scores:
        """Return the scores; the answers' logit is that of the best sentence, but for a constant."""
        query, window = (self._vectors(ids) for ids in (batch.query, batch.window))
        near = late_interaction(window @ query.transpose(1, 2), self.table.idf[batch.query] * batch.query_mask, batch)
        sentences = (50 * near).masked_fill(sentence_sizes(batch) == 0, NO_SENTENCE)
        best = sentences.max(1).values
        return Scores(sentences, torch.zeros_like(best), best)

    def _vectors(self, ids: Tensor) -> Tensor:
        return F.normalize(self.table.rows[ids].float() @ self.table.projection.T, dim=2)


class Cross(nn.Module):
    """Reads query and passage together: by BERT's layers, or by Mamba2's, from the query's state."""

    def __init__(self, table: Table, body: "Bert | Carried", d: int = 384) -> None:
        super().__init__()
        self.table, self.body = table, body
        self.token, self.sentence, self.whole = nn.Linear(d, 1), nn.Linear(d, 1), nn.Linear(2 * d, 2)
        for layer in (self.sentence, self.whole):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.zeros_(self.token.bias)

    def forward(self, batch: Batch) -> Scores:
        """Return the scores of a batch."""
        ids, mask, position, kind = _side_by_side(batch, *self.table.marks)
        start = batch.query.shape[1] + 2  # where the passage begins
        hidden = self.body(self.table.rows[ids].float(), position, kind, mask)
        first = hidden[:, 0] if isinstance(self.body, Bert) else hidden[:, -1]
        return self._heads(batch, hidden[:, start : start + batch.window.shape[1]], first)

    def _heads(self, batch: Batch, hidden: Tensor, first: Tensor) -> Scores:
        sizes = sentence_sizes(batch)
        tokens = self.token(hidden)[..., 0].float().masked_fill(~batch.window_mask, NO_SENTENCE)
        top = tokens.max(1, keepdim=True).values.detach()
        zeros = torch.zeros(len(hidden), batch.n_sentences, hidden.shape[2], device=hidden.device, dtype=torch.float32)
        index = batch.sentence[..., None].expand_as(hidden)
        sums = zeros.scatter_add(1, index, (hidden * batch.window_mask[..., None]).float())
        mass = torch.zeros_like(sizes).scatter_add(1, batch.sentence, (tokens - top).exp() * batch.window_mask)
        mean = sums / sizes.clamp(min=1)[..., None]
        sentences = (mass + 1e-30).log() + top + self.sentence(mean)[..., 0].float()
        whole = sums.sum(1) / sizes.sum(1, keepdim=True).clamp(min=1)
        nothing, relevance = self.whole(torch.cat((first.float(), whole), 1)).float().unbind(1)
        return Scores(sentences.masked_fill(sizes == 0, NO_SENTENCE), nothing, relevance, tokens)


class Carried(nn.Module):
    """The bundled Mamba2's first layers. They read the query and then, from its state, the passage."""

    def __init__(self, config: Mamba2Config, dropout: float = 0.1) -> None:
        super().__init__()
        self.mamba, self.dropout = Mamba2(config), dropout
        self.mamba.embeddings = nn.Embedding(1, 1)  # the table is shared
        self.mamba.embeddings.requires_grad_(False)

    def forward(self, vectors: Tensor, position: Tensor, kind: Tensor, mask: Tensor) -> Tensor:
        """Return hidden of vectors. A query's padding is taken out, so that it is no part of the state."""
        order = torch.argsort((~mask).to(torch.uint8), dim=1, stable=True)[..., None].expand_as(vectors)
        vectors = F.dropout(vectors, self.dropout, self.training)
        hidden, _ = self.mamba.step_embedded(vectors.gather(1, order), self.mamba.initial_state(len(vectors)))
        return torch.zeros_like(hidden).scatter(1, order, hidden)


class Late(nn.Module):
    """Reads query and passage apart, by the same layers; sentences are scored by late interaction."""

    def __init__(self, table: Table, body: Bert, d: int = 384) -> None:
        super().__init__()
        self.table, self.body = table, body
        self.weight, self.threshold, self.project = nn.Linear(d, 1), nn.Linear(d, 1), nn.Linear(d, d, bias=False)
        nn.init.eye_(self.project.weight)
        for layer in (self.weight, self.threshold):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.mix = nn.Parameter(torch.tensor([14.0, 9.0, 7.0]))

    def forward(self, batch: Batch) -> Scores:
        """Return the scores of a batch."""
        query = self._read(batch.query, batch.query_mask, 0)
        window = self._read(batch.window, batch.window_mask, 1)
        own = query[:, 1:-1]
        weight = self.table.idf[batch.query] * batch.query_mask * self.weight(own)[..., 0].float().exp()
        near = self._unit(window[:, 1:-1]) @ self._unit(own).transpose(1, 2)
        near = near.float()
        there = sentence_sizes(batch) > 0
        score = late_interaction(near, weight, batch)
        passage = near.masked_fill(~batch.window_mask[..., None], -1).max(1).values
        passage = (passage * weight).sum(1) / weight.sum(1).clamp(min=0.1)
        sentences = (self.mix[0] * score).masked_fill(~there, NO_SENTENCE)
        relevance = self.mix[0] * score.masked_fill(~there, -1).max(1).values + self.mix[2] * passage
        return Scores(sentences, self.mix[1] + self.threshold(query[:, 0])[:, 0].float(), relevance)

    def _unit(self, hidden: Tensor) -> Tensor:
        return F.normalize(self.project(hidden).float(), dim=2)

    def _read(self, ids: Tensor, mask: Tensor, kind: int) -> Tensor:
        """Return hidden of [CLS] tokens [SEP]; padding stands before [SEP]."""
        cls, sep = self.table.marks
        ids = F.pad(F.pad(ids, (1, 0), value=cls), (0, 1), value=sep)
        mask = F.pad(mask, (1, 1), value=True)
        position = mask.cumsum(1) - 1
        hidden: Tensor = self.body(
            self.table.rows[ids].float(), position, torch.full((1, 1), kind).to(ids.device), mask
        )
        return hidden


def _side_by_side(batch: Batch, cls: int, sep: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, mask, positions and kinds of [CLS] query [SEP] passage [SEP]; padding is masked, without one."""
    ids = torch.cat(
        (F.pad(F.pad(batch.query, (1, 0), value=cls), (0, 1), value=sep), F.pad(batch.window, (0, 1), value=sep)), 1
    )
    mask = torch.cat((F.pad(batch.query_mask, (1, 1), value=True), F.pad(batch.window_mask, (0, 1), value=True)), 1)
    kind = torch.zeros_like(ids)
    kind[:, batch.query.shape[1] + 2 :] = 1
    return ids, mask, mask.cumsum(1) - 1, kind
