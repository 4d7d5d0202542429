"""Installs and uninstalls the daemon, so that the system starts it at login: by systemd, launchd or Task Scheduler.

Knows where the service file belongs and which commands put it into effect; `service_files` writes its text.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longsearch.app.daemon.daemon_control import log_path
from longsearch.app.daemon.service_files import (
    AGENT_LABEL,
    TASK_NAME,
    UNIT_NAME,
    kept_environment,
    launchd_agent,
    scheduled_task,
    systemd_unit,
)
from longsearch.app.paths import data_folder
from longsearch.engine.errors import LongsearchError

COMMAND_TIMEOUT_S = 60.0
_ELSE_HINT = "run `longsearch daemon start --stay` at login in another way"


@dataclass(frozen=True, slots=True)
class Service:
    """The service file that describes the daemon to the system, and the commands that put it into effect."""

    path: Path
    content: bytes
    tool: str
    """The program that all commands run."""
    reload: tuple[tuple[str, ...], ...]
    """Run before `start`, and after the file is removed. Their failure is ignored."""
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]


def service(platform: str, environment: Mapping[str, str], home: Path) -> Service:
    """Return the service for this platform. Raises LongsearchError if the platform has none."""
    command = (sys.executable, "-P", "-m", "longsearch.app.cli", "daemon", "run", "--stay")
    kept = kept_environment(environment)
    if platform.startswith("linux"):
        configured = Path(environment.get("XDG_CONFIG_HOME", ""))
        folder = (configured if configured.is_absolute() else home / ".config") / "systemd" / "user"
        systemctl = ("systemctl", "--user")
        return Service(
            folder / UNIT_NAME,
            systemd_unit(command, kept).encode(errors="surrogateescape"),
            "systemctl",
            reload=((*systemctl, "daemon-reload"),),
            start=((*systemctl, "enable", UNIT_NAME), (*systemctl, "restart", UNIT_NAME)),
            stop=((*systemctl, "disable", "--now", UNIT_NAME),),
        )
    if platform == "darwin":
        path = home / "Library" / "LaunchAgents" / f"{AGENT_LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        content = launchd_agent(command, kept, str(log_path()))
        bootstrap, bootout = (
            ("launchctl", "bootstrap", domain, str(path)),
            ("launchctl", "bootout", f"{domain}/{AGENT_LABEL}"),
        )
        return Service(path, content, "launchctl", reload=(), start=(bootstrap,), stop=(bootout,))
    if platform == "win32":
        user = "\\".join(filter(None, (environment.get("USERDOMAIN"), environment.get("USERNAME"))))
        path = data_folder() / "longsearch-task.xml"
        named = ("/TN", TASK_NAME)
        create = ("schtasks", "/Create", *named, "/XML", str(path), "/F")
        return Service(
            path,
            scheduled_task(command, kept, user),
            "schtasks",
            reload=(),
            start=(create, ("schtasks", "/Run", *named)),
            stop=(("schtasks", "/End", *named), ("schtasks", "/Delete", *named, "/F")),
        )
    raise LongsearchError(f"a daemon cannot be installed on {platform}", _ELSE_HINT)


def install(wanted: Service) -> bool:
    """Write the service file, and start the daemon now and at every login. Returns whether the file is new or changed.

    Raises LongsearchError if the system's tool is missing or refuses.
    """
    _check_tool(wanted)
    is_new = not wanted.path.exists() or wanted.path.read_bytes() != wanted.content
    if wanted.path.exists() and is_new and wanted.tool == "launchctl":
        _run_all(wanted.stop, must=False)  # launchd would keep using the old file
    if is_new:
        _write_private(wanted.path, wanted.content)
    _run_all(wanted.reload, must=False)
    if is_new or wanted.tool == "systemctl":
        _run_all(
            wanted.start, must=True, hint=f"the file is in place: {wanted.path}; it takes effect at the next login"
        )
    return is_new


def uninstall(wanted: Service) -> bool:
    """Stop the daemon and remove its service file, even if the system's tool fails. Returns False if it had none."""
    if not wanted.path.exists():
        return False
    _run_all(wanted.stop, must=False)
    wanted.path.unlink()
    _run_all(wanted.reload, must=False)
    return True


def _check_tool(wanted: Service) -> None:
    if shutil.which(wanted.tool) is None:
        raise LongsearchError(f"{wanted.tool}, which starts daemons at login, is not on this system", _ELSE_HINT)


def _write_private(path: Path, content: bytes) -> None:
    """Write the file atomically, with mode 0600: it may say where private documents lie."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        new.replace(path)
    except OSError as error:
        raise LongsearchError(f"{path} cannot be written: {error.strerror}", "check its folder") from error


def _run_all(commands: Sequence[Sequence[str]], must: bool, hint: str = "") -> None:
    for command in commands:
        trouble = _run(command)
        if trouble and must:
            raise LongsearchError(f"{' '.join(command[:3])} refused: {trouble}", hint)


def _run(command: Sequence[str]) -> str:
    """Run the command. Returns why it failed, or ""."""
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, no shell
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = (done.stderr or done.stdout).decode(errors="replace").strip()
    return "" if done.returncode == 0 else said.splitlines()[0] if said else f"exit status {done.returncode}"
