"""The LoRA recipe of the paper on recurrent embeddings: Grantner et al., arXiv 2604.18199, appendix F.2.

`contrast --recipe paper` has these values as its defaults; other options of the command line still override them.
What appendix F.2 does not say stays as elsewhere here: AdamW's betas (0.9, 0.98), and gradients clipped to norm 1.
The paper's rate is for all its models but Mamba2 1.3B, which takes `--rate 2.4e-3` (F.3).
"""

from typing import Any, Final

_BATCH, _TOKENS = 2048, 512

PAPER: Final[dict[str, Any]] = {
    "lora": 16,  # r
    "alpha": 16.0,
    "base_bits": 4,  # QLoRA
    "dtype": "bfloat16",  # activations
    "rate": 4e-4,
    "weight_decay": 0.1,
    "schedule": "linear",
    "warm_up_steps": 100,
    "epochs": 1.0,
    "max_pairs": _BATCH,
    "batch_tokens": _BATCH * _TOKENS,  # no batch is smaller because its texts are long
    "accumulate": 32,  # 64 pairs are read at once; the gradient does not depend on this number
    "text_tokens": _TOKENS - 1,  # the end-of-sequence token is the last of 512
    "source_power": 1.0,  # a source is drawn as often as it has pairs
    "question_weight": 1.0,
    "mixed_lengths": True,
    "hard_share": 0.0,
    "one_way": True,  # equation 2; its temperature of .02 is the default
    "contrast_weight": 1.0,
    "without_teacher": True,
    "instruction_share": 1.0,  # section 3.1: all queries have an instruction
    "widths": (1.0,),
    "width_weights": (1.0,),
}
"""Values of the options of `contrast`, by name."""
