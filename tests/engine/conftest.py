"""Puts this folder on the import path, so that every test of the engine can build `tiny_models`."""

import torch

torch.set_num_threads(1)  # tiny models: two threads cost more in barriers than they save
