"""Past runs at a terminal: times as people say them, and rows that fit."""

import io
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from rich.cells import cell_len

from sifaka_mcp.schemas.history import HistoryOut, RunLine
from sifaka_mcp.schemas.wire import Foreign
from sifaka_mcp.view.progress import duration
from sifaka_mcp.view.terminal import ago, show_rows

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=2, minutes=59), "2 hours ago"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=8), "1 week ago"),
        (timedelta(days=65), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
    ],
)
def test_times_are_told_as_people_say_them(passed: timedelta, said: str) -> None:
    assert ago(NOW - passed, NOW) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (14.9, "14 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")]
)
def test_durations_are_told_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def row(run_id: str, status: Literal["done", "failed"], excerpt: str) -> RunLine:
    return RunLine(
        run_id=run_id,
        status=status,
        passed=status == "done",
        stop_reason=None,
        iterations=12,
        excerpt=Foreign(excerpt),
        created_at=NOW.isoformat(),
        updated_at=(NOW - timedelta(days=320)).isoformat(),
    )


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_rows_fit_with_wide_characters(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    names = ["run_0123456789abcdef", "run_0123456789abcde0"]
    rows = [row(name, "failed", "改善するための長い文章です。" * 20) for name in names]
    show_rows(HistoryOut(runs=rows), stream, now=NOW)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert all(cell_len(line) <= columns for line in lines), lines
    assert all("10 months ago" in line for line in lines)
    assert any(line.startswith("run_0123456789abcdef") for line in lines)


def test_what_a_text_would_do_to_a_terminal_is_not_done() -> None:
    stream = io.StringIO()
    rows = [row("run_1", "done", "a\x1b[2Jb\u202ec\n d")]
    show_rows(HistoryOut(runs=rows), stream, now=NOW)
    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 1


def test_nothing_found_is_said() -> None:
    stream = io.StringIO()
    show_rows(HistoryOut(runs=[]), stream, now=NOW)
    assert stream.getvalue() == "nothing found\n"
