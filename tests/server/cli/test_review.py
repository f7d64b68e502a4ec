"""`sifaka improve --review` and `--suggestions`: a person at a terminal, and none."""

import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from sifaka_mcp.cli.improve import accepted_fixes, suggested_fixes
from tests.stubs.commands import SIFAKA, Sifaka, own_environment

pty = pytest.importorskip("pty")
TEXT = "I seen a fox. We like apples,pears and plums here. He done it. They done the work.\n"
SEEN, COMMA, DONE, WORK = "saw", ", ", "did", "did"


def decided(keys: str) -> list[str | None]:
    """The fixes accepted by these keys, and none by what would come after them."""
    waiting: Iterator[str] = iter(keys)
    console = Console(file=io.StringIO())
    chosen = accepted_fixes(TEXT, suggested_fixes(TEXT), lambda: next(waiting, ""), console)
    assert next(waiting, None) is None, "not every key was read"
    return [issue.fix for issue in chosen]


@pytest.mark.parametrize(
    ("keys", "accepted"),
    [
        ("yyyy", [SEEN, COMMA, DONE, WORK]),
        ("nnnn", []),
        ("nyny", [COMMA, WORK]),
        ("q", []),
        ("yq", [SEEN]),
        ("an", [SEEN, DONE, WORK]),
        ("NxYnY", [COMMA, WORK]),
        ("y", [SEEN]),  # the terminal is gone
    ],
)
def test_keys_decide_fix_by_fix(keys: str, accepted: list[str]) -> None:
    assert decided(keys) == accepted


def test_the_sentence_is_shown_with_the_change_in_it() -> None:
    shown = io.StringIO()
    fixes = suggested_fixes(TEXT)
    accepted_fixes(TEXT, fixes, lambda: "n", Console(file=shown, width=120))
    assert "  We like apples[-,-]{+, +}pears and plums here.\n" in shown.getvalue()
    assert "1/4 wrong_verb" in shown.getvalue()


def reviewed(folder: Path, keys: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command at a terminal at which each of the keys was typed on a line."""
    person, terminal = pty.openpty()
    with os.fdopen(person, "wb", buffering=0) as keyboard:
        keyboard.write("".join(f"{key}\n" for key in keys).encode())
        try:
            return subprocess.run(
                [*SIFAKA, "improve", "text.md", "--review", *arguments],
                cwd=folder,
                env=own_environment(folder),
                stdin=terminal,
                capture_output=True,
                timeout=100,
                check=False,
            )
        finally:
            os.close(terminal)


@pytest.mark.slow
def test_accepted_fixes_become_one_version(here: Path, sifaka: Sifaka) -> None:
    (here / "text.md").write_text(TEXT)
    done = reviewed(here, "ynny", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["text"] == TEXT.replace("I seen", "I saw").replace("They done", "They did")
    assert result["status"] == "done"
    thoughts = sifaka.json("history", result["run_id"])["thoughts"]
    assert [version["author"] for version in thoughts] == ["input", "caller"]
    # Where nothing is suggested nothing is asked.
    (here / "text.md").write_text("The cat slept on the warm roof.\n")
    done = reviewed(here, "", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["changed"] is False


@pytest.mark.slow
def test_q_keeps_what_was_accepted_and_safe_edits_are_made_without_asking(here: Path) -> None:
    (here / "text.md").write_text("He dont go. " + TEXT)
    done = reviewed(here, "yq", "--in-place")
    assert done.returncode == 0, done.stderr
    assert (here / "text.md").read_text() == "He doesn't go. " + TEXT.replace("I seen", "I saw")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["-", "text.md"])
def test_without_a_terminal_the_error_says_what_to_do(here: Path, file: str) -> None:
    done = subprocess.run(
        [*SIFAKA, "improve", file, "--review"],
        env=own_environment(here),
        cwd=here,
        input=TEXT.encode(),
        capture_output=True,
        timeout=100,
        check=False,
        start_new_session=True,  # which has no terminal
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--review asks at a terminal, and there is none" in done.stderr
    assert b"--suggestions" in done.stderr


def test_suggestions_are_made_when_asked_for(here: Path, sifaka: Sifaka) -> None:
    (here / "text.md").write_text(TEXT)
    assert sifaka.json("improve", "text.md", "--suggestions")["text"] == (
        "I saw a fox. We like apples, pears and plums here. He did it. They did the work.\n"
    )
