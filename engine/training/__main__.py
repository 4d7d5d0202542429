"""`python -m longsearch.engine.training COMMAND`: the training commands, see `--help`."""

import sys

from longsearch.engine.training.commands import run

if __name__ == "__main__":
    sys.exit(run())
