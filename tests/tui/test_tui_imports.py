"""The app opens quickly: its first frame imports, mounts and styles nothing that it does not show.

Counted, because a clock tells little on a busy machine. `tests/bench/app.py` measures the seconds.
"""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "tokenizers", "apsw", "numpy", "safetensors", "pypdfium2", "longsearch.engine.models")
LATE = (
    *HEAVY,
    "filelock",
    "tomllib",
    "longsearch.engine.quantities",
    "longsearch.engine.store",
    "longsearch.engine.types.results",
    "longsearch.tui.palette",
    "longsearch.tui.screens.reading_pane",
    "longsearch.tui.screens.text_boxes",
    "longsearch.tui.widgets.result_pane",
)
"""Each is needed after the first frame at the earliest."""
FIRST_FRAME = """
import json, sys
from dataclasses import is_dataclass
from longsearch.app.cli import build_parser
from longsearch.app.commands.open import backend_of, preferences, root_to_open
from longsearch.app.models.cards import tell_once

build_parser(["open"])
tell_once()
backend, _ = backend_of(str(root_to_open(sys.argv[1])), None)
from longsearch.tui.app import LongsearchApp
from longsearch.tui.screens.main import MainScreen

async def leave(screen):
    widgets, rules = list(screen.walk_children(with_self=True)), screen.app.stylesheet.rules
    ours = {name: module for name, module in sys.modules.items() if name.startswith("longsearch.")}
    kinds = {one for module in ours.values() for one in vars(module).values() if isinstance(one, type)}
    made = [one for one in kinds if is_dataclass(one) and one.__module__ in ours]
    counts = len(widgets), len(rules), len(ours), len(made)
    screen.app.exit(json.dumps([counts, [name for name in json.loads(sys.argv[2]) if name in sys.modules]]))

MainScreen._load_rest = leave  # it is called after the first frame
print(LongsearchApp(backend, preferences()).run(headless=True, size=(80, 24)))
"""
MOST_WIDGETS, MOST_RULES, MOST_MODULES = 10, 56, 55
MOST_DATACLASSES = 5
"""Python takes a millisecond to make one, and a fifth of it to make a NamedTuple."""


def test_the_app_imports_no_model_store_or_extractor() -> None:
    program = f"import sys, longsearch.tui.app; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_the_first_frame_of_a_folder_imports_mounts_and_styles_what_it_shows(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FIRST_FRAME, str(tmp_path), json.dumps(LATE)]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=True)
    (n_widgets, n_rules, n_modules, n_dataclasses), early = json.loads(ended.stdout.splitlines()[-1])
    assert early == []
    assert n_widgets <= MOST_WIDGETS
    assert n_rules <= MOST_RULES
    assert n_modules <= MOST_MODULES
    assert n_dataclasses <= MOST_DATACLASSES
