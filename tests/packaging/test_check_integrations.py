"""The hooks for pre-commit, the action for GitHub, the skill, and the plugins of hosts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sifaka_mcp.tools import TOOLS
from tests.packaging.project import PROJECT, ROOT
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


SKILL = ROOT / "skills" / "sifaka" / "SKILL.md"
HOOK = ROOT / "hooks" / "check_written.py"
MANIFESTS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json")


def read(name: str) -> dict[str, Any]:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_has_the_version_and_starts_the_server_from_its_own_files(name: str) -> None:
    manifest = read(name)
    assert (manifest["name"], manifest["version"]) == ("sifaka", PROJECT["version"])
    server = manifest["mcpServers"]["sifaka"]
    # A name that nobody has registered would be run on users' machines by whoever does.
    assert server["command"] == "uv"
    assert server["args"][0] == "run"
    assert server["args"][-1] == "sifaka-mcp"
    assert "--frozen" in server["args"]


def test_the_marketplace_has_the_plugin() -> None:
    listed = read(".claude-plugin/marketplace.json")["plugins"]
    assert [(each["name"], each["source"]) for each in listed] == [("sifaka", "./")]


def test_the_skill_is_short_and_names_what_there_is() -> None:
    text = SKILL.read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields["name"] == SKILL.parent.name
    assert len(fields["description"]) <= 1024
    assert len(text.splitlines()) <= 120
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", body))
    arguments = {"parent_id", "run_id", "needs_revision", "not_enough_info"}
    assert named - arguments <= TOOLS.keys()


@pytest.mark.parametrize(
    ("switch", "name", "text", "code"),
    [
        ("1", "notes.md", "This is teh text.\n", 2),
        ("1", "notes.md", "This is the text.\n", 0),
        ("1", "notes.py", "# This is teh text.\n", 0),
        ("1", "gone.md", None, 0),
        ("", "notes.md", "This is teh text.\n", 0),
    ],
)
@pytest.mark.slow
def test_the_hook_tells_mistakes_in_markdown_where_it_is_asked_to(
    tmp_path: Path, switch: str, name: str, text: str | None, code: int
) -> None:
    written, programs = tmp_path / name, tmp_path / "bin"
    if text is not None:
        written.write_text(text, encoding="utf-8")
    programs.mkdir()
    uv = programs / "uv"  # it runs what is installed here, whatever its options are
    command = f'exec "{sys.executable}" -m sifaka_mcp.cli "$@"'
    lines = ("#!/bin/sh", 'while [ "$1" != sifaka ]; do shift; done', "shift", command)
    uv.write_text("\n".join(lines), encoding="utf-8")
    uv.chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    done = subprocess.run(
        (sys.executable, HOOK), capture_output=True, check=False, text=True, timeout=60,
        input=json.dumps({"tool_input": {"file_path": str(written)}}),
        env={**os.environ, "PATH": path, "SIFAKA_CHECK_WRITTEN": switch},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert ('"teh" should be "the"' in done.stderr) == (code == 2)
