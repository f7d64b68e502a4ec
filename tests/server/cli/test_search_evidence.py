"""`sifaka search-evidence`: what is printed, and the exit code."""

import json
from pathlib import Path

import pytest

from sifaka_mcp.cli import run
from tests.server.test_search_evidence import BUILT, PLAN, QUESTION, TALL, judged, pages_in
from tests.stubs.provider import provider, told_of


def test_the_command_prints_what_was_found(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = pages_in(here)
    command = ["search-evidence", QUESTION, "--adapters", pages]
    with provider(judged) as provided:
        told_of(provided, monkeypatch)
        asked = [*command, "--model", "openai-chat:stub"]
        assert run([*asked, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["evidence"]
        assert run([*asked, "--plan", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
    assert [each["classification"] for each in found] == ["perfect", "partial", "reject"]
    assert [each["id"] for each in found] == ["both.md", "height.md", "other.md"]
    assert [quote for each in found[0]["judgements"] for quote in each["quotes"]] == [TALL, BUILT]
    assert plan["queries"] == PLAN["queries"]
    assert run([*command, "--no-verify"]) == 0, "ranked"
    assert "unverified" in capsys.readouterr().out
    assert run(["search-evidence", "zebra", "quagga", "--adapters", pages]) == 1
    assert capsys.readouterr().out.count("status: no_results") == 2
