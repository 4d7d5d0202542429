"""docs/editors.md and docs/agents.md: their entries parse, and the editors that are here run what the pages show."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from longsearch.app.cli import build_parser
from longsearch.app.commands.records import FIELDS
from tests.app.made_folders import make_folder

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_entries_of_clients_start_longsearch_mcp() -> None:
    entries = [json.loads(block) for block in blocks("agents.md", "json") if "command" in block]
    found = [servers["longsearch"] for entry in entries for servers in entry.values()]
    found += [tomllib.loads(block)["mcp_servers"]["longsearch"] for block in blocks("agents.md", "toml")]
    assert len(found) == 4
    for server in found:
        assert Path(server["command"]).name == "longsearch"
        assert build_parser(["mcp"]).parse_args(server["args"]).command == "mcp"


def test_the_pattern_of_the_vs_code_task_reads_a_line_of_its_template() -> None:
    (task,) = json.loads(blocks("editors.md", "json")[0])["tasks"]
    options = build_parser(["search"]).parse_args([*task["args"][:-1], "a query"])
    assert options.format == "{path}:{line}: {excerpt}"
    pattern = task["problemMatcher"]["pattern"]
    found = re.match(pattern["regexp"], "/notes/a b.md:12: The tide: 3 m.")
    assert found is not None
    assert [found[pattern[name]] for name in ("file", "line", "message")] == ["/notes/a b.md", "12", "The tide: 3 m."]


def test_the_page_names_every_field_of_a_template() -> None:
    page = (DOCS / "editors.md").read_text("utf-8")
    assert all(f"`{{{name}}}`" in page for name in FIELDS)


@pytest.mark.parametrize("editor", ["vim", "nvim"])
def test_the_vim_command_fills_the_quickfix_list(editor: str, home: Path) -> None:
    program = shutil.which(editor)
    if program is None:
        pytest.skip(f"{editor} is not installed")
    make_folder(home / "notes", {"tides.md": "It's the tide that follows the moon."})
    (home / "bin").mkdir()
    stub = home / "bin" / "longsearch"
    root = Path(__file__).parents[2]
    stub.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m longsearch.app.cli "$@"\n')
    stub.chmod(0o755)
    script = home / "try.vim"
    script.write_text(
        blocks("editors.md", "vim")[0]
        + "Longsearch It's the tide\ncfirst\ncall writefile([expand('%:t') . ':' . line('.')], 'out.txt')\nqall!\n"
    )
    quiet = ["-Nu", "NONE", "-es"] if editor == "vim" else ["-u", "NONE", "--headless"]
    environment = {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(
        [program, *quiet, "-S", str(script)],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert (home / "out.txt").read_text() == "tides.md:1\n"
