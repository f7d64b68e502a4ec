"""What a command loads before it does its work."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_PROGRAM = """
import json, sys
from sifaka_mcp.cli import run
for arguments in json.loads(sys.argv[1]):
    try:
        code = run(arguments)
    except SystemExit as exit:
        code = exit.code
    told = {"code": code, "modules": sorted(sys.modules)}
    print(json.dumps(told), file=sys.stderr)
"""
PROTOCOL = {"mcp", "mcp_types", "starlette", "uvicorn"}


def modules_of(*arguments: str, folder: Path) -> set[str]:
    """The top-level packages that a command has imported at its end."""
    (modules,) = modules_after([arguments], folder)
    return modules


def modules_after(commands: Sequence[Sequence[str]], folder: Path) -> list[set[str]]:
    """The top-level packages that one process has imported after each of some commands."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, json.dumps(commands)],
        cwd=folder,
        env={"SIFAKA_HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    told = [json.loads(line) for line in done.stderr.splitlines() if line.startswith('{"code"')]
    assert [each["code"] in {0, 1, None} for each in told] == [True] * len(commands), done.stderr
    return [{name.partition(".")[0] for name in each["modules"]} for each in told]


def test_commands_that_do_not_serve_import_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("This is is a text.\n", encoding="utf-8")
    commands = [
        ("--help",),
        ("improve", "--help"),
        ("improve", "text.md", "--max-words", "5"),
        ("validate", "text.md", "--max-words", "5"),
        ("critique", "text.md", "--critics", "lint"),
        ("history",),
        ("search", "word"),
    ]
    for command, modules in zip(commands, modules_after(commands, tmp_path), strict=True):
        assert not modules & PROTOCOL, command


def test_the_help_imports_no_settings_and_no_model_library(tmp_path: Path) -> None:
    assert not modules_of("--help", folder=tmp_path) & {*PROTOCOL, "pydantic", "pydantic_ai"}
