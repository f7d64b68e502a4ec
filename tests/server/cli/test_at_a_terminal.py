"""What a person sees at a real terminal: progress, changes, past runs."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

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
            session.until(r"\d/\d writing version 1 - \d+ s - 0 calls")
            writes.open()
            session.until(r"\d/\d critiquing version 1 - \d+ s - 1 call - \$0\.004")
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
    assert 'the[- the-] ("the" is repeated) report' in words
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
        assert sum("just now" in row for row in rows) == 2
        assert not any("T" in row and "+00:00" in row for row in rows), "times as people say them"
    with at_terminal(home, "search", "report") as session:
        rows = [row.rstrip() for row in session.end().splitlines()]
    assert sum("just now" in row for row in rows) == 2
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
    assert re.search(r"then sifaka submit run_\w+ FILE; or let a model write it", words)
    assert "over MCP" not in words
