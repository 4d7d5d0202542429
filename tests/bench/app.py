"""How quick the app is: `python tests/bench/app.py [--beside "harlequin" "posting"]`. Linux only.

Everything runs in a pseudo-terminal that answers as a terminal does. *First paint*: from the start of the process until
a frame of letters has been written. *Key to frame*: from the key until the first text of a frame, with 50,000 files
and a document of 10 MB; the best and the median of n, on the clock, and the processor time of the app's main thread.
*Block*: the longest that one callback holds the event loop, in processor time, which other programs do not add to.
"""

import argparse
import json
import os
import pty
import re
import select
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

from measuring import REPOSITORY

ROWS, COLUMNS = 40, 140
ANSWERS = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b]11;?": b"\x1b]11;rgb:1111/1111/1111\x1b\\",
}
"""What a terminal is asked, and what it answers."""
ESCAPES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_][^\x1b]*\x1b\\|\x1b\[[0-9;?<>=$]*[A-Za-z]|\x1b.")
LETTERS_OF_A_FRAME = 60
"""A window's title or a single line is no frame."""
QUIET_S, PATIENCE_S = 0.5, 60.0
QUIET_CPU_S = 0.003  # a blinking cursor and the poll of the progress take less
KEYS = (
    ("a letter of the query", "a"),
    ("Enter, to the results", "\r"),
    ("j, to a document of 10 MB", "j"),
    ("x, why it was found", "x"),
    ("Esc, back to the results", "\x1b"),
    ("b, the basket", "b"),
    ("Esc, from the basket", "\x1b"),
    ("F5, earlier queries", "\x1b[15~"),
    ("Esc, from the queries", "\x1b"),
    ("Ctrl+P, the commands", "\x10"),
    ("Esc, from the commands", "\x1b"),
    ("s, a first passage", "s"),
    ("k, to another document", "k"),
    ("s, both side by side", "s"),
    ("Esc, back to the results", "\x1b"),
    ("j, to the document of 10 MB", "j"),
    ("&, only results with", "&"),
    ("Esc, from the line", "\x1b"),
    (";, letters to jump", ";"),
    ("Esc, without letters", "\x1b"),
    (">, more room for the results", ">"),
    ("<, less room", "<"),
    ("Enter, into its text", "\r"),
    ("n, to its next passage", "n"),
    ("PgDn in the text", "\x1b[6~"),
    ("G, to the end of 10 MB", "G"),
    (":, a line for a page", ":"),
    ("Esc, without the line", "\x1b"),
    ("t, its outline", "t"),
    ("Esc, back", "\x1b"),
    ("F3, 50,000 files", "\x1bOR"),
    ("j in the files", "j"),
    ("G, to the last of them", "G"),
    ("Esc, back to the text", "\x1b"),
    ("F1, the help", "\x1bOP"),
    ("Esc, back again", "\x1b"),
)
"""One round: at its end the query line is emptied."""
BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("a bare Textual app " * 20)

Bare().run()
"""
"""The least that Textual can show: what the first paint is compared with."""
BARE_PANES = """
from rich.segment import Segment
from textual.app import App
from textual.containers import Horizontal
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, OptionList

class Lines(ScrollView, can_focus=True):
    def on_mount(self):
        self.virtual_size = Size(70, 100_000)
    def render_line(self, y):
        text = f"{self.scroll_offset.y + y} twelve words of a text that is long enough to fill the pane"
        return Strip([Segment(text, self.rich_style)]).adjust_cell_length(self.size.width, self.rich_style)

class Box(ModalScreen):
    CSS = "Box { align: center middle; } OptionList { width: 80; height: 30; border: round $border; }"
    BINDINGS = [("escape", "dismiss", "Close")]
    def compose(self):
        yield OptionList(*[f"a line of the box {n}" for n in range(100)])

class Panes(App):
    CSS = "OptionList { width: 9fr; height: 1fr; } Lines { width: 11fr; height: 1fr; }"
    BINDINGS = [("f1", "box", "Box")]
    def compose(self):
        line = Input()
        line.cursor_blink = False
        yield line
        with Horizontal():
            yield OptionList(*["a title of a document\\nand two lines\\nof its passage"] * 20)
            yield Lines()
    def action_box(self):
        self.push_screen(Box())

Panes().run()
"""
"""A query, a list, a text and a box as Textual has them: what a key to its frame is compared with."""
PROGRAM = Path(__file__).with_name("app_with_much.py")


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.fd, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        given = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | environment
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=given)
        os.close(theirs)
        self.output = b""

    def read(self, wait_s: float) -> bytes:
        """Return what is written within so many seconds, at its first part; answer questions."""
        if not select.select([self.fd], [], [], wait_s)[0]:
            return b""
        try:
            part = os.read(self.fd, 1 << 20)
        except OSError:  # the program has ended
            return b""
        for question, answer in ANSWERS.items():
            if question in part:
                os.write(self.fd, answer)
        self.output += part
        return part

    def first_paint_s(self) -> float:
        """Return the seconds until a frame has been written."""
        while time.perf_counter() - self.started < PATIENCE_S:
            _, _, screen = self.output.partition(b"\x1b[?1049h")
            if sum(map(str.isprintable, ESCAPES.sub(b"", screen).decode("utf-8", "ignore"))) >= LETTERS_OF_A_FRAME:
                return time.perf_counter() - self.started
            self.read(0.01)
        raise SystemExit(f"{self.process.args}: no frame within {PATIENCE_S:g} s: {self.output[-500:]!r}")

    def settle(self) -> None:
        """Read until nothing comes for a while, and the main thread takes no processor time."""
        before = -1.0
        while self.read(QUIET_S) or self.cpu_s() - before > QUIET_CPU_S:
            before = self.cpu_s()

    def cpu_s(self) -> float:
        """Return the processor time of the main thread so far."""
        thread = f"/proc/{self.process.pid}/task/{self.process.pid}/schedstat"
        return int(Path(thread).read_text().split()[0]) / 1e9

    def key(self, key: str) -> tuple[float, float]:
        """Press a key; return the seconds on the clock, and of processor time, until the first text of a frame."""
        self.settle()
        cpu, began, before = self.cpu_s(), time.perf_counter(), len(self.output)
        os.write(self.fd, key.encode())
        while time.perf_counter() - began < PATIENCE_S:
            if self.read(0.001) and ESCAPES.sub(b"", self.output[before:]).strip():
                break
        return time.perf_counter() - began, self.cpu_s() - cpu

    def end(self) -> float:
        """Kill the program; return the processor time that it has taken, in seconds."""
        self.process.kill()
        _, _, used = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        os.close(self.fd)
        return used.ru_utime + used.ru_stime


@contextmanager
def a_home() -> Iterator[dict[str, str]]:
    """Yield the environment of a home of its own, with a small folder `papers` that is not indexed."""
    with tempfile.TemporaryDirectory(prefix="longsearch-bench-") as place:
        names = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
        environment = dict.fromkeys(names, place) | {"PYTHONPATH": str(REPOSITORY), "HOME": place}
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{place}/bytecode"}  # as pip installs
        (Path(place) / "papers").mkdir()
        try:
            yield environment
        finally:
            stop = [sys.executable, "-m", "longsearch.app.cli", "daemon", "stop"]
            subprocess.run(stop, env=os.environ | environment, check=False, capture_output=True)


def starts(commands: dict[str, tuple[list[str], dict[str, str]]], n: int) -> None:
    """Start each program n times, in turns, and once before that; print how long its first frame takes."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for at in range(n + 1):
        for name, (command, environment) in commands.items():
            terminal = Terminal(command, environment)
            took = terminal.first_paint_s(), terminal.end()
            if at:  # the first start compiles the modules
                times[name].append(took)
    print(f"| first paint, best of {n} | clock | processor time |\n| --- | --- | --- |")
    for name, found in times.items():
        print(f"| {name} | {min(wall for wall, _ in found):.2f} s | {min(cpu for _, cpu in found):.2f} s |")


def bare_keys(n: int) -> None:
    """Move the focus and turn a page n times among Textual's own widgets; print how long its frame takes."""
    app = Terminal([sys.executable, "-c", BARE_PANES], {})
    app.first_paint_s()
    app.settle()
    keys = (
        ("a letter of the query", "a"),
        ("the focus, to the list", "\t"),
        ("down in the list", "\x1b[B"),
        ("the focus, to the text", "\t"),
        ("PgDn in the text", "\x1b[6~"),
        ("F1, a box", "\x1bOP"),
        ("Esc, back", "\x1b"),
    )
    times: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in keys}
    for _ in range(n):
        for name, key in keys:
            times[name].append(app.key(key))
        app.key("\t")  # to the query
    app.end()
    table(f"Textual's own widgets, n = {n}", times)


