"""The house rules that a program can check: sizes of functions, files and folders, and one place for each meaning."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "indexer", "tui")
MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 260
MAX_MODULES = 16
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


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_is_at_most_260_lines_long_or_says_why(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MAX_FILE_LINES or _REASON.search(ast.get_docstring(ast.parse(text)) or "")


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_function_is_at_most_40_lines_long_or_says_why(path: Path) -> None:
    long = [
        node.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
        and not _REASON.search(ast.get_docstring(node) or "")
    ]
    assert long == []


def test_a_folder_holds_at_most_16_modules() -> None:
    folders = {path.parent for path in modules()}
    crowded = {
        name(folder): n
        for folder in folders
        if (n := sum(path.name != "__init__.py" for path in folder.glob("*.py"))) > MAX_MODULES
    }
    assert crowded == {}


def test_every_package_says_what_its_room_is_for() -> None:
    rooms = [path for path in modules() if path.name == "__init__.py"]
    silent = [name(path) for path in rooms if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert silent == []


def test_one_module_understands_queries_and_knows_the_stop_words() -> None:
    assert found(r"^_?STOP_WORDS\b.*=") == ["engine/languages/stop_words.py"]
    assert found(r"^def parse\(text: str") == ["engine/search/query_language/query.py"]


def test_one_alias_names_arrays_of_vectors() -> None:
    assert found(r"^\w*Vectors\b( *:.*)? *= *NDArray") == ["engine/arrays.py"]
