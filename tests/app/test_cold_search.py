"""A search in a new process imports and prepares only what it uses.

Counted, because a clock tells little on a busy machine. `tests/bench/cold.py` measures the seconds.
"""

import ast
import json
from pathlib import Path

import pytest

from longsearch.app.cli import main
from tests.app.test_without_torch import run

SEARCH = """
import contextlib, io, json, sys
import longsearch.engine.inference.tokens as tokens
read, n_read = tokens._read, 0

def counted(folder):
    global n_read
    n_read += 1
    return read(folder)

tokens._read = counted
with contextlib.redirect_stdout(io.StringIO()):
    assert main(["search", "why do harbours keep two clocks", *sys.argv[1:]]) == 0
print(json.dumps([n_read, {name: module.__file__ for name, module in sys.modules.items() if module is not None
                           and getattr(module, "__file__", None)}]))
"""
NEVER = {
    "numpy.ma",
    "filelock",
    "subprocess",
    "multiprocessing",
    "concurrent.futures.process",
    "psutil",
    "zipfile",
    "longsearch.indexer",
    "longsearch.engine.store.store",
    "longsearch.engine.store.session",
}
"""What a search does not use, and what takes 2 to 30 ms to import."""
MOST_MODULES = 161


def compiles_at_import(path: str) -> bool:
    """Whether a module compiles a regular expression outside its functions, with `re.compile`."""
    nodes = [*ast.parse(Path(path).read_text("utf-8")).body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return False


def test_a_search_in_a_new_process_imports_and_reads_only_what_it_uses(root: Path) -> None:
    assert main(["index", "-q", str(root)]) == 0
    assert main(["search", "clocks", str(root)]) == 0  # the first one gives the folder its name, under a lock
    ended = run(SEARCH, str(root))
    assert ended.returncode == 0, ended.stderr
    n_tokenizers, files = json.loads(ended.stdout.splitlines()[-1])
    assert n_tokenizers == 1
    assert NEVER & set(files) == set()
    own = {name: file for name, file in files.items() if name.startswith("longsearch.")}
    assert len(own) <= MOST_MODULES, "import in the function that uses it what few searches use"
    assert [name for name, file in own.items() if compiles_at_import(file)] == [], "use late_pattern"


@pytest.mark.parametrize(("text", "found"), [("x = re.compile('a')", True), ("def f(): return re.compile('a')", False)])
def test_a_pattern_compiled_at_import_is_noticed(tmp_path: Path, text: str, found: bool) -> None:
    (tmp_path / "module.py").write_text(text)
    assert compiles_at_import(str(tmp_path / "module.py")) is found
