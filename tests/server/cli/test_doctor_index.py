"""`sifaka doctor --index` on a search index that was added to a store that has runs."""

import json
from pathlib import Path

import pytest

from sifaka_mcp.cli import run


@pytest.mark.slow
def test_it_indexes_older_runs_and_tells_how_many(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "note.md").write_text("A zebra is is striped.\n")
    for _ in range(2):
        assert run(["improve", "note.md"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("SIFAKA_STORE", "sqlite:,milvus:///index.db")

    told: list[str] = []
    for _ in range(2):
        assert run(["doctor", "--index", "--json"]) == 0
        found = {part["part"]: part["found"] for part in json.loads(capsys.readouterr().out)}
        told.append(found["index"])

    assert told == [f"{count} runs were lacking (tenant 'default')" for count in (2, 0)]
    assert run(["search", "zebra", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["hits"]) >= 2
