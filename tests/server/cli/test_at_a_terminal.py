"""What a person sees and answers at a real terminal: progress, changes, past runs, reviews."""

import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from sifaka_mcp.cli.improve import accepted_fixes, suggested_fixes
from tests.stubs.commands import SIFAKA, Sifaka, own_environment
from tests.stubs.provider import Gate, Reply, opinion, provider, says
from tests.stubs.terminal import at_terminal

TEXT = (
    "We have decided to send you the the report more then two times a day, so you donâ€™t have to "
    "ask. Please recieve it, and write to us.\n"
)


def priced(reply: Reply) -> Reply:
    """The reply of a model with a known price: 1,000 tokens in and 150 out of gpt-4o."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 150, "total_tokens": 1150}
    return replace(reply, body={**reply.body, "model": "gpt-4o", "usage": usage})


def improved(home: Path, name: str, text: str) -> str:
    """What `sifaka improve` shows of a text in a file of that name, with the changes marked."""
    file = home.parent / name
    file.write_text(text)
    with at_terminal(home, "improve", str(file), "--out", str(file)) as session:
        return session.end()


@pytest.mark.slow
def test_progress_tells_round_phase_version_time_calls_and_cost(tmp_path: Path) -> None:
    judges, writes = Gate(), Gate()
    replies = [
        replace(priced(says("Please come in, dear guest.")), gate=writes),
        replace(opinion("accept", confidence=1.0), gate=judges),
    ]
    with provider(replies) as served:
        keys = {"OPENAI_BASE_URL": served.url, "OPENAI_API_KEY": "test"}
        file = tmp_path / "text.md"
        file.write_text("Come in, guest.\n")
        asked = ("improve", str(file), "--model", "openai-chat:gpt-4o", "--prompt", "Friendlier.")
        with at_terminal(tmp_path / "home", *asked, settings=keys) as session:
            session.until(r"\d/\d writing version 1 - 0:\d\d:\d\d - 0 calls")
            writes.open()
            session.until(r"\d/\d critiquing version 1 - 0:\d\d:\d\d - 1 call - \$0\.004")
            judges.open()
            shown = session.end()
    assert "done" in shown


@pytest.mark.slow
def test_changes_split_no_word_and_rows_fit_the_terminal_in_any_script(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shown = improved(home, "text.md", TEXT)
    words = " ".join(shown.split())
    assert '[-then-]{+than+} ("than" instead of "then") two times a day,' in words
    assert "[-donâ€™t-]{+don’t+} (wrong encoding" in words
    assert 'the [-the -] ("the" is repeated) report' in words
    report = shown[shown.index("We have decided") : shown.index("done (")]
    for line in report.splitlines():
        assert cell_len(line.rstrip()) <= 80, line
        assert not line.startswith(" "), line
    improved(home, "ja.md", "日本語の文章を改善するための長い文章です。" * 9)
    for columns in (60, 120):
        with at_terminal(home, "history", columns=columns) as session:
            rows = [row.rstrip() for row in session.end().splitlines()]
        assert any("日本語" in row for row in rows)
        assert all(cell_len(row) <= columns for row in rows), rows
        assert sum(row.startswith("run_") for row in rows) == 2
    with at_terminal(home, "search", "report") as session:
        rows = [row.rstrip() for row in session.end().splitlines()]
    assert sum(row.startswith("run_") for row in rows) == 2
    assert all(cell_len(row) <= 80 for row in rows), rows


def test_who_starts_the_server_by_hand_is_told_what_it_is(tmp_path: Path) -> None:
    with at_terminal(tmp_path / "home", "serve", keys=True) as session:
        assert "an MCP server, which a host starts" in session.until("--help")


@pytest.mark.slow
def test_a_text_that_needs_a_writer_names_the_command_for_the_next_version(tmp_path: Path) -> None:
    file = tmp_path / "text.md"
    file.write_text("Come in, guest.\n")
    with at_terminal(tmp_path / "home", "improve", str(file), "--prompt", "Friendlier.") as session:
        words = " ".join(session.end().split())
    assert re.search(r"then `sifaka submit run_\w+ FILE`. .* --model provider:name", words)
    assert "over MCP" not in words


pty = pytest.importorskip("pty")
DRAFT = "I seen a fox. We met less people here. He done it. They done the work.\n"
SEEN, FEWER, DONE, WORK = "saw", "fewer", "did", "did"


def decided(keys: str) -> list[str | None]:
    """The fixes accepted by these keys, and none by what would come after them."""
    waiting: Iterator[str] = iter(keys)
    console = Console(file=io.StringIO())
    chosen = accepted_fixes(DRAFT, suggested_fixes(DRAFT), lambda: next(waiting, ""), console)
    assert next(waiting, None) is None, "not every key was read"
    return [issue.fix for issue in chosen]


@pytest.mark.parametrize(
    ("keys", "accepted"),
    [
        ("yyyy", [SEEN, FEWER, DONE, WORK]),
        ("nnnn", []),
        ("nyny", [FEWER, WORK]),
        ("q", []),
        ("yq", [SEEN]),
        ("an", [SEEN, DONE, WORK]),
        ("NxYnY", [FEWER, WORK]),
        ("y", [SEEN]),  # the terminal is gone
    ],
)
def test_keys_decide_fix_by_fix(keys: str, accepted: list[str]) -> None:
    assert decided(keys) == accepted


def test_the_sentence_is_shown_with_the_change_in_it() -> None:
    shown = io.StringIO()
    fixes = suggested_fixes(DRAFT)
    accepted_fixes(DRAFT, fixes, lambda: "n", Console(file=shown, width=120))
    assert "  We met [-less-]{+fewer+} people here.\n" in shown.getvalue()
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
    (here / "text.md").write_text(DRAFT)
    done = reviewed(here, "ynny", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["text"] == DRAFT.replace("I seen", "I saw").replace("They done", "They did")
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
    (here / "text.md").write_text("He dont go. " + DRAFT)
    done = reviewed(here, "yq", "--in-place")
    assert done.returncode == 0, done.stderr
    assert (here / "text.md").read_text() == "He doesn't go. " + DRAFT.replace("I seen", "I saw")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["-", "text.md"])
def test_without_a_terminal_the_error_says_what_to_do(here: Path, file: str) -> None:
    done = subprocess.run(
        [*SIFAKA, "improve", file, "--review"],
        env=own_environment(here),
        cwd=here,
        input=DRAFT.encode(),
        capture_output=True,
        timeout=100,
        check=False,
        start_new_session=True,  # which has no terminal
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--review asks at a terminal, and there is none" in done.stderr
    assert b"--suggestions" in done.stderr


def test_suggestions_are_made_when_asked_for(here: Path, sifaka: Sifaka) -> None:
    (here / "text.md").write_text(DRAFT)
    assert sifaka.json("improve", "text.md", "--suggestions")["text"] == (
        "I saw a fox. We met fewer people here. He did it. They did the work.\n"
    )
