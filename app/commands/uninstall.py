"""`longsearch uninstall`: say what longsearch has written on this computer, and remove it."""

import os
import shutil
import sys
from argparse import Namespace
from pathlib import Path

from longsearch.app.options import flag

HELP = "remove the daemon, the indexes, your basket, searches and settings, after asking; no document is touched"
OPTIONS = (flag("--yes", "do not ask"),)


def run(options: Namespace) -> int:
    """List what there is, ask, and remove it. Returns 0; 1 if the person says no."""
    from longsearch.app.commands import skill
    from longsearch.app.commands.asking import is_confirmed
    from longsearch.app.daemon import service as services
    from longsearch.app.daemon.daemon_control import stop_daemon
    from longsearch.app.paths import calibration_path, config_path, data_folder, expanded, home, in_shell

    there: dict[Path, list[str]] = {}
    for folder, held in (
        (data_folder(), "indexes, basket, saved searches, queries, the daemon's log"),
        (calibration_path().parent, "what was measured of this machine"),
        (config_path().parent, "settings and themes"),
        (expanded(skill.DEFAULT) / "longsearch", "instructions for agents"),
    ):
        outer = next((known for known in there if folder.is_relative_to(known)), folder)  # one may lie in another
        if folder.is_dir():
            there.setdefault(outer, []).append(held)
    for folder, holds in there.items():
        print(f"{_megabytes(folder):>9,.1f} MB  {in_shell(folder)}: {', '.join(holds)}")
    print("your documents stay as they are; to keep what is your own: longsearch export FILE")
    if not (options.yes or is_confirmed("remove all of it?", "this removes your basket and your indexes")):
        return 1
    stop_daemon()
    services.uninstall(services.service(sys.platform, os.environ, home()))
    for folder in there:
        shutil.rmtree(folder)
    print("removed; the program itself: pip uninstall longsearch (or: uv tool uninstall, pipx uninstall)")
    return 0


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6
