"""The task of Windows' Task Scheduler: its XML, the command line that it holds, and the calls of schtasks."""

import json
import os
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from longsearch.app.daemon.service import install, service, uninstall
from longsearch.app.daemon.service_files import scheduled_task
from longsearch.engine.errors import LongsearchError

SPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
ME = {"USERDOMAIN": "HOME-PC", "USERNAME": "Ada"}


def value(task: bytes, name: str) -> str:
    found = ET.fromstring(task.decode("utf-16").partition("?>")[2]).find(f".//{SPACE}{name}")
    assert found is not None
    return found.text or ""


def words_of(line: str) -> list[str]:
    """Cut a command line as Windows' C library does: 2n backslashes before a quote are n, and one more keeps it."""
    words, word, is_quoted, at = [], "", False, 0
    while at < len(line):
        n = len(line) - at - len(line[at:].lstrip("\\"))
        at += n
        if at < len(line) and line[at] == '"':
            word += "\\" * (n // 2)
            if n % 2:
                word += '"'
            else:
                is_quoted = not is_quoted
            at += 1
        elif n:
            word += "\\" * n
        elif line[at] in " \t" and not is_quoted:
            words.append(word)
            word, at = "", at + 1
        else:
            word, at = word + line[at], at + 1
    return [*words, word]


def test_the_task_runs_the_module_with_its_arguments_and_variables(tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(
        "import json, os, sys\nprint(json.dumps([__name__, sys.argv[1:], os.environ['LONGSEARCH_MODEL']]))\n"
    )
    hostile = 'C:\\models\\it\'s "5 < 6 & 7" é\\'
    arguments = ("daemon", "run", "a b\\", '"quoted"')
    task = scheduled_task((sys.executable, "-m", "probe", *arguments), {"LONGSEARCH_MODEL": hostile}, "Ada")
    assert value(task, "Command") == sys.executable
    words = words_of(value(task, "Arguments"))
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    assert json.loads(done.stdout) == ["__main__", list(arguments), hostile]


def test_the_task_starts_at_the_users_login_with_low_priority_and_no_network_for_models(home: Path) -> None:
    wanted = service("win32", {**ME, "LONGSEARCH_OCR": "1"}, home)
    assert {value(wanted.content, "UserId")} == {"HOME-PC\\Ada"}
    assert value(wanted.content, "RunLevel") == "LeastPrivilege"
    assert value(wanted.content, "ExecutionTimeLimit") == "PT0S"
    assert int(value(wanted.content, "Priority")) > 7
    words = value(wanted.content, "Arguments")
    for kept in ("HF_HUB_OFFLINE", "LONGSEARCH_OCR", "longsearch.app.cli", "--stay"):
        assert kept in words
    assert "USERNAME" not in words


def test_a_character_that_xml_cannot_hold_is_an_error() -> None:
    with pytest.raises(LongsearchError, match="XML"):
        scheduled_task(("C:\\a\x1b\\python.exe", "-m", "x"), {}, "Ada")


def test_installing_and_uninstalling_call_schtasks(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, log = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    (programs / "schtasks").write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(log))}\n')
    (programs / "schtasks").chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    wanted = service("win32", ME, home)
    assert install(wanted)
    assert wanted.path.read_bytes() == wanted.content
    assert log.read_text().splitlines() == [f"/Create /TN longsearch /XML {wanted.path} /F", "/Run /TN longsearch"]
    assert not install(wanted)
    log.unlink()
    assert uninstall(wanted)
    assert log.read_text().splitlines() == ["/End /TN longsearch", "/Delete /TN longsearch /F"]
    assert not wanted.path.exists()
    assert not uninstall(wanted)
