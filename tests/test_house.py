"""The house rules that a program can check: sizes of functions and files, and one place for each meaning."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "indexer", "tui")
MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 300
MOST_PROCESSES = 45
_REASON = re.compile(r"Longer than \d+ lines because")


def modules() -> Iterator[Path]:
    """Every module of the product."""
    for package in PACKAGES:
        yield from sorted((REPOSITORY / package).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def found(pattern: str) -> list[str]:
    """The modules that hold a line with this pattern."""
    return [name(path) for path in modules() if re.search(pattern, path.read_text("utf-8"), re.MULTILINE)]


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the product, with its module."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def gives_a_reason(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the docstring says why this is longer than the rule allows."""
    return bool(_REASON.search(ast.get_docstring(node) or ""))


def test_a_module_is_at_most_300_lines_long_or_says_why() -> None:
    texts = {name(path): path.read_text("utf-8") for path in modules()}
    long = {path: text.count("\n") for path, text in texts.items() if text.count("\n") > MAX_FILE_LINES}
    assert {path: lines for path, lines in long.items() if not gives_a_reason(ast.parse(texts[path]))} == {}


def test_a_function_is_at_most_40_lines_long_or_says_why() -> None:
    lengths = {
        f"{name(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path, node in functions()
        if not gives_a_reason(node)
    }
    assert {function: lines for function, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_every_package_says_what_its_room_is_for() -> None:
    rooms = [path for path in modules() if path.name == "__init__.py"]
    silent = [name(path) for path in rooms if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert silent == []


def test_no_test_sleeps_or_asserts_how_long_something_took() -> None:
    """A test that waits names a condition (`until`, `wait`); patience that ends in a failure is no measurement."""
    timing = r"^\s*(time\.sleep\(|assert .*(monotonic|perf_counter|process_time|time\.time)\(\) - )"
    tests = sorted((REPOSITORY / "tests").rglob("test_*.py"))
    assert [name(path) for path in tests if re.search(timing, path.read_text("utf-8"), re.MULTILINE)] == []


def test_the_map_of_the_house_names_functions_that_exist() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    steps = re.findall(r"^\| `([\w/]+\.py)` `(\w+)` \|", text, re.MULTILINE)
    assert len(steps) > 20
    known = {(name(path), node.name) for path, node in functions()}
    assert [step for step in steps if step not in known] == []
    others = re.findall(r"`((?:app|engine|indexer|tui)/[\w/]+\.py)`", text)
    assert [path for path in others if not (REPOSITORY / path).is_file()] == []


def test_one_module_understands_queries_and_knows_the_stop_words() -> None:
    assert found(r"^_?STOP_WORDS\b.*=") == ["engine/languages/stop_words.py"]
    assert found(r"^def parse\(text: str") == ["engine/query_language/query.py"]


def test_one_alias_names_arrays_of_vectors() -> None:
    assert found(r"^\w*Vectors\b( *:.*)? *= *NDArray") == ["engine/arrays.py"]


def test_a_test_imports_its_helpers_by_their_whole_name_and_leaves_the_import_path_alone() -> None:
    tests = [path for path in (REPOSITORY / "tests").rglob("*.py") if "bench" not in path.parts]
    helpers = "|".join(path.stem for path in tests if path.stem not in ("conftest", "__init__"))
    short = rf"^\s*(from ({helpers}) import|import ({helpers})$|sys\.path(\.(append|extend|insert)| \+=))"
    assert [name(path) for path in tests if re.search(short, path.read_text("utf-8"), re.MULTILINE)] == []


def test_few_tests_start_a_process_of_their_own() -> None:
    """A process costs a second or more; `main([...])` runs a command in this one, `monkeypatch` gives it a home.

    Who adds one here takes one away, or says why in the commit: the tests must take minutes on two cores.
    """
    texts = [path.read_text("utf-8") for path in (REPOSITORY / "tests").rglob("test_*.py")]
    assert sum(text.count("[sys." + "executable") for text in texts) <= MOST_PROCESSES
