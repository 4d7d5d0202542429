"""`python -m engine.training label | distil | contrast | streams | smoke`"""

import sys

from engine.training.commands import run

if __name__ == "__main__":
    sys.exit(run())
