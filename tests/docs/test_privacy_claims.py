"""Without a model nothing leaves the machine: whoever asks the network is caught in the act."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT
from tests.stubs.servers import environment

GUARD = """
import sys

def guard(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        raise SystemExit(f"{event} {arguments[1:]}")
    if event == "subprocess.Popen":
        print(*arguments[1], file=sys.stderr)

sys.addaudithook(guard)
"""
PROGRAMS = ("isolation/process.py",)
PROGRAM = """
from sifaka_mcp.cli import run

text, spec, order, referring, sources, wrong = sys.argv[1:]
for command, *rest in (
    ["improve", text, "--spec", spec],
    ["validate", text, "--spec", spec, "--original", text],
    ["critique", wrong],
    ["verify", text, "--adapters", sources],
    ["research", "What is announced?", "--adapters", sources],
    ["validate", order, "--spec", referring],
):
    code = run([command, *rest, "--json"])
    print(command, code)
"""
SPEC = """
validators:
  - {type: length, max_words: 330}
  - {type: readability, max_grade: 9}
  - {type: format, format: markdown}
  - {type: preserve, names: true}
"""
REFERRING = """
validators:
  - {type: format, format: json, schema: {$ref: "https://schemas.example/order.json"}}
"""


def guarded(code: str, home: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", GUARD + code, *map(str, arguments)],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_the_commands_never_ask_the_network_and_start_nothing_but_the_checkers(
    tmp_path: Path,
) -> None:
    spec, order, referring = (tmp_path / name for name in ("a.yaml", "order.json", "b.yaml"))
    spec.write_text(SPEC)
    order.write_text("{}")
    referring.write_text(REFERRING)
    sources = f"sources=folder:{ROOT / 'examples' / 'sources'},past=thoughts:"
    wrong = tmp_path / "wrong.md"
    wrong.write_text("We recieve it as follow.\n")  # Harper reads what has signs of a mistake
    arguments = ("server/sifaka_mcp/cli/announcement.md", spec, order, referring, sources, wrong)
    done = guarded(PROGRAM, tmp_path, *arguments)
    ended = re.findall(r"^(\w+) (\d)$", done.stdout, re.MULTILINE)
    assert ended[:5] == [
        ("improve", "0"),
        ("validate", "1"),
        ("critique", "1"),
        ("verify", "0"),
        ("research", "1"),
    ], done.stderr
    assert "socket." not in done.stderr
    *started, refused = done.stderr.splitlines()
    programs = {next(word for word in line.split() if word.endswith(PROGRAMS)) for line in started}
    assert {"/".join(Path(program).parts[-2:]) for program in programs} == set(PROGRAMS)
    assert "https://schemas.example/order.json" in refused, "a schema is not fetched"


def test_the_guard_would_notice(tmp_path: Path) -> None:
    done = guarded("import socket; socket.create_connection(('127.0.0.1', 9))", tmp_path)
    assert done.returncode == 1
    assert "socket.getaddrinfo" in done.stderr
