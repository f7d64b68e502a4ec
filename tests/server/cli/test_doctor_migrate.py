"""`sifaka doctor --migrate` on a Milvus Lite folder that release 0.1 kept runs in."""

import json
import shutil
from pathlib import Path

import pytest

from sifaka_mcp.cli import run

WRITTEN = Path(__file__).parents[2] / "storage_contract/written_by_0_1/milvus"


def test_it_brings_runs_over_and_tells_how_many(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(WRITTEN / "runs.db", here / "runs.db")
    expected = json.loads((WRITTEN / "expected.json").read_text(encoding="utf-8"))
    recent = expected["tenants"]["default"]["recent"]
    monkeypatch.setenv("SIFAKA_STORE", "milvus:///runs.db")

    told: list[str] = []
    for _ in range(2):
        assert run(["doctor", "--migrate", "--json"]) == 0
        found = {part["part"]: part["found"] for part in json.loads(capsys.readouterr().out)}
        told.append(found["migration"])
    assert told == [
        f"{len(recent)} runs copied to the log, 0 indexed (tenant 'default')",
        "0 runs copied to the log, 0 indexed (tenant 'default')",
    ]
    assert run(["history", "--limit", "99", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [line["run_id"] for line in listed["runs"]] == recent
