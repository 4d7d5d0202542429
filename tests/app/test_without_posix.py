"""longsearch is imported, and says its help, without the modules and functions that only POSIX systems have."""

import subprocess
import sys

PROGRAM = """
import builtins, importlib, os, pkgutil, signal, sys

HIDDEN = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "posix", "_posixsubprocess"}
real_import = builtins.__import__

def without_posix(name, globals=None, *rest, **named):
    importer = (globals or {}).get("__name__", "")
    if importer.split(".")[0] == "longsearch" and name.split(".")[0] in HIDDEN:
        raise ImportError(f"{importer} imports {name}, which Windows does not have")
    return real_import(name, globals, *rest, **named)

builtins.__import__ = without_posix
missing = []
if "tree" in sys.argv:
    import longsearch
    for module in pkgutil.walk_packages(longsearch.__path__, "longsearch."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("longsearch"):
                raise
            missing.append(error.name)
    print(len([name for name in sys.modules if name.startswith("longsearch.")]), *missing)
else:
    from longsearch.app.cli import main
    for name in ("getuid", "geteuid", "killpg", "nice", "fork", "setsid", "sched_getaffinity"):
        if hasattr(os, name):
            delattr(os, name)
    for name in ("SIGKILL", "SIGHUP", "alarm", "SIGALRM"):
        delattr(signal, name)
    sys.exit(main(sys.argv[1:]))
"""


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported_without_the_modules_of_posix() -> None:
    n_modules, *missing = run("tree").split()
    assert int(n_modules) > 300
    optional = {"aiohttp", "datasets", "matplotlib", "mcp", "mcp_types", "ray", "triton"}
    assert {name.partition(".")[0] for name in missing} <= optional


def test_help_needs_no_function_of_posix() -> None:
    assert "search" in run("--help")
    assert "--explain" in run("search", "--help")
    assert "Task Scheduler" in run("daemon", "--help")
