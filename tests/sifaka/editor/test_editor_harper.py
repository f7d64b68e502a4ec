"""Harper in a process of its own."""

import os
import pickle
import signal

import pytest

from sifaka.editor import grammar, lint
from sifaka.errors import PluginError

TEXT = "It went as follow and we saw it."


def rules(text: str) -> set[str | None]:
    return {issue.rule for issue in lint(text).issues}


def pid_of(harper: grammar.Harper) -> int:
    return harper.worker.work(pickle.dumps((os.getpid, ())), seconds=5, memory=1 << 30)


@pytest.mark.slow
def test_a_process_that_was_killed_is_replaced() -> None:
    assert "harper.AsFollows" in rules(TEXT)
    killed = pid_of(grammar.shared_harper())
    os.kill(killed, signal.SIGKILL)
    assert "harper.AsFollows" in rules("The path goes as follow, we think.")
    assert pid_of(grammar.shared_harper()) != killed


def test_a_text_that_kills_harper_twice_is_reported_as_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grammar, "_MOST_SECONDS", 0.0)
    harper = grammar.Harper()
    with pytest.raises(PluginError, match="took too long"):
        harper.lint(["in in on on by " * 2_000])
    harper.close()


@pytest.mark.slow
def test_an_idle_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_IDLE_SECONDS", 0.05)
    harper = grammar.Harper()
    before = pid_of(harper)
    harper.lint([TEXT])
    harper.idle.join(60)
    assert pid_of(harper) != before
    harper.close()
