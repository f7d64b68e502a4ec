"""`sifaka doctor`: what is configured, reachable, degraded or wrong."""

from pathlib import Path

import pytest

from tests.stubs.commands import Sifaka
from tests.stubs.provider import fails, opinion, provided, says
from tests.stubs.search_server import Answered, SearchServer, always, of_json

HITS = {"hits": {"hits": [{"_id": "1", "_score": 1.0, "_source": {"text": "The lighthouse."}}]}}


def test_it_says_what_is_configured(sifaka: Sifaka) -> None:
    told = sifaka.json("doctor", SIFAKA_EMBEDDING_MODEL="none")
    parts = {finding["part"]: finding["works"] for finding in told}
    expected = ("sifaka", "store", "semantic search", "model", "editor")
    assert parts == dict.fromkeys(expected, True)
    sifaka.prints("doctor", SIFAKA_MODEL="host", SIFAKA_FALLBACK_MODELS="host,caller")
    assert "FAIL  model" in sifaka.prints("doctor", code=1, SIFAKA_MODEL="openai:gpt-5")


def test_it_tells_a_store_and_an_embedding_model_apart(sifaka: Sifaka) -> None:
    told = sifaka.json("doctor", code=1, SIFAKA_EMBEDDING_MODEL="model2vec:/no/model")
    report = {finding["part"]: finding for finding in told}
    assert report["store"]["works"]
    assert not report["embedding model"]["works"]
    assert "/no/model" in report["embedding model"]["found"]
    unknown = sifaka.prints("doctor", code=1, SIFAKA_EMBEDDING_MODEL="no-such-provider:x")
    assert "FAIL  embedding model" in unknown


def test_it_tells_of_every_wrong_setting_and_goes_on(sifaka: Sifaka) -> None:
    names = ("SIFAKA_MODEL", "SIFAKA_JUDGE_MODEL", "SIFAKA_STORE", "SIFAKA_MODLE")
    lines = sifaka.prints("doctor", code=2, **dict.fromkeys(names, "foo")).splitlines()
    wrong = [line for line in lines if line.startswith("FAIL  setting: ")]
    assert [line.split()[2].partition("=")[0].rstrip(":") for line in wrong] == list(names)
    assert wrong[-1].endswith("did you mean SIFAKA_MODEL?")
    assert any(line.startswith("ok    store: sqlite:") for line in lines)


def test_it_shows_what_is_not_taken_from_the_file_of_a_folder(sifaka: Sifaka, here: Path) -> None:
    (here / "sifaka.toml").write_text('store = "memory:"\n')
    told = sifaka.prints("doctor", code=1)
    assert f"FAIL  project file: {here}/sifaka.toml: store: not taken" in told
    sifaka.prints("trust", "--yes")
    done = sifaka("doctor")
    assert (done.code, done.err) == (0, "")
    assert f"ok    project file: {here}/sifaka.toml: store\n" in done.out


def test_it_tells_what_lies_in_which_memory(sifaka: Sifaka, here: Path) -> None:
    store = f"hybrid:sqlite:;file:///{here}/episodes;after=0s"
    sifaka("improve", "-", given="It ships.", SIFAKA_STORE=store)
    out = sifaka.prints("doctor", SIFAKA_STORE=store)
    assert "ok    short-term memory: runs: 1, in sqlite:" in out
    assert "ok    episodic memory: runs: 0, in file:" in out


def test_it_looks_at_adapters(sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = SearchServer(always(of_json(HITS)))
    spec = f"isles=elasticsearch+http://{server.host}/isles"
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"{spec},notes=folder:{here},past=thoughts:")
    monkeypatch.setenv("SIFAKA_ADAPTER_KEYS", "isles=s3cret-key==")
    out = sifaka.prints("doctor")
    assert f"ok    adapter isles: http://{server.host}/isles: answers" in out
    assert f"ok    adapter notes: folder:{here}: 1 file" in out
    assert "ok    adapter past: thoughts in " in out
    server.answer = always(Answered(body=b"{}", status=401))
    told = sifaka.json("doctor", code=1)
    (isles,) = [each for each in told if each["part"] == "adapter isles"]
    assert not isles["works"]
    assert "SIFAKA_ADAPTER_KEYS=isles=" in isles["found"]
    assert "s3cret" not in str(told)
    server.stop()


def test_a_key_of_no_adapter_and_a_missing_folder_are_told(sifaka: Sifaka, here: Path) -> None:
    adapters, keys = f"notes=folder:{here}/none", "isle=s3cret-key=="
    out = sifaka.prints("doctor", code=1, SIFAKA_ADAPTERS=adapters, SIFAKA_ADAPTER_KEYS=keys)
    assert "FAIL  adapter key: no adapter is named 'isle'" in out
    assert f"FAIL  adapter notes: folder:{here}/none: notes: the folder cannot" in out
    assert "s3cret" not in out


@pytest.mark.slow
def test_it_indexes_older_runs(sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "note.md").write_text("A zebra is is striped.\n")
    for _ in range(2):
        sifaka.prints("improve", "note.md")
    monkeypatch.setenv("SIFAKA_STORE", "sqlite:,milvus:///index.db")
    for count in (2, 0):
        found = {part["part"]: part["found"] for part in sifaka.json("doctor", "--index")}
        assert found["index"] == f"{count} runs were lacking (tenant 'default')"
    assert len(sifaka.json("search", "zebra")["hits"]) >= 2


def test_a_probe_tells_what_a_model_makes_of_a_small_task(
    sifaka: Sifaka, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no model was asked: give --model" in sifaka.prints("doctor", "--probe", code=1)
    with provided([says("We ship your order."), *[opinion("accept")] * 3], monkeypatch):
        told = sifaka("doctor", "--probe", "--model", "openai-chat:stub").out
    assert "ok    probe: 'We ship your order.'" in told
    assert "tokens of output a second" in told
    with provided([fails(401)] * 5, monkeypatch):
        told = sifaka("doctor", "--probe", "--model", "openai-chat:stub").out
    assert "FAIL  probe" in told
