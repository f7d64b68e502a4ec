"""What a command loads before it does its work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import json, sys
from sifaka_mcp.cli import run
try:
    code = run(sys.argv[1:])
except SystemExit as exit:
    code = exit.code
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""
PROTOCOL = {"mcp", "mcp_types", "starlette", "uvicorn"}


def modules_of(*arguments: str, folder: Path) -> set[str]:
    """The top-level packages that a command has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        cwd=folder,
        env={"SIFAKA_HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] in {0, 1, None}, done.stderr
    return {name.partition(".")[0] for name in told["modules"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("improve", "--help"),
        ("improve", "text.md", "--max-words", "5"),
        ("validate", "text.md", "--max-words", "5"),
        ("critique", "text.md", "--critics", "lint"),
        ("history",),
        ("search", "word"),
    ],
    ids=" ".join,
)
def test_a_command_that_does_not_serve_imports_no_protocol(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "text.md").write_text("This is is a text.\n", encoding="utf-8")
    assert not modules_of(*arguments, folder=tmp_path) & PROTOCOL


def test_the_help_imports_no_settings_and_no_model_library(tmp_path: Path) -> None:
    assert not modules_of("--help", folder=tmp_path) & {*PROTOCOL, "pydantic", "pydantic_ai"}
