"""The installed package: a wheel puts one name into site-packages, and other programs can use it from any folder."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
_SOURCES = (
    "app",
    "assets",
    "engine",
    "indexer",
    "longsearch",
    "tui",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "NOTICE.md",
)
_PROGRAM = """
import sys
import longsearch
assert "torch" not in sys.modules and "apsw" not in sys.modules, "import longsearch must be quick"
print(longsearch.__file__)
print(longsearch.Encoder.open("bundled").dim)
try:
    longsearch.open_index(".")
except longsearch.LongsearchError as error:
    print(error.hint)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the sources, so that the checkout stays clean."""
    copy = tmp_path_factory.mktemp("sources")
    for source in _SOURCES:
        path = REPOSITORY / source
        if path.is_dir():
            shutil.copytree(path, copy / source, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, copy)
    out = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
        "-w",
        str(out),
    ]
    subprocess.run([*command, str(copy)], check=True, capture_output=True, text=True)
    (built,) = out.glob("*.whl")
    return built


def test_a_wheel_is_smaller_than_an_index_of_packages_takes(wheel: Path) -> None:
    assert wheel.stat().st_size < 100_000_000


def test_a_wheel_installs_one_package_with_the_model_and_the_style_sheets(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"longsearch"}
    assert {
        "longsearch/__init__.py",
        "longsearch/py.typed",
        "longsearch/app/cli.py",
        "longsearch/assets/model/model.safetensors",
        "longsearch/assets/reader/reader.safetensors",
        "longsearch/assets/samples/beekeeping.md",
        "longsearch/assets/skill/SKILL.md",
        "longsearch/engine/store/schema.py",
        "longsearch/indexer/pipeline.py",
        "longsearch/tui/screens/main.tcss",
    } <= set(names)


def test_a_program_in_an_empty_folder_imports_the_installed_package(wheel: Path, tmp_path: Path) -> None:
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    zipfile.ZipFile(wheel).extractall(site)
    environment = {"PATH": "", "PYTHONPATH": str(site), "XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, check=True, timeout=120)
    file, dim, hint = done.stdout.splitlines()
    assert Path(file).is_relative_to(site)
    assert dim == "384"
    assert "longsearch index" in hint
