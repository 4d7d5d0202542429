"""Instructions in front of queries, by kind of pair: `Instruction: {prompt}\\nQuery: {text}`. Passages get none."""

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from longsearch.engine.models.readout_config import INSTRUCTION_TEMPLATE

GENERAL = ("Find passages that are relevant to the query", "Retrieve the text that this query is about")
BY_KIND = {
    "title2": ("Given a title, find the text it belongs to", "Find the document with this title"),
    "heading2": ("Given a heading, find the section below it", "Find the section that this heading announces"),
    "question2": ("Given a question, find passages that answer it", "Find the passage that answers the question"),
    "ict": ("Given a sentence, find the passage it was taken from", "Find the surroundings of this sentence"),
    "definition2": ("Given a definition, find the paragraph that explains it",),
    "desc2": ("Given a description, find the page it describes",),
    "task2": ("Given a task, find the command that does it",),
    "comment2": ("Given what code is for, find the code",),
    "summary": ("Find the summary of this topic",),
}


def prompts_for(kind: str) -> tuple[str, ...]:
    """Return the prompts that fit a kind of pair, including the general ones."""
    return GENERAL + next((prompts for prefix, prompts in BY_KIND.items() if kind.startswith(prefix)), ())


class Prompter:
    """Puts instructions, as token ids, in front of a share of the queries."""

    def __init__(self, tokenizer: Tokenizer, share: float) -> None:
        """A share `share` of the batches get an instruction, the same for the whole batch."""
        self._tokenizer = tokenizer
        self._share = share
        prefix, text = INSTRUCTION_TEMPLATE.format(prompt=GENERAL[0], text=""), "harbour"
        # WordPiece splits at spaces first; byte-level BPE joins a space to the next word
        self._ids_can_be_joined = self._encode(prefix + text) == self._encode(prefix) + self._encode(text)

    def __call__(self, queries: list[NDArray[np.int64]], kind: str, seed: int, step: int) -> list[NDArray[np.int64]]:
        """Return the ids of the queries, with the instruction in front if the batch gets one.

        The ids are those of the whole text, instruction and query, tokenized at once."""
        prefix = self._prefix(kind, seed, step)
        if not prefix:
            return queries
        if self._ids_can_be_joined:
            ids = np.array(self._encode(prefix), dtype=np.int64)
            return [np.concatenate((ids, query)) for query in queries]
        texts = [self._tokenizer.decode(query.tolist(), skip_special_tokens=False) for query in queries]
        return [np.array(self._encode(prefix + text.removeprefix(" ")), dtype=np.int64) for text in texts]

    def n_tokens(self, kind: str, seed: int, step: int) -> int:
        """Count the tokens of the instruction that a call with the same arguments puts in front; 0 if none."""
        return len(self._encode(self._prefix(kind, seed, step).rstrip(" ")))

    def _prefix(self, kind: str, seed: int, step: int) -> str:
        """Return the text in front of each query of a batch; "" if it gets none."""
        random = np.random.default_rng([seed, step, 2])
        if random.random() >= self._share:
            return ""
        return INSTRUCTION_TEMPLATE.format(prompt=str(random.choice(prompts_for(kind))), text="")

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids
