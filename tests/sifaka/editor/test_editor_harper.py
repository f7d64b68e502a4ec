"""Harper in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sifaka.editor import grammar, harper_process, lint
from sifaka.errors import PluginError

TEXT = "It went as follow and we saw it."


def rules(text: str) -> set[str | None]:
    return {issue.rule for issue in lint(text).issues}


def test_a_process_that_was_killed_is_replaced() -> None:
    assert "harper.AsFollows" in rules(TEXT)
    killed = grammar.shared_harper().pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert "harper.AsFollows" in rules("The path goes as follow, we think.")
    assert grammar.shared_harper().pid != killed


def test_a_text_that_kills_harper_twice_is_reported_as_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grammar, "_MOST_SECONDS", 0.0)
    harper = grammar.Harper()
    with pytest.raises(PluginError, match="took too long"):
        harper.lint(["in in on on by " * 2_000])
    harper.close()


def test_an_idle_process_ends_although_its_input_stays_open() -> None:
    program = Path(harper_process.__file__)
    command = [sys.executable, "-I", str(program), json.dumps([]), "0.05"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(timeout=60) == 0
