"""`longsearch skill`, and what a registry of MCP servers reads about longsearch."""

import json
from pathlib import Path

import pytest

from longsearch.app.cli import COMMANDS, main
from longsearch.engine import __version__

REPOSITORY = Path(__file__).parents[2]


def test_the_skill_is_printed_and_installed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("---\nname: longsearch\ndescription: ")
    assert main(["skill", "install", "--to", str(home / "skills")]) == 0
    assert (home / "skills" / "longsearch" / "SKILL.md").read_text("utf-8") == printed
    assert len(printed) < 3_000, "an agent reads all of it"


def test_the_skill_names_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill"]) == 0
    named = [
        line.partition("`longsearch ")[2].split()[0]
        for line in capsys.readouterr().out.split(". ")
        if "`longsearch " in line
    ]
    assert named and {name.strip("`") for name in named} <= set(COMMANDS)


def test_the_registry_reads_this_version_under_the_name_that_the_readme_owns() -> None:
    server = json.loads((REPOSITORY / "server.json").read_text("utf-8"))
    assert server["version"] == __version__ == server["packages"][0]["version"]
    assert f"<!-- mcp-name: {server['name']} -->" in (REPOSITORY / "README.md").read_text("utf-8")
    assert len(server["description"]) <= 100
