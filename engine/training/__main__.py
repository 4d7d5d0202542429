"""`python -m engine.training vocabulary | label | new | distil | contrast | streams | smoke`"""

import sys

from engine.training.commands import run

if __name__ == "__main__":
    sys.exit(run())
