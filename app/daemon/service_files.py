"""The text of the service files: a systemd user unit, a launchd agent, a task of Windows. Pure: values in, text out.

All restart the daemon if it fails, run it at low priority and keep it off the network. systemd allows it local sockets
only; the others have no such rule, so the environment tells the libraries to stay offline.
"""

import os
import plistlib
import re
import subprocess
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from longsearch.engine.errors import LongsearchError

UNIT_NAME = "longsearch.service"
AGENT_LABEL = "longsearch.daemon"
TASK_NAME = "longsearch"

KEPT_VARIABLES = (
    "PATH", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LONGSEARCH_MODEL", "LONGSEARCH_OCR",
    "LONGSEARCH_WIDTH", "LONGSEARCH_DEEPEN", "HF_HOME",
)  # fmt: skip
"""Copied from the user who installs the daemon: both find the same settings, indexes and models."""

_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_RESTART_S = 30
_NOT_PLAIN = re.compile(r'["\\\x00-\x1f\x7f\udc80-\udcff]')

_UNIT = """\
[Unit]
Description=longsearch: keeps the indexes of your documents current

[Service]
ExecStart={command}
{environment}
Restart=on-failure
RestartSec={restart_s}
TimeoutStopSec=60
UMask=0077
Nice=10
CPUWeight=20
IOSchedulingClass=idle
MemoryHigh=50%
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX

[Install]
WantedBy=default.target
"""

_TASK = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><LogonTrigger><UserId>{user}</UserId></LogonTrigger></Triggers>
  <Principals><Principal id="Author">
    <UserId>{user}</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel>
  </Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
    <RestartOnFailure><Interval>PT{restart_min}M</Interval><Count>10</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author"><Exec><Command>{python}</Command><Arguments>{words}</Arguments></Exec></Actions>
</Task>
"""
_IN_XML = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the installed daemon."""
    return {name: environment[name] for name in KEPT_VARIABLES if environment.get(name)} | _OFFLINE


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the text of the unit file.

    systemd accepts no program whose path holds quotes, so a shell gets the command as its arguments and runs it
    unchanged. See systemd.service(5), COMMAND LINES, and systemd.syntax(7), QUOTING.
    """
    words = ["/bin/sh", "-c", 'exec "$@"', "longsearch", *command]
    lines = [f"Environment={systemd_word(f'{name}={value}')}" for name, value in environment.items()]
    quoted = " ".join(systemd_word(word).replace("$", "$$") for word in words)
    return _UNIT.format(command=quoted, environment="\n".join(lines), restart_s=_RESTART_S)


def systemd_word(word: str) -> str:
    """Quote one word of a unit file, as for `Environment=`. In `ExecStart=` every $ must be doubled too."""
    return '"' + _NOT_PLAIN.sub(_escaped, word).replace("%", "%%") + '"'


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    return f"\\{character}" if character in '"\\' else f"\\x{os.fsencode(character)[0]:02x}"


def scheduled_task(command: Sequence[str], environment: Mapping[str, str], user: str) -> bytes:
    """Return the task for Windows' Task Scheduler, in the XML that `schtasks /Create /XML` reads.

    A task has no environment of its own, so Python sets the variables before it runs the module. `command`: a Python,
    its options, -m, a module and the module's arguments. See "Task Scheduler Schema" in Microsoft's documentation.
    """
    python, *rest = command
    at = rest.index("-m")
    options, module, arguments = rest[:at], rest[at + 1], rest[at + 2 :]
    program = (
        f"import os, runpy, sys; os.environ.update({dict(environment)!a}); sys.argv[1:] = {arguments!a};"
        f" runpy.run_module({module!a}, run_name='__main__', alter_sys=True)"
    )
    words = subprocess.list2cmdline([*options, "-c", program])
    parts = {"user": user, "python": python, "words": words}
    if not all(_IN_XML.fullmatch(part) for part in parts.values()):
        raise LongsearchError(
            "a path or variable holds a character that XML cannot hold", "install longsearch under a plain path"
        )
    return _TASK.format(restart_min=1, **{name: escape(part) for name, part in parts.items()}).encode("utf-16")


def launchd_agent(command: Sequence[str], environment: Mapping[str, str], log: str) -> bytes:
    """Return the property list. Raises LongsearchError if a path holds a character that XML does not allow."""
    agent = {
        "Label": AGENT_LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": _RESTART_S,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 10,
        "Umask": 0o077,
        "StandardErrorPath": log,
    }
    try:
        return plistlib.dumps(agent)
    except (ValueError, UnicodeEncodeError) as error:
        message = "a path or variable holds a character that launchd's files cannot hold"
        raise LongsearchError(message, "install longsearch under a plain path") from error