def table(what: str, times: dict[str, list[tuple[float, float]]]) -> None:
    """Print the times of keys, each with its processor time."""
    print(f"\n| {what} | best | median | processor time, best | median |\n| --- | --- | --- | --- | --- |")
    for name, found in times.items():
        wall, cpu = [sorted(one) for one in zip(*found, strict=True)]
        ms = [f"{1000 * value:.1f} ms" for value in (wall[0], statistics.median(wall), cpu[0], statistics.median(cpu))]
        print(f"| {name} | {' | '.join(ms)} |")


def keys(n: int) -> None:
    """Press each key n times in the app with 50,000 files and a document of 10 MB; print how long its frame takes."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "blocks.json"
        app = Terminal([sys.executable, str(PROGRAM), str(report)], {"PYTHONPATH": str(REPOSITORY)})
        app.first_paint_s()
        app.settle()
        times: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in KEYS}
        for _ in range(n):
            for name, key in KEYS:
                times[name].append(app.key(key))
            app.key("\x0c")  # Ctrl+L: the query line
            app.key("\x15")  # Ctrl+U: empty it
        os.write(app.fd, b"\x11")
        while app.process.poll() is None:
            app.read(0.1)
        blocks = json.loads(report.read_text())
    table(f"key to frame, n = {n}", times)
    print("\nlongest blocks of the event loop, in processor time:")
    for block_s, name in blocks:
        print(f"  {1000 * block_s:.1f} ms  {name}")


def main() -> None:
    """Measure starts, then keys."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="how often (default 5)")
    parser.add_argument("--beside", nargs="*", default=[], metavar="COMMAND", help="other programs to start, in turns")
    parser.add_argument("--only", choices=("starts", "keys"))
    options = parser.parse_args()
    if options.only != "keys":
        with a_home() as environment:
            papers = f"{environment['HOME']}/papers"
            ours = [sys.executable, "-m", "longsearch.app.cli", "open", papers]
            programs = {
                "longsearch": (ours, environment),
                "a bare Textual app": ([sys.executable, "-c", BARE], environment),
            }
            starts(programs | {one: (shlex.split(one), {}) for one in options.beside}, options.n)
    if options.only != "starts":
        keys(options.n)
        bare_keys(options.n)


if __name__ == "__main__":
    main()
