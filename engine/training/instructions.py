"""What may stand in front of a query, for each kind of pair: `Instruction: {prompt}\\nQuery: {text}`. Queries only."""

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from engine.models.config import INSTRUCTION_TEMPLATE

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
    """The prompts that fit a kind of pair, the general ones among them."""
    return GENERAL + next((prompts for prefix, prompts in BY_KIND.items() if kind.startswith(prefix)), ())


class Prompter:
    """Puts instructions in front of a share of the queries, as token ids."""

    def __init__(self, tokenizer: Tokenizer, share: float) -> None:
        """`share` of the batches get an instruction, one for the whole batch, as a person's searches would."""
        self._tokenizer = tokenizer
        self._share = share
        prefix, text = INSTRUCTION_TEMPLATE.format(prompt=GENERAL[0], text=""), "harbour"
        # WordPiece splits at spaces first; a byte-level BPE takes the space to the word after it
        self._ids_can_be_joined = self._encode(prefix + text) == self._encode(prefix) + self._encode(text)

    def __call__(self, queries: list[NDArray[np.int64]], kind: str, seed: int, step: int) -> list[NDArray[np.int64]]:
        """The queries' ids, with or without an instruction before them: as the whole text's would be."""
        random = np.random.default_rng([seed, step, 2])
        if random.random() >= self._share:
            return queries
        prompt = str(random.choice(prompts_for(kind)))
        prefix = INSTRUCTION_TEMPLATE.format(prompt=prompt, text="")
        if self._ids_can_be_joined:
            ids = np.array(self._encode(prefix), dtype=np.int64)
            return [np.concatenate((ids, query)) for query in queries]
        texts = [self._tokenizer.decode(query.tolist(), skip_special_tokens=False) for query in queries]
        return [np.array(self._encode(prefix + text.removeprefix(" ")), dtype=np.int64) for text in texts]

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids
