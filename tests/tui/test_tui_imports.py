"""The app opens quickly: it imports nothing that is slow to load."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "tokenizers", "apsw", "numpy", "safetensors", "pypdfium2", "longsearch.engine.models")


def test_the_app_imports_no_model_store_or_extractor() -> None:
    program = f"import sys, longsearch.tui.app; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.strip() == "[]"
