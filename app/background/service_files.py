"""The text of the service files: a systemd user unit and a launchd agent. Pure: values in, text out.

Both restart the daemon if it fails, run it at low priority and keep it off the network. systemd allows it local sockets
only; launchd has no such rule, so the environment tells the libraries to stay offline.
"""

import os
import plistlib
import re
from collections.abc import Mapping, Sequence

from longsearch.engine.errors import LongsearchError

UNIT_NAME = "longsearch.service"
AGENT_LABEL = "longsearch.daemon"

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
