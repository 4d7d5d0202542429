"""Two students that are MiniLM with a longer context: one learns new positions, one learns rotary positions.

LongEmbed (Zhu et al., arXiv 2404.12096), section 4.2 "Further Tuning" and appendices A and B. They are baselines of
the evaluation, which reads their checkpoints; the product does not.
"""

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from longsearch.engine.evaluation.embedders.minilm import MiniLM
from longsearch.engine.evaluation.extension.bert import Bert, mean_of, plain_attention
from longsearch.engine.evaluation.extension.positions import interpolated_table, is_original_row
from longsearch.engine.evaluation.extension.rotary import frequencies, rotary_attention
from longsearch.engine.training.papers.rotary_start import turn_least
from longsearch.engine.training.student.student import Padded, Rates, Trainable


class Extended(Trainable):
    """MiniLM, whose texts are read between [CLS] and [SEP]. Subclasses say how."""

    def __init__(self, minilm: MiniLM) -> None:
        super().__init__()
        self._marks = minilm.cls, minilm.sep

    def marked(self, texts: Padded) -> Padded:
        """Put [CLS] before each text and [SEP] after it."""
        (cls, sep), n = self._marks, len(texts.tokens)
        tokens = torch.cat((texts.tokens.new_full((n, 1), cls), texts.tokens, texts.tokens.new_zeros(n, 1)), dim=1)
        ends = texts.mask.sum(1).long() + 1
        tokens[torch.arange(n, device=tokens.device), ends] = sep
        mask = (torch.arange(tokens.shape[1], device=tokens.device) <= ends[:, None]).to(texts.mask.dtype)
        return Padded(tokens, mask)


class NewPositions(Extended):
    """MiniLM with L_t positions, of which only the new ones learn: texts of 512 tokens keep their vectors exactly."""

    def __init__(self, minilm: MiniLM, length: int) -> None:
        """Start from interpolated positions; `length` is L_t in tokens."""
        super().__init__(minilm)
        self.bert = Bert(minilm.model).requires_grad_(False)
        self.length, self.original = length, len(self.bert.table)
        self._start = interpolated_table(self.bert.table.detach().float(), length)
        new = ~torch.from_numpy(is_original_row(length, self.original))
        self._rows = torch.nonzero(new)[:, 0].to(self._start.device)
        self.new = nn.Parameter(self._start[self._rows])

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.new.device

    def table(self) -> Tensor:
        """Return all positions (L_t, d): those of the model, frozen, and the new ones."""
        return self._start.index_put((self._rows,), self.new)

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d) of texts at the model's own positions."""
        marked = self.marked(texts)
        steps = torch.arange(marked.tokens.shape[1], device=self.device) * (self.length // self.original)
        return self._vectors(marked, self.table()[steps])

    def skipped(self, texts: Padded, starts: Tensor) -> Tensor:
        """Return unit vectors (batch, d) of texts whose positions begin at starts (batch,), as in a long text."""
        marked = self.marked(texts)
        places = starts[:, None] + torch.arange(marked.tokens.shape[1], device=self.device)
        return self._vectors(marked, self.table()[places])

    def _vectors(self, texts: Padded, positions: Tensor) -> Tensor:
        return F.normalize(mean_of(self.bert(texts.tokens, texts.mask, positions, plain_attention), texts.mask), dim=-1)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return the new rows, at the blocks' rate."""
        return [{"params": [self.new], "lr": rates.blocks, "weight_decay": 0.0}]

    def tensors(self) -> dict[str, Tensor]:
        """Return all positions."""
        return {"positions": self.table()}

    def trained(self) -> dict[str, Tensor]:
        """Return the new rows."""
        return {"new": self.new.detach()}

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Load what `trained` returned. Raises RuntimeError if it belongs to another length."""
        with torch.no_grad():
            self.new.copy_(state["new"])


class Rotary(Extended):
    """MiniLM with rotary positions instead of its table. All weights but the tokens' vectors learn."""

    def __init__(self, minilm: MiniLM, sample: Padded) -> None:
        """Start from MiniLM's weights.

        [CLS] always stood at position 0, so its vector gets that row, which is five times as long as the others; all
        other tokens get the mean of the other rows. With these and no positions, passages have a cosine of .83 to
        MiniLM's vectors; without them .74. `sample`: texts that choose the coordinates of queries and keys.
        """
        super().__init__(minilm)
        self.bert = Bert(deepcopy(minilm.model)).requires_grad_(True)
        self._choose_coordinates(self.marked(sample))
        embeddings = self.bert.model.embeddings
        table, types = embeddings.position_embeddings.weight, embeddings.token_type_embeddings.weight
        with torch.no_grad():
            mean = table[1:].mean(0)
            types[0] += mean
            embeddings.word_embeddings.weight[minilm.cls] += table[0] - mean
            table.zero_()
        for frozen in (table, types, embeddings.word_embeddings.weight):
            frozen.requires_grad_(False)
        config = self.bert.model.config
        self._attention = rotary_attention(frequencies(config.hidden_size // config.num_attention_heads))

    @torch.no_grad()
    def _choose_coordinates(self, texts: Padded) -> None:
        read = self.bert.states(texts.tokens, texts.mask, self.bert.table[: texts.tokens.shape[1]], plain_attention)
        *inputs, _ = [hidden[texts.mask > 0] for hidden in read]
        for layer, seen in zip(self.bert.model.encoder.layer, inputs, strict=True):
            turn_least(layer, seen)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.bert.table.device

    def hidden(self, texts: Padded) -> Tensor:
        """Return the last hidden states (batch, n, d) of texts with their marks."""
        hidden: Tensor = self.bert(texts.tokens, texts.mask, None, self._attention)
        return hidden

    def forward(self, texts: Padded, width: float = 1.0) -> Tensor:
        """Return unit vectors (batch, d) of texts."""
        marked = self.marked(texts)
        return F.normalize(mean_of(self.hidden(marked), marked.mask), dim=-1)

    def groups(self, rates: Rates) -> list[dict[str, Any]]:
        """Return all weights that learn, at the blocks' rate."""
        params = [p for name, p in self.bert.named_parameters() if p.requires_grad and "pooler" not in name]
        return [{"params": params, "lr": rates.blocks, "weight_decay": 0.0}]

    def tensors(self) -> dict[str, Tensor]:
        """Return all weights by the names of transformers."""
        weights: dict[str, Tensor] = self.bert.model.state_dict()
        return weights

    def trained(self) -> dict[str, Tensor]:
        """Return all weights but the tokens' vectors."""
        return {name: t for name, t in self.bert.model.state_dict().items() if "word_embeddings" not in name}

    def load_trained(self, state: dict[str, Tensor]) -> None:
        """Load what `trained` returned. Raises ValueError if it belongs to another model."""
        missing, unknown = self.bert.model.load_state_dict(state, strict=False)
        if unknown or any("word_embeddings" not in name for name in missing):
            raise ValueError("its weights are those of another model")
