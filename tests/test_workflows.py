"""The workflows: what they cover, that they pin what they run, and that they ask for no right they do not need."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_pins_its_actions_and_reads_only(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for step in steps(workflow):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]) if "uses" in step else step["run"]
        assert "${{" not in step.get("run", ""), "a value that a stranger chose would become part of a script"
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False
    assert all(job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())


def test_the_tests_run_on_each_python_on_linux_and_macos_with_lowest_and_newest_dependencies() -> None:
    jobs = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert {name.rpartition("-")[0] if name.endswith("arm") else name.split("-")[0] for name in matrix["os"]} == {
        "ubuntu", "ubuntu-24.04", "macos",
    }  # fmt: skip
    which = {row["which"]: row["resolution"] for row in jobs["dependencies"]["strategy"]["matrix"]["include"]}
    assert which == {"lowest": "lowest-direct", "newest": "highest"}
    assert jobs["windows"]["continue-on-error"] is True


def test_the_kernels_of_the_gpu_run_in_tritons_interpreter_with_the_mamba_ssm_that_the_docs_install() -> None:
    ci = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    (tests,) = [step for step in steps(ci) if step.get("env", {}).get("TRITON_INTERPRET") == "1"]
    assert tests["run"].startswith("pytest -m gpu tests/gpu/test_gpu_kernels.py")
    (install,) = [step for step in steps(ci) if "mamba-ssm" in step.get("run", "")]
    docs = (REPOSITORY / "docs" / "gpu.md").read_text("utf-8")
    flags = " ".join(f"{name}={value}" for name, value in install["env"].items())
    assert f"{flags} {install['run']}" in docs


@pytest.mark.parametrize("name", ["run", "sbom", "wheels"])
def test_a_script_that_a_workflow_runs_may_be_run(name: str) -> None:
    assert (REPOSITORY / ".ci" / name).stat().st_mode & 0o100


def test_the_hooks_before_a_commit_are_the_checks_of_the_gate() -> None:
    gate = (REPOSITORY / ".ci" / "run").read_text("utf-8")
    checks = gate.partition('echo "== the checks"\n')[2].partition("\n\n")[0].splitlines()
    (repository,) = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    hooks = repository["hooks"]
    assert [hook["entry"] for hook in hooks] == checks
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in hooks)
