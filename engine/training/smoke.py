"""A training from nothing in seconds, on data it makes itself: does the whole pipeline still learn?

Queries and passages of a topic share no word, so a model that has learnt nothing ranks by chance, and words help none.
Knows no teacher: InfoNCE alone, then streams.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from engine.evaluation.datasets import Dataset, EvalDocument, EvalQuery
from engine.evaluation.run import MODES, score_modes
from engine.inference.encoder import Encoder
from engine.inference.tokens import TextTokenizer
from engine.training.data import LongDocument, Pair
from engine.training.initialise import Shape, StaticStart, new_checkpoint
from engine.training.instructions import Prompter
from engine.training.loop import LoopOptions, run
from engine.training.optimiser import Rates
from engine.training.saving import load_student
from engine.training.shards import load_pairs, write_shards
from engine.training.stages import Contrast, PairOptions
from engine.training.streams import Streams, StreamOptions, prepare

_TOPICS, _WORDS = 24, 10
_SHAPE = Shape(d_model=64, n_layers=2, d_state=16, head_dim=16, n_heads=8, block_size=16)
