"""`python -m longsearch.engine.evaluation DIR...`"""

import sys

from longsearch.engine.evaluation.run import run

if __name__ == "__main__":
    sys.exit(run())
