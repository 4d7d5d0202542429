"""`longsearch status`: what is searchable, what is not yet, and what cannot be, and why."""

import json
from argparse import Namespace
from dataclasses import asdict

from app.paths import find_index, index_path
from engine.printable import printable
from engine.store.store import Store
from engine.types import FileState, FileStatus, IndexProgress


def run(options: Namespace) -> int:
    """Always 0 where there is an index."""
    root, under = find_index(options.folder)
    with Store.open(index_path(root), read_only=True) as store:
        progress, files = store.progress(), store.files()
    files = [file for file in files if not under or file.path.startswith(f"{under}/")]
    if options.json:
        summary = {"root": str(root), **asdict(progress), "eta_s": progress.eta_s}
        print(json.dumps({**summary, "files": [asdict(file) for file in files]}, indent=2))
        return 0
    for file in files:
        if options.all or file.state is not FileState.CURRENT:
            print(describe(file))
    print(summarise(progress))
    return 0


def describe(file: FileStatus) -> str:
    """One file in a line or two."""
    line = f"{file.state.value:8} {printable(file.path)}"
    if file.n_tokens:
        line += f"  ({file.n_tokens_embedded:,} of {file.n_tokens:,} tokens)"
    if file.reason:
        line += f"\n         {printable(file.reason)}" + (f"; {printable(file.hint)}" if file.hint else "")
    return line


def summarise(progress: IndexProgress) -> str:
    """The whole root in a line."""
    counts = [f"{progress.n_current} current"]
    for number, word in (
        (progress.n_waiting, "waiting"),
        (progress.n_partial, "partial"),
        (progress.n_failed, "failed"),
    ):
        if number:
            counts.append(f"{number} {word}")
    tokens = f"{progress.n_tokens_embedded:,} of {progress.n_tokens:,} tokens embedded"
    files = f"{progress.n_files} file{'s' * (progress.n_files != 1)}"
    return f"{files}: {', '.join(counts)}; {tokens}"
