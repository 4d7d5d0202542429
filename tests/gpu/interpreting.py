"""Whether Triton's kernels are interpreted on the CPU; to be imported before mamba-ssm."""

import os

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if INTERPRETED:
    # one configuration of each kernel, since there is nothing to tune without a GPU
    os.environ |= {"MAMBA_DETERMINISTIC": "1", "TRITON_CACHE_AUTOTUNING": "0"}
