"""The skill, and the plugins that bring it and the server to hosts.

`make plugins` installs them into three hosts.
"""

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
