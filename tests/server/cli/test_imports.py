"""What a command loads before it does its work."""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.startup import REQUESTS, hear, say

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


def modules_after(commands: Sequence[Sequence[str]], folder: Path) -> list[set[str]]:
    """The modules that one process has imported after each of some commands."""
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
    return [set(each["modules"]) for each in told]


@pytest.mark.slow
def test_commands_that_do_not_serve_import_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("This is is a text.\n", encoding="utf-8")
    commands = [
        ("--help",),
        ("improve", "--help"),
        ("validate", "text.md", "--max-words", "5"),
        ("critique", "text.md", "--critics", "lint"),
        ("improve", "text.md", "--max-words", "5"),
        ("history",),
        ("search", "word"),
    ]
    after = modules_after(commands, tmp_path)
    for command, modules in zip(commands, after, strict=True):
        assert not modules & PROTOCOL, command
    assert not after[0] & {"importlib.metadata", "pydantic", "pydantic_ai"}
    assert not after[2] & {"sifaka.chain.chain", "sifaka.chain.configuration", "sifaka.critics"}


@pytest.mark.slow
def test_a_check_against_rules_opens_no_store(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("This is a text.\n", encoding="utf-8")
    modules_after([("validate", "text.md", "--max-words", "5")], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["text.md"]


_SERVER = """
import sys, threading

def note(event, arguments):
    if event == "import" and threading.current_thread() is threading.main_thread():
        print("imports", arguments[0], file=sys.stderr)

sys.addaudithook(note)
from sifaka_mcp.cli import serve_main
serve_main()
"""
NEEDED_BY_CALLS = {
    "openai", "opentelemetry.sdk", "pydantic_ai", "redis",
    "sifaka.chain.chain", "sifaka.chain.configuration", "sifaka.critics", "sifaka.editor",
    "sifaka.research.researcher", "sifaka.tasks", "sifaka.validators",
    "sifaka_mcp.schemas", "sifaka_mcp.tools.definition", "sifaka_mcp.tools.awaited_run",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("era", REQUESTS)
def test_a_server_that_lists_tools_has_imported_no_more(era: str, tmp_path: Path) -> None:
    """What the warm-up imports in its thread is not counted: no answer waits for it."""
    assert all(map(find_spec, NEEDED_BY_CALLS)), "a module there has another name now"
    first, second = REQUESTS[era]
    told = tmp_path / "stderr"
    with (
        told.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            env={"SIFAKA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        ) as server,
    ):  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        say(server.stdin, first, number=1)
        hear(server.stdout, 1)
        say(server.stdin, second, number=2)
        hear(server.stdout, 2)
        server.kill()
    lines = told.read_text(encoding="utf-8").splitlines()
    imported = {line.split()[1] for line in lines if line.startswith("imports ")}
    assert "sifaka_mcp.tools" in imported
    assert not imported & NEEDED_BY_CALLS
