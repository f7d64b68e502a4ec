"""Stores that release 0.1.0 wrote are opened without loss.

The files in `written_by_0_1` were made by that release: runs with every kind of entry, every status
and two tenants, beside each `expected.json` with what it answered.
"""

import gzip
import json
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sifaka.record.entries import Stopped
from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.files import FileStorage
from sifaka.storage.migration import Migration, migrate
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.sqlite import SQLiteStorage
from tests.stubs.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio
WRITTEN = Path(__file__).with_name("written_by_0_1")
Opener = Callable[[Path, str], ThoughtStore]
OPENERS: dict[str, Opener] = {
    "sqlite": lambda folder, _: SQLiteStorage(folder / "runs.db"),
    "files": lambda folder, _: FileStorage(folder / "runs"),
    "redis": lambda _, url: RedisStorage(url),
    "milvus": lambda folder, _: open_store(f"milvus:///{folder}/runs.db", home=folder / "home"),
}


def server(kind: str, folder: Path) -> AbstractContextManager[RedisServer | None]:
    return redis_server("--dir", str(folder)) if kind == "redis" else nullcontext()


@pytest.fixture(params=OPENERS)
async def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncGenerator[tuple[ThoughtStore, Any, dict[str, Any]]]:
    """A copy of a store, what it has to answer, and every run as JSON."""
    kind: str = request.param
    folder = tmp_path / kind
    shutil.copytree(WRITTEN / kind, folder)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    dumps = json.loads(gzip.decompress((folder / "runs.json.gz").read_bytes()))
    with server(kind, folder) as redis:
        store = OPENERS[kind](folder, redis.url if redis else "")
        if kind == "milvus":
            for tenant in expected["tenants"]:
                runs = len(expected["tenants"][tenant]["recent"])
                assert await migrate(store.scoped(tenant)) == Migration(copied=runs)
                assert await migrate(store.scoped(tenant)) == Migration()
        yield store, expected, dumps
        await store.aclose()


async def test_a_store_of_release_0_1_has_every_run_as_it_was(
    opened: tuple[ThoughtStore, Any, dict[str, Any]],
) -> None:
    store, expected, dumps = opened
    for tenant, told in expected["tenants"].items():
        view = store.scoped(tenant)
        assert [line.run_id for line in (await view.recent(limit=99)).runs] == told["recent"]
        found = await view.search(told["search"]["query"], limit=99)
        assert sorted(hit.thought_id for hit in found.hits) == told["search"]["thoughts"]
    for told in expected["runs"]:
        run = await store.scoped(told["tenant"]).load(told["run_id"])
        dump = _of_0_1(run)
        assert dump == dumps[told["run_id"]], told["made_by"]
        assert _sum(dump) == told["sha256"]
        kinds = [entry.kind async for entry in _entries(store.scoped(told["tenant"]), run)]
        assert kinds == told["kinds"]


async def test_a_run_of_release_0_1_is_carried_on(
    opened: tuple[ThoughtStore, Any, dict[str, Any]],
) -> None:
    store, expected, _ = opened
    (told,) = (each for each in expected["runs"] if each["made_by"] == "waiting")
    view = store.scoped(told["tenant"])
    run = await view.load(told["run_id"])
    fence = await view.claim(run.run_id)
    entry = Stopped(status="cancelled", stop_reason="cancelled")
    after = run.apply(entry)

    await view.append(after, [entry], expected_version=run.version, fence=fence)

    assert await view.load(run.run_id) == after
    assert (await view.recent(limit=1)).runs == (after.summary(),)


async def _entries(store: ThoughtStore, run: Run) -> AsyncGenerator[Any]:
    steps = store.follow(run.run_id)
    async for entry, at in steps:
        yield entry
        if at.version == run.version:
            break
    await steps.aclose()


def _of_0_1(run: Run) -> dict[str, Any]:
    """A run without the fields that were added since, which say nothing about it."""
    dump = run.model_dump(mode="json")
    assert (dump.pop("declined"), dump["config"].pop("fixes")) == ({}, None)
    assert dump["config"].pop("format") is None
    assert (dump["config"].pop("facts"), dump["config"].pop("look_back")) == (None, None)
    for thought in dump["thoughts"]:
        for result in thought["validation_results"].values():
            assert result.pop("unchecked") is None
    assert (dump.pop("prompts"), dump.pop("mends")) == (1, False)
    if dump["ending"] is not None:
        assert (dump["ending"].pop("champion_id"), dump["ending"].pop("settled")) == (None, True)
    return dump


def _sum(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
