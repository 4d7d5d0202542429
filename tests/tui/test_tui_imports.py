"""The app opens quickly: it imports nothing that is slow to load."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "tokenizers", "apsw", "numpy", "safetensors", "pypdfium2", "longsearch.engine.models")


def test_the_app_imports_no_model_store_or_extractor() -> None:
    program = f"import sys, longsearch.tui.app; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_opening_a_folder_imports_neither_the_store_nor_a_screen_that_comes_later(tmp_path: Path) -> None:
    program = (
        "import sys; from longsearch.app.commands.open import backend_of, preferences, root_to_open;"
        f"backend_of(str(root_to_open({str(tmp_path)!r})), None); import longsearch.tui.app; preferences();"
        f"late = {HEAVY!r} + ('filelock', 'longsearch.engine.store', 'longsearch.tui.screens.text_boxes');"
        "print([name for name in late if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=True
    )
    assert ended.stdout.strip() == "[]"
