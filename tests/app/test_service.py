"""The daemon as a service: the text of its files for any path, and the commands that put them into effect."""

import os
import plistlib
import re
import shlex
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.app.cli import main
from longsearch.app.daemon.service import Service, install, service, uninstall
from longsearch.app.daemon.service_files import kept_environment, launchd_agent, systemd_unit, systemd_word
from longsearch.engine.errors import LongsearchError

HOSTILE = ["/opt/a b/python", "/100%h/%%", '/it\'s "quoted"', "/$HOME/${x}", "/back\\slash", "/new\nline\t", "/né;|&"]


def read_words(text: str) -> list[str]:
    """Read a line as systemd.syntax(7) describes: words in double quotes, C escapes, then %% for one %."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    assert " ".join(f'"{word}"' for word in words) == text
    raw = [re.sub(r"\\(x..|.)", lambda c: chr(int(c[1][1:], 16)) if len(c[1]) > 1 else c[1], word) for word in words]
    assert not any(re.search("(?<!%)(%%)*%(?!%)", word) for word in raw)
    return [word.replace("%%", "%") for word in raw]


def setting(unit: str, name: str) -> list[str]:
    return [line.removeprefix(f"{name}=") for line in unit.split("\n") if line.startswith(f"{name}=")]


@given(st.lists(st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_the_unit_runs_any_command_unchanged(command: list[str]) -> None:
    (line,) = setting(systemd_unit(command, {}), "ExecStart")
    words = [word.replace("$$", "$") for word in read_words(line)]
    assert words == ["/bin/sh", "-c", 'exec "$@"', "longsearch", *command]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_path_is_one_word_of_one_line(path: str) -> None:
    unit = systemd_unit([path, "-m"], {"XDG_DATA_HOME": path})
    (environment,) = setting(unit, "Environment")
    assert read_words(environment) == [f"XDG_DATA_HOME={path}"]  # in Environment= a $ stands for itself
    (line,) = setting(unit, "ExecStart")
    assert not re.search(r"(?<!\$)(\$\$)*\$(?!\$)", line)
    agent = launchd_agent([path], {"HF_HOME": path}, path)
    found = plistlib.loads(agent)
    assert (found["ProgramArguments"], found["EnvironmentVariables"]) == ([path], {"HF_HOME": path})


def test_an_undecodable_byte_is_written_as_an_escape() -> None:
    assert systemd_word("/\udcff") == '"/\\xff"'


def test_a_path_that_a_property_list_cannot_hold_is_an_error() -> None:
    with pytest.raises(LongsearchError, match="launchd"):
        launchd_agent(["/a\x1b"], {}, "/log")


def test_the_service_reaches_no_network_and_runs_at_low_priority() -> None:
    unit = systemd_unit(["python"], kept_environment({"LONGSEARCH_MODEL": "m", "SECRET": "s"}))
    for line in ("RestrictAddressFamilies=AF_UNIX", "Nice=10", "IOSchedulingClass=idle", "Restart=on-failure"):
        assert line in unit.splitlines()
    assert 'Environment="LONGSEARCH_MODEL=m"' in unit
    assert "SECRET" not in unit
    agent = plistlib.loads(launchd_agent(["python"], {}, "/log"))
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["LowPriorityIO"] and agent["Nice"] == 10 and agent["Umask"] == 0o077


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of the calls of systemctl and launchctl; both are replaced by scripts."""
    programs, log = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    for name in ("systemctl", "launchctl"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {shlex.quote(str(log))}\n')
        (programs / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return log


def on_linux(folder: Path) -> Service:
    return service("linux", {"XDG_CONFIG_HOME": str(folder)}, folder)


def test_installing_writes_a_private_file_and_starts_the_daemon_and_repeating_it_changes_nothing(
    home: Path, calls: Path
) -> None:
    wanted = on_linux(home)
    assert install(wanted)
    assert wanted.path == home / "systemd" / "user" / "longsearch.service"
    assert wanted.path.read_bytes() == wanted.content
    assert stat.S_IMODE(wanted.path.stat().st_mode) == 0o600
    said = [f"systemctl --user {words}" for words in ("daemon-reload", "enable longsearch.service")]
    assert calls.read_text().splitlines() == [*said, "systemctl --user restart longsearch.service"]
    assert not install(wanted)
    assert wanted.path.read_bytes() == wanted.content


def test_uninstalling_stops_the_daemon_and_removes_the_file_and_repeating_it_does_nothing(
    home: Path, calls: Path
) -> None:
    wanted = on_linux(home)
    install(wanted)
    calls.unlink()
    assert uninstall(wanted)
    assert not list(wanted.path.parent.iterdir())
    assert calls.read_text().splitlines()[0] == "systemctl --user disable --now longsearch.service"
    calls.unlink()
    assert not uninstall(wanted)
    assert not calls.exists()


def test_macos_gets_a_launchd_agent(home: Path, calls: Path) -> None:
    wanted = service("darwin", {}, home)
    assert wanted.path == home / "Library" / "LaunchAgents" / "longsearch.daemon.plist"
    assert install(wanted)
    assert stat.S_IMODE(wanted.path.stat().st_mode) == 0o600
    assert calls.read_text() == f"launchctl bootstrap gui/{os.getuid()} {wanted.path}\n"
    assert not install(wanted)
    assert uninstall(wanted)
    assert calls.read_text().splitlines()[-1] == f"launchctl bootout gui/{os.getuid()}/longsearch.daemon"


def test_without_systemd_the_error_says_what_to_do_and_nothing_is_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(
        LongsearchError, match="systemctl, which starts daemons at login, is not on this system"
    ) as caught:
        install(on_linux(home))
    assert "daemon start --stay" in caught.value.hint
    assert not on_linux(home).path.exists()
    with pytest.raises(LongsearchError, match="freebsd14"):
        service("freebsd14", {}, home)


def test_the_message_of_a_systemd_that_refuses_is_quoted(home: Path, calls: Path) -> None:
    (calls.parent / "bin" / "systemctl").write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")
    with pytest.raises(LongsearchError, match="Failed to connect to bus") as caught:
        install(on_linux(home))
    assert "takes effect at the next login" in caught.value.hint


def test_the_command_prints_the_file_installs_and_uninstalls(
    home: Path, calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    assert main(["daemon", "install", "--print"]) == 0
    assert 'daemon" "run" "--stay"' in capsys.readouterr().out
    assert not (home / "config").exists()
    assert main(["daemon", "install"]) == 0
    assert "every login" in capsys.readouterr().out
    assert main(["daemon", "uninstall"]) == 0
    assert main(["daemon", "uninstall"]) == 0
    assert "no daemon was installed" in capsys.readouterr().out
