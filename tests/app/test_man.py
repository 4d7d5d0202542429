"""`longsearch man` and `longsearch completion`: both are made of the parser, so they know every command."""

import re
import shutil
import subprocess
from argparse import ArgumentParser
from pathlib import Path

import pytest

from longsearch.app.cli import COMMANDS, build_parser, main
from longsearch.app.commands.man import page


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_page_has_every_command_with_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "man").replace("\\-", "-")
    for command in COMMANDS:
        assert f".SS longsearch {command}\n" in text
    options = {option for name in ("search", "index", "mcp", "status") for option in re.findall(
        r"--[a-z-]+", build_parser([name]).format_usage())}  # fmt: skip
    assert all(option in text for option in options)
    assert "--instruction TEXT" in text
    assert ".SH EXIT STATUS" in text


def test_text_that_looks_like_roff_is_printed_as_it_is() -> None:
    parser = ArgumentParser("x", description="About.")
    commands = parser.add_subparsers()
    commands.add_parser("a", description=".so /etc/passwd \\fB and 100 %").add_argument(
        "--b", help="'in quotes %(prog)s"
    )
    text = page(parser)
    assert "\\&.so /etc/passwd \\(rsfB and 100 %" in text
    assert "\\&'in quotes x a" in text
    assert not re.search(r"^\.so", text, re.MULTILINE)


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_renders_the_page_without_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "man")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=text.encode(), capture_output=True, check=True
    )
    assert done.stderr == b""
    assert "longsearch search" in done.stdout.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh", "powershell"])
def test_the_completion_of_every_shell_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "completion", shell)
    assert all(command in text for command in COMMANDS)
    assert "--everywhere" in text or "everywhere" in text


@pytest.mark.parametrize(("shell", "check"), [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_the_shell_reads_its_completion(
    shell: str, check: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completion"
    script.write_text(shown(capsys, "completion", shell))
    done = subprocess.run([program, *check, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
