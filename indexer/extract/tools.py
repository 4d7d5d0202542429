"""Runs a program on one file, inside the limits of the child, and reads what it prints as text.

For formats that only a program of their own can read: DjVu, MOBI, and those that a person names in the settings
(ending of a file's name -> command). Runs in the child only. The program belongs to the child's session, so killing
the child kills it too. It gets no standard input, and a folder of its own in which it may write a limited amount.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from longsearch.engine.errors import ExtractionError
from longsearch.engine.platforms.pipes import reader_of
from longsearch.indexer.extract.clean import one_line
from longsearch.indexer.extract.formats import Format
from longsearch.indexer.extract.wire.limits import MAX_TEXT_FILE_BYTES
from longsearch.indexer.extract.wire.sandbox import widen_limits

PATH, FOLDER = "{path}", "{folder}"
"""Words of a command that stand for the file's path and for the folder in which the program may write."""
OFFICE = ("soffice", "libreoffice")
PROGRAMS = {
    Format.OLD_OFFICE: OFFICE,
    Format.SHEETS: OFFICE,
    Format.DJVU: ("djvutxt",),
    Format.MOBI: ("mobitool", "ebook-convert"),
}
"""The programs of each format that is not read by a library."""
STARTED = ("tesseract", *dict.fromkeys(program for own in PROGRAMS.values() for program in own))
"""All that a child may start, beside the commands of the settings."""
_OF_HOME = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""Where a program keeps things of its own: LibreOffice ends if it may not write there."""
_MAX_ERROR_BYTES = 4_000
_made: list[Path] = []
"""The folder that was made before this process lost the right to make one, until a program has had it."""
_MAX_REASON_CHARACTERS = 120


def opens_path(file_format: Format, name: str) -> bool:
    """Return whether a program opens files of this format by their path, and is there."""
    if file_format is Format.SHEETS and not name.lower().endswith(".xls"):
        return False
    return file_format is Format.ADAPTED or any(map(shutil.which, PROGRAMS.get(file_format, ())))


def folders_of_programs() -> Iterator[str]:
    """Yield where the programs lie that a child may start, with their libraries.

    The parent tells its children, each of which would take ten milliseconds to find them.
    """
    for program in filter(None, map(shutil.which, STARTED)):
        folder = Path(program).resolve().parent
        yield from (str(folder), str(folder.with_name("lib")))


def folder_of(pid: int) -> Path:
    """Return the folder in which programs of the child with this id may write. The parent removes it after a kill."""
    # not tempfile.gettempdir(), which tries to write a file; Windows has TEMP
    return Path(os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp") / f"longsearch-child-{pid}"  # noqa: S108


def make_folder() -> Path:
    """Make the folder for the next program now. Raises OSError if something is in its place."""
    folder = folder_of(os.getpid())
    folder.mkdir(mode=0o700)
    _made.append(folder)
    return folder


def remove_folder_of(pid: int) -> None:
    """Remove what programs of this child left."""
    shutil.rmtree(folder_of(pid), ignore_errors=True)


def text_from(command: Sequence[str], path: str, result: str = "") -> bytes:
    """Run `command` on the file at `path` and return what it prints, or what it writes to the file `result`.

    `{path}` in a word of the command stands for the path, which comes last if no word has it; `{folder}` stands for a
    folder that is removed afterwards. `result` is a pattern under that folder, such as "*.txt". Raises
    `ExtractionError` if the program is missing, fails, or prints more than `MAX_TEXT_FILE_BYTES`.
    """
    program = shutil.which(command[0])
    if program is None:
        raise ExtractionError(f"needs {command[0]}, which is not installed", "install it, then: index --retry-failed")
    words = [program, *command[1:], *(() if any(PATH in word for word in command) else (PATH,))]
    if not (is_jailed := bool(_made)):
        make_folder()
    folder = _made.pop()
    try:
        printed = _run([word.replace(PATH, path).replace(FOLDER, str(folder)) for word in words], folder, is_jailed)
        return _largest(folder, result) if result else printed
    finally:
        remove_folder_of(os.getpid())


def _run(words: Sequence[str], folder: Path, is_jailed: bool) -> bytes:
    name = Path(words[0]).name
    places = ("TMPDIR", "CALIBRE_CONFIG_DIRECTORY", *(_OF_HOME if is_jailed else ()))
    environment = {**os.environ, "LC_ALL": "C.UTF-8", **dict.fromkeys(places, str(folder))}
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the path is absolute, so it is never an option
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            preexec_fn=None if os.name == "nt" else widen_limits,  # safe, because the child has one thread
        )
    except OSError as error:
        raise ExtractionError(f"{name} cannot be started: {error.strerror}") from error
    with process:
        try:
            printed, errors = _outputs(process, name)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = one_line(errors.decode("utf-8", "replace"), _MAX_REASON_CHARACTERS)
        raise ExtractionError(f"{name} cannot read it: {reason or f'status {process.returncode}'}")
    return printed


def _outputs(process: subprocess.Popen[bytes], name: str) -> tuple[bytes, bytes]:
    """Return what the program prints, and its first complaints. Raises `ExtractionError` if it is too much."""
    held = printed, errors = bytearray(), bytearray()
    pipes = [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]
    reader = reader_of(pipes)
    n_open = len(pipes)
    while n_open and (found := reader.read()):
        number, data = found
        n_open -= not data
        if held[number] is printed or len(errors) < _MAX_ERROR_BYTES:
            held[number].extend(data)
        if len(printed) > MAX_TEXT_FILE_BYTES:
            reader.close()
            raise ExtractionError(f"{name} prints more than {MAX_TEXT_FILE_BYTES / 1e6:.0f} MB of text")
    reader.close()
    return bytes(printed), bytes(errors)


def _largest(folder: Path, pattern: str) -> bytes:
    """Return the largest file under `folder` that fits the pattern, b"" if there is none. Links are not followed."""
    best, size = None, 0
    for path in folder.rglob(pattern):
        with suppress(OSError):
            if not path.is_symlink() and path.is_file() and size < path.stat().st_size <= MAX_TEXT_FILE_BYTES:
                best, size = path, path.stat().st_size
    return best.read_bytes() if best else b""
