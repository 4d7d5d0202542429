"""The command line itself. The commands are tested in test_end_to_end and in files of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from longsearch.app.cli import COMMANDS, build_parser, main

HEAVY = ("torch", "transformers", "tokenizers", "textual", "apsw", "numpy")
SLOW_TO_IMPORT = (*HEAVY, "dataclasses", "logging", "platformdirs", "longsearch.app.paths", "longsearch.engine.types")
"""Each takes 3 to 20 ms and more, where all of `longsearch --help` takes 80 ms."""


def imported_by(program: str, names: tuple[str, ...] = HEAVY) -> str:
    """Run the program in a process of its own. Return the printed list of those `names` that it imported."""
    script = f"""
import sys
from contextlib import suppress
from longsearch.app.cli import COMMANDS, main
{program}
print([name for name in {names!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_help_imports_nothing_slow() -> None:
    program = """
with suppress(SystemExit):
    main(["--help"])
"""
    assert imported_by(program, SLOW_TO_IMPORT) == "[]"


def test_help_wrong_usage_and_completion_import_nothing_heavy() -> None:
    program = """
for arguments in (["--help"], *([name, "--help"] for name in COMMANDS if name != "eval"), ["search"], ["serch", "x"]):
    with suppress(SystemExit):
        main(arguments)
assert main(["completion", "bash"]) == 0
"""
    assert imported_by(program) == "[]"


def test_the_app_loads_no_torch() -> None:
    loaded = imported_by("import longsearch.app.backend, longsearch.tui.app")
    assert loaded == "['textual', 'apsw', 'numpy']"


def test_a_search_loads_nothing_that_only_a_writer_needs() -> None:
    program = """
import longsearch.app.search.searching, longsearch.app.folders.listing
from longsearch.engine.inference.query_encoder import QueryEncoder
assert QueryEncoder.open().encode_query("red apples").shape
"""
    assert imported_by(program, ("torch", "numpy.ma", "subprocess", "longsearch.indexer")) == "[]"


def test_help_lists_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "longsearch index FOLDER" in shown
    listed = [line.split()[0] for line in shown.splitlines() if re.match(r"    \w", line)]
    assert listed == list(COMMANDS)


def test_without_arguments_it_prints_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "usage: longsearch" in capsys.readouterr().out


def test_a_missing_folder_is_an_error_with_a_hint_on_stderr(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(home / "nowhere")]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "there is no folder" in captured.err
    assert "hint:" in captured.err


def test_a_file_in_place_of_a_folder_is_an_error_that_names_its_folder(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "a.txt").write_text("x")
    assert main([str(home / "a.txt")]) == 3
    assert f"longsearch {home}" in capsys.readouterr().err


def test_the_app_refuses_to_start_without_a_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(home)]) == 3
    assert "needs a terminal" in capsys.readouterr().err


def test_searching_a_folder_without_an_index_says_how_to_make_one(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "anything", str(home)]) == 3
    assert f"longsearch index {home}" in capsys.readouterr().err


def test_errors_print_no_control_characters(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(home / "a\x1b[31mb")]) == 3
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["search", "x", "-k", "0"], ["search"], ["status", "--nonsense"]])
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", ["search q folder -k 2 --json", "search q -k 2 folder --json", "search -k 2 q --json folder"]
)
def test_options_may_stand_between_the_query_and_the_folder(arguments: str) -> None:
    options = build_parser(["search"]).parse_args(arguments.split())
    assert (options.query, options.folder, options.json, options.k) == ("q", "folder", True, 2)


@pytest.mark.parametrize(
    ("arguments", "left"), [("search q --json folder more", "more"), ("search q --json folder --jsn", "--jsn")]
)
def test_arguments_too_many_are_named(arguments: str, left: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments.split())
    assert exit_.value.code == 2
    assert f"unrecognized arguments: {left}\n" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_completion_script_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "doctor" in script
    assert "uninstall" in script


def test_eval_has_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["eval", "--help"])
    assert exit_.value.code == 0
    assert "--limit-queries" in capsys.readouterr().out


def test_a_misspelt_command_is_not_taken_for_a_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["serch", "bees"])
    assert "'serch' is neither a command nor a folder; search?" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["\x1b]0;x", "bees"])
    assert "\x1b" not in capsys.readouterr().err
    assert main([str(home / "nowhere")]) == 3
    assert "there is no folder" in capsys.readouterr().err


def test_a_question_in_place_of_a_folder_is_offered_as_a_search(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why did it overheat"]) == 3
    assert "longsearch search 'why did it overheat'" in capsys.readouterr().err.replace('"', "'")
    with pytest.raises(SystemExit, match="2"):
        main(["why", "did", "it", "overheat"])
    assert 'longsearch search "why did it overheat"' in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_behind_stdout_is_an_error_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "longsearch.app.cli", "man"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "longsearch: No space left on device\n"


def test_usage_errors_print_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["index", "a", "\x1b]0;PWNED\x07"])
    said = capsys.readouterr().err
    assert "PWNED" in said
    assert "\x1b" not in said


def test_a_terminal_encoding_without_some_characters_causes_no_traceback() -> None:
    script = "from longsearch.app.cli import main; import sys; print('ok'); sys.exit(main(['index', '/n\u0142\u2603']))"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, encoding="latin-1"
    )
    assert done.returncode == 3
    assert "there is no folder /n??" in done.stderr
