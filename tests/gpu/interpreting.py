"""Tells whether Triton's kernels are interpreted on the CPU. Import it before mamba-ssm."""

import os

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if INTERPRETED:
    # one configuration per kernel: without a GPU there is nothing to tune
    os.environ |= {"MAMBA_DETERMINISTIC": "1", "TRITON_CACHE_AUTOTUNING": "0"}
