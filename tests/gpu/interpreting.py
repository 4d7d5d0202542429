"""Says whether Triton's kernels are interpreted on the CPU. Import this module before mamba-ssm."""

import os

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if INTERPRETED:
    # use one configuration of each kernel: without a GPU there is nothing to tune
    os.environ |= {"MAMBA_DETERMINISTIC": "1", "TRITON_CACHE_AUTOTUNING": "0"}
