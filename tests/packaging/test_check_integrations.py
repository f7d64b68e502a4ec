"""The hooks for pre-commit, and the action for GitHub."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packaging.project import ROOT
from tests.packaging.uv import run_uv, uv_environment, uv_executable
from tests.stubs.servers import environment

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
WRONG = "We recieve it.\n"


@pytest.mark.slow
def test_each_hook_calls_the_command_with_the_files(tmp_path: Path) -> None:
    for hook in HOOKS:
        (tmp_path / "a.md").write_text(WRONG)
        program, *arguments = hook["entry"].split()
        assert program == "sifaka"
        done = subprocess.run(
            [sys.executable, "-m", "sifaka_mcp.cli", *arguments, "--no-config", "a.md"],
            cwd=tmp_path,
            env=environment(tmp_path / "home", PYTHONPATH=f"{ROOT}:{ROOT / 'server'}"),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        fixes = "--fix" in arguments
        assert (done.returncode, fixes) in {(1, False), (0, True)}, done.stderr
        assert (tmp_path / "a.md").read_text() == ("We receive it.\n" if fixes else WRONG)


@pytest.mark.slow
def test_the_script_of_the_action_reports_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRONG)
    (tmp_path / "b; touch c").mkdir()
    *_, step = ACTION["runs"]["steps"]
    given = {"PATHS": "a.md b;", "ARGUMENTS": "--no-config --select spelling"}
    program = str(Path(sys.executable).with_name("sifaka"))
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=environment(tmp_path / "home", **given, SARIF_FILE="", SIFAKA=program),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.startswith("::error file=a.md,line=1,endLine=1,col=4,")
    assert "sifaka: b;: No such file or directory" in done.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.slow
def test_the_action_writes_a_report_for_the_code_host(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WRONG)
    *_, step = ACTION["runs"]["steps"]
    assert set(step["env"]) == {"PATHS", "ARGUMENTS", "SARIF_FILE", "SIFAKA"}
    given = {"PATHS": "a.md", "ARGUMENTS": "--no-config", "SARIF_FILE": "found.sarif"}
    program = str(Path(sys.executable).with_name("sifaka"))
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=environment(tmp_path / "home", **given, SIFAKA=program),
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert len(json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]) == 1


def test_no_input_of_the_action_is_put_into_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@pytest.mark.servers
@pytest.mark.timeout(600)
def test_pre_commit_and_github_take_the_files_as_theirs() -> None:
    tool = (uv_executable("uvx"), "--quiet")
    run_uv(*tool, "pre-commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    check = (*tool, "check-jsonschema", "--builtin-schema", "vendor.github-actions")
    run_uv(*check, str(ROOT / "action.yml"))


@pytest.mark.servers
@pytest.mark.timeout(900)
def test_pre_commit_runs_the_hook_in_another_repository(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.md").write_text(WRONG)
    (project / "code.py").write_text("x = 'recieve'\n")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=project, check=True)
    run_uv(uv_executable("uvx"), "--quiet", "pre-commit", "--version")
    done = subprocess.run(
        [uv_executable("uvx"), "--quiet", "pre-commit", "try-repo", str(ROOT), "sifaka-check"],
        cwd=project,
        env={
            **uv_environment(),
            "PRE_COMMIT_HOME": str(tmp_path / "cache"),
            "HOME": os.environ["HOME"],
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a.md:1:4: misspelling" in done.stdout
    assert "code.py" not in done.stdout
