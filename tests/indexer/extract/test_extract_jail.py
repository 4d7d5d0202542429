"""The process that reads files opens the file that it is given, its libraries and programs, and nothing of a person."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longsearch.indexer.extract import child
from longsearch.indexer.extract.formats import use_adapters
from longsearch.indexer.extract.pdf.recognition import Recognition
from longsearch.indexer.extract.reader import ExtractorProcess
from longsearch.indexer.extract.wire import jail
from tests.indexer.pdf_writing import lines_of, write_pdf

needs_landlock = pytest.mark.skipif(not jail.version(), reason="this kernel has no Landlock")
SECRET = "the key of the safe"
SCANNED = b"0.5 g 100 100 200 300 re f"
Programs = Callable[[str, str], None]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Programs]:
    def make(name: str, body: str) -> None:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable} -I\nimport pathlib, sys\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(path.parent))

    yield make
    use_adapters({})


# Enters the jail as the process of the reader does, and says what it can still do.
TRIES = """
import importlib, os, sys
sys.argv[1:] = [ROOT, "", "9"]
from longsearch.indexer.extract import child
child.enter_jail()
def tried(what, *given):
    try:
        what(*given)
        return "done"
    except OSError as error:
        return type(error).__name__
print(tried(open, SECRET), tried(os.listdir, os.path.dirname(SECRET)), tried(open, SECRET + ".new", "w"),
    tried(os.unlink, SECRET), os.system(f"cat '{SECRET}' 2> /dev/null"))
print(tried(open, "/etc/passwd"), tried(os.urandom, 3), tried(importlib.import_module, "pypdf"), os.system("true"))
"""


@needs_landlock
def test_the_reader_can_open_its_libraries_and_no_file_of_the_person(secret: Path) -> None:
    code = f"SECRET, ROOT = {str(secret)!r}, {child.IMPORT_ROOT!r}\n{TRIES}"
    environment = {**os.environ, "PYTHONPATH": child.IMPORT_ROOT}
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, cwd="/", env=environment)
    refused, allowed = done.stdout.splitlines()
    assert refused == "PermissionError PermissionError PermissionError PermissionError 256"
    assert allowed == "done done done 0"
    assert secret.read_text() == SECRET


@needs_landlock
def test_one_process_reads_file_after_file_without_the_right_to_open_any(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", [lines_of("The page has words")])
    (tmp_path / "b.txt").write_text("plain words")
    with ExtractorProcess() as reader:
        assert "The page has words" in reader.extract(tmp_path / "a.pdf").document.text
        pid = reader.child_pid
        assert reader.extract(tmp_path / "b.txt").document.text == "plain words"
        assert reader.child_pid == pid


LOOK = "try:\n    print(pathlib.Path({path!r}).read_text())\nexcept OSError as error:\n    print(type(error).__name__)"


@needs_landlock
def test_tesseract_runs_in_the_jail_too(tmp_path: Path, secret: Path, program: Programs) -> None:
    program("tesseract", f"print('Words of', len(sys.stdin.buffer.read()) > 9)\n{LOOK.format(path=str(secret))}")
    with ExtractorProcess(ocr=Recognition()) as reader:
        document = reader.extract(write_pdf(tmp_path / "a.pdf", [SCANNED])).document
    assert document.text == "Words of True PermissionError"


@needs_landlock
def test_a_program_that_opens_the_file_itself_may_read_that_one_alone(
    tmp_path: Path, secret: Path, program: Programs
) -> None:
    look = LOOK.format(path=str(secret))
    program("djvutxt", f"print(pathlib.Path(sys.argv[1]).read_text())\nopen('own', 'w').write('x')\n{look}")
    with ExtractorProcess() as reader:
        for name in ("one", "two"):
            (tmp_path / f"{name}.djvu").write_text(f"words of {name}")
            text = reader.extract(tmp_path / f"{name}.djvu").document.text
            assert text.split("\n") == [f"words of {name}", "PermissionError"]


def test_a_command_of_the_settings_is_not_in_the_jail(tmp_path: Path, secret: Path, program: Programs) -> None:
    program("look", LOOK.format(path=str(secret)))
    use_adapters({".xyz": ("look",)})
    (tmp_path / "a.xyz").write_text("x")
    (tmp_path / "b.txt").write_text("plain words")
    with ExtractorProcess() as reader:
        for name, words in (("b.txt", "plain words"), ("a.xyz", SECRET), ("b.txt", "plain words")):
            assert reader.extract(tmp_path / name).document.text.strip() == words


def test_without_landlock_files_are_read_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "version", lambda: 0)
    write_pdf(tmp_path / "a.pdf", [lines_of("The page has words")])
    (tmp_path / "b.txt").write_text("plain words")
    with ExtractorProcess() as reader:
        assert "The page has words" in reader.extract(tmp_path / "a.pdf").document.text
        assert reader.extract(tmp_path / "b.txt").document.text == "plain words"
