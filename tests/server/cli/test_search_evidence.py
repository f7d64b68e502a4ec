"""`sifaka search-evidence`: what is printed, and the exit code."""

import csv
import json
from pathlib import Path

import pytest

from sifaka_mcp.cli import run
from tests.server.test_search_evidence import BUILT, PLAN, QUESTION, TALL, judged, pages_in
from tests.stubs.provider import provider, told_of


def test_the_command_prints_tables_and_lines(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = pages_in(here)
    command = ["search-evidence", QUESTION, "--adapters", pages]
    with provider(judged) as provided:
        told_of(provided, monkeypatch)
        asked = [*command, "--model", "openai-chat:stub"]
        assert run([*asked, "--csv"]) == 0
        rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
        assert run([*asked, "--jsonl"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert run([*asked, "--plan", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
    assert [row["classification"] for row in rows] == ["perfect", "partial", "reject"]
    assert rows[0]["quotes"] == f"{TALL} | {BUILT}"
    assert [line["id"] for line in lines] == ["both.md", "height.md", "other.md"]
    assert lines[0]["quotes"] == [TALL, BUILT]
    assert plan["queries"] == PLAN["queries"]
    assert run([*command, "--no-verify"]) == 0, "ranked"
    assert "unverified" in capsys.readouterr().out
    assert run(["search-evidence", "zebra", "quagga", "--adapters", pages]) == 1
    assert capsys.readouterr().out.count("status: no_results") == 2


def test_a_cell_that_a_spreadsheet_would_calculate_is_plain_text(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad").mkdir()
    (here / "bad" / "a.md").write_text("# =HYPERLINK(1) tower\n\nA tower.\n")
    assert run(["search-evidence", "tower", "--adapters", f"f=folder:{here / 'bad'}", "--csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["title"] == "'=HYPERLINK(1) tower"
