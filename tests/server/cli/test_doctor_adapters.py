"""What `sifaka doctor` says of the places where evidence is searched for."""

import json
from pathlib import Path

import pytest

from sifaka_mcp.cli import run
from tests.stubs.search_server import Answered, SearchServer, always, of_json

HITS = {"hits": {"hits": [{"_id": "1", "_score": 1.0, "_source": {"text": "The lighthouse."}}]}}


def test_it_looks_at_each_adapter(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SearchServer(always(of_json(HITS)))
    spec = f"isles=elasticsearch+http://{server.host}/isles"
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"{spec},notes=folder:{here},past=thoughts:")
    monkeypatch.setenv("SIFAKA_ADAPTER_KEYS", "isles=s3cret-key==")
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"ok    adapter isles: http://{server.host}/isles: answers" in out
    assert f"ok    adapter notes: folder:{here}: 1 file" in out
    assert "ok    adapter past: thoughts in " in out
    server.answer = always(Answered(body=b"{}", status=401))
    assert run(["doctor", "--json"]) == 1
    out = capsys.readouterr().out
    (isles,) = [each for each in json.loads(out) if each["part"] == "adapter isles"]
    assert not isles["works"]
    assert "SIFAKA_ADAPTER_KEYS=isles=" in isles["found"]
    assert "s3cret" not in out
    server.stop()


def test_a_key_of_no_adapter_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"notes=folder:{here}")
    monkeypatch.setenv("SIFAKA_ADAPTER_KEYS", "isle=s3cret-key==")
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "FAIL  adapter key: no adapter is named 'isle'" in out
    assert "s3cret" not in out


def test_a_missing_folder_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"notes=folder:{here}/none")
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"FAIL  adapter notes: folder:{here}/none: notes: the folder cannot" in out
