"""Records of form 1 are read without loss.

The files in `written_by_0_1` were made by release 0.1.0: runs with every kind of entry, every
status and two tenants, beside each `expected.json` with what it answered.
"""

import gzip
import json
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest

from sifaka.record.entries import Decision, Stopped
from sifaka.record.results import Findings
from sifaka.record.run import Run
from sifaka.storage.files import FileStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from tests.stubs.redis_server import redis_server

pytestmark = pytest.mark.anyio
WRITTEN = Path(__file__).with_name("written_by_0_1")


async def files(folder: Path, _: ExitStack) -> ThoughtStore:
    return FileStorage(folder / "runs")


async def redis(folder: Path, servers: ExitStack) -> ThoughtStore:
    return RedisStorage(servers.enter_context(redis_server("--dir", str(folder))).url)


OPENERS: dict[str, Callable[[Path, ExitStack], Awaitable[ThoughtStore]]] = {
    each.__name__: each for each in (files, redis)
}


@pytest.fixture(params=OPENERS)
async def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncGenerator[tuple[ThoughtStore, Any, dict[str, Any]]]:
    """A copy of a store, what it has to answer, and every run as JSON."""
    kind: str = request.param
    folder = tmp_path / kind
    shutil.copytree(WRITTEN / kind, folder)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    dumps = json.loads(_unzipped(folder / "runs.json.gz"))
    with ExitStack() as servers:
        store = await OPENERS[kind](folder, servers)
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
    assert (dump["config"].pop("format"), dump["config"].pop("lint_rules")) == (None, None)
    dump["config"]["judge_repeats"] = 1
    if (inquiry := dump["config"]["inquiry"]) is not None:
        assert (inquiry.pop("sources"), inquiry.pop("history")) == ([], [])
    assert (dump["config"].pop("facts"), dump["config"].pop("look_back")) == (None, None)
    assert (dump.pop("form"), dump["config"].pop("own_review")) == (1, False)
    assert not any(call.pop("unable") for call in dump["calls"])
    for thought in dump["thoughts"]:
        assert thought.pop("findings") == Findings().model_dump(mode="json")
        for result in thought["validation_results"].values():
            assert result.pop("unchecked") is None
    assert (dump.pop("prompts"), dump.pop("mends")) == (1, False)
    assert dump.pop("declined_issues") == []
    if run.ending is not None:
        assert (dump["ending"].pop("champion_id"), dump["ending"].pop("settled")) == (None, True)
        dump["ending"]["decision"] = _decision_of_0_1(run.ending.decision)
    dump["decisions"] = {key: _decision_of_0_1(each) for key, each in run.decisions.items()}
    _drop_estimates(dump)
    return dump


def _drop_estimates(node: Any) -> None:
    """Take the number of estimated calls, of which 0.1 had none, out of every usage."""
    if isinstance(node, dict):
        held = cast("dict[str, Any]", node)
        assert held.pop("estimated_calls", 0) == 0
        for value in held.values():
            _drop_estimates(value)
    elif isinstance(node, list):
        for each in cast("list[Any]", node):
            _drop_estimates(each)


def _decision_of_0_1(decision: Decision) -> dict[str, Any]:
    """What was kept of a decision: its reason in prose, which is a note now."""
    assert decision == Decision(accepted=decision.accepted, note=decision.reason)
    return {"accepted": decision.accepted, "reason": decision.reason}


def _unzipped(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _sum(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
