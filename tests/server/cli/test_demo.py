"""The first thing that a new user sees."""

from pathlib import Path

import pytest

from sifaka_mcp.cli import run


def test_the_demonstration_mends_its_text_until_its_rules_are_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    assert run(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "'definately' -> 'definitely'" in shown
    assert "done (rules_met)" in shown
    assert "at most 330" in shown
