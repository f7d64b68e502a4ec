"""Runs that take longer than their request: waiting, polling, cancelling, leaving, progress."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from sifaka import Chain
from sifaka.record.entries import ChainConfig, Started
from sifaka.record.research_question import Inquiry
from sifaka.record.run import Run
from sifaka.testing import ScriptedCritic, ScriptedModel
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from sifaka_mcp.tools.answer import ToolContext
from sifaka_mcp.tools.awaited_run import RunProgress
from tests.sifaka.chain.scripted_researcher import ScriptedResearcher
from tests.stubs.calls import call, refusal
from tests.stubs.provider import HANGS, Gate, Provider, opinion, provided, says
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio


TEXT = "one two three four"
RULES = [{"type": "length", "max_words": 3}]
ARGUMENTS: dict[str, Any] = {"text": TEXT, "validators": RULES, "critics": []}
LONGER = "one two three four five"


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Generator[Provider]:
    """A provider that writes one version and then never answers again."""
    with provided([says(LONGER), *[HANGS] * 3], monkeypatch) as served:
        yield served


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, gate: Gate) -> Generator[Provider]:
    """A provider that writes a version, and one that passes when its gate is open."""
    with provided([says(LONGER), says("one two", gate=gate)], monkeypatch) as served:
        yield served


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, model="openai-chat:stub")


@asynccontextmanager
async def served(settings: Settings, era: Era = "auto") -> AsyncGenerator[Client]:
    async with Client(SifakaServer(settings), mode=era) as client:
        yield client


async def test_a_run_that_takes_longer_answers_running_and_can_be_cancelled(
    hanging: Provider, settings: Settings, era: Era
) -> None:
    async with served(settings, era) as client:
        out = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0.2)
        assert (out["status"], out["stop_reason"]) == ("running", None)
        assert out["unchanged"]
        again = await call(client, "get_thought_history", run_id=out["run_id"])
        assert again["run"]["status"] == "running"
        for _ in range(2):  # twice is as good as once
            cancelled = await call(client, "cancel_run", run_id=out["run_id"])
            assert (cancelled["status"], cancelled["unchanged"]) == ("cancelled", True)


async def test_a_run_that_is_done_is_not_cancelled_any_more(settings: Settings) -> None:
    async with served(settings.model_copy(update={"model": "editor"})) as client:
        done = await call(client, "improve_text", text="It is is the end.", critics=[])
        assert await call(client, "cancel_run", run_id=done["run_id"]) == done


async def test_a_cancelled_request_cancels_its_run(
    hanging: Provider, settings: Settings, era: Era
) -> None:
    async def leave(progress: float, total: float | None, message: str | None) -> None:
        scope.cancel()

    async with served(settings, era) as client:
        with anyio.CancelScope() as scope:
            await client.call_tool("improve_text", ARGUMENTS, progress_callback=leave)
        statuses = ["running"]
        with anyio.fail_after(60):
            while statuses == ["running"]:
                listed = await call(client, "get_thought_history")
                statuses = [run["status"] for run in listed["runs"]]
        assert statuses == ["cancelled"]


async def test_a_run_that_was_answered_running_is_finished_and_told_to_another_session(
    slow: Provider, gate: Gate, settings: Settings, era: Era
) -> None:
    async with served(settings, era) as client:
        begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
        await gate.reached()
        midway = await call(client, "get_thought_history", run_id=begun["run_id"])
        gate.open()
        ended = await call(client, "resume_run", run_id=begun["run_id"])
    async with served(settings, era) as another:
        told = await call(another, "resume_run", run_id=begun["run_id"])

    assert begun["status"] == "running"
    assert [t["accepted"] for t in midway["thoughts"]] == [True, False]
    assert (ended["status"], ended["text"]) == ("done", "one two")
    assert ended["usage"]["model_calls"] == 2
    assert told == ended
    assert len(slow.requests) == 2


Told = list[tuple[float, float | None, str]]


async def test_progress_tells_what_is_done_and_rises_to_its_total(tmp_path: Path, era: Era) -> None:
    told: Told = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    async with served(Settings(home=tmp_path, model="editor"), era) as client:
        text = "It is is the the end ."
        await client.call_tool("improve_text", {"text": text}, progress_callback=listen)
    _check(told)
    assert any("critique: asking lint" in message for _, _, message in told)
    assert any("generate: editor wrote" in message for _, _, message in told)


async def test_whoever_resumes_a_run_that_goes_on_hears_of_its_progress(
    slow: Provider, gate: Gate, settings: Settings, era: Era
) -> None:
    told: Told = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    async with served(settings, era) as client:
        begun = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)
        with anyio.fail_after(20):
            await gate.reached()
            async with anyio.create_task_group() as group:
                group.start_soon(open_when_joined, client, gate)
                again = {"run_id": begun["run_id"]}
                await client.call_tool("resume_run", again, progress_callback=listen)
    _check(told)
    assert any("validate: 1 of 1" in message for _, _, message in told)


async def open_when_joined(client: Client, gate: Gate) -> None:
    # Requests of one session are taken up in their order: when this one has its answer, the other
    # has begun to wait.
    await client.call_tool("get_thought_history", {})
    gate.open()


def _check(told: Told) -> None:
    done = [value for value, _, _ in told]
    assert done == sorted(set(done))
    (total,) = {total for _, total, _ in told}
    assert done[-1] == total
    assert told[-1][2].startswith("stop: ")


async def test_so_many_runs_and_no_more(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, era: Era
) -> None:
    few = settings.model_copy(update={"max_runs": 2})
    with provided([*[HANGS] * 4], monkeypatch):
        async with served(few, era) as client:
            begun = [
                await call(client, "improve_text", **ARGUMENTS, wait_seconds=0) for _ in range(2)
            ]
            refused = await refusal(client, "improve_text", **ARGUMENTS, wait_seconds=0)
            listed = await call(client, "get_thought_history")
            await call(client, "cancel_run", run_id=begun[0]["run_id"])
            third = await call(client, "improve_text", **ARGUMENTS, wait_seconds=0)

    assert refused.startswith("2 runs are in progress already")
    assert "cancel_run" in refused
    assert len(listed["runs"]) == 2
    assert third["status"] == "running"


async def test_requests_at_the_same_time_do_not_pass_the_limit_together(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    few = settings.model_copy(update={"max_runs": 1})
    refused: list[bool] = []

    async def begin(client: Client) -> None:
        begun = await client.call_tool("improve_text", {**ARGUMENTS, "wait_seconds": 0})
        refused.append(bool(begun.is_error))

    with provided([*[HANGS] * 4], monkeypatch):
        async with served(few) as client, anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(begin, client)

    assert sorted(refused) == [False, True, True, True]


async def test_a_run_that_waits_for_a_revision_is_cancelled_for_good(tmp_path: Path) -> None:
    async with served(Settings(home=tmp_path, model="caller")) as client:
        waiting = await call(client, "improve_text", **ARGUMENTS)
        assert (await call(client, "cancel_run", run_id=waiting["run_id"]))["status"] == "cancelled"
        again = await call(client, "resume_run", run_id=waiting["run_id"])
        assert again["status"] == "cancelled"
        parent = waiting["brief"]["parent_id"]
        refused = await refusal(
            client, "submit_revision", run_id=waiting["run_id"], parent_id=parent, text="one two"
        )
    assert "it is cancelled" in refused


async def test_of_two_revisions_at_the_same_time_one_wins_and_the_other_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gate: Gate, era: Era
) -> None:
    """The first one is still being judged, by a model, when the second one comes."""
    monkeypatch.setattr("sifaka_mcp.tools.improve.WAIT_SECONDS", 0.2)
    judged = Settings(home=tmp_path, model="caller", judge_model="openai-chat:stub")
    accepts = opinion("accept")
    held = replace(accepts, gate=gate)
    with provided([accepts, held, *[accepts] * 4], monkeypatch):
        async with served(judged, era) as client:
            waiting = await call(
                client,
                "improve_text",
                text=TEXT,
                validators=RULES,
                critics=["self_refine"],
                effort="quick",
            )
            of = {"run_id": waiting["run_id"], "parent_id": waiting["brief"]["parent_id"]}
            first = await call(client, "submit_revision", **of, text="one two")
            second = await call(client, "submit_revision", **of, text="three four")
            gate.open()
            ended = await call(client, "resume_run", run_id=of["run_id"])
            late = await refusal(client, "submit_revision", **of, text="three four")
            once_more = await call(client, "submit_revision", **of, text="one two")

    assert (first["status"], first["accepted"]) == ("running", False)
    assert (second["status"], second["accepted"]) == ("running", False)
    assert "submit it again" in second["reason"]
    assert (ended["status"], ended["text"]) == ("done", "one two")
    assert "done" in late
    assert (once_more["accepted"], once_more["unchanged"]) == (True, True)


ONE_WORD = [{"type": "length", "max_words": 1}]


def objects(text: str) -> bool:
    return len(text.split()) > 1


class ProgressRecord:
    """A request that remembers the progress it is told of."""

    def __init__(self) -> None:
        self.reached: list[int] = []
        self.total = 0

    async def report_progress(self, reached: int, total: int, message: str) -> None:
        del message
        self.reached.append(reached)
        self.total = total


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        (Chain(model="editor"), "It is is the the end ."),
        (Chain(model="editor", max_iterations=0), "It is is the the end ."),
        (Chain(model="auto", validators=ONE_WORD), "It is is the the end ."),
        (
            Chain(
                model=ScriptedModel(lines=["a b c", "a b", "a c", "a", "b", "c"]),
                validators=ONE_WORD,
                critics=[ScriptedCritic(objects_to=objects)],
                policy="best_of_n",
                width=3,
                max_iterations=2,
            ),
            "a b c d",
        ),
        (Chain(model=ScriptedModel(lines=["a b", "a"]), validators=ONE_WORD, critics=[]), ""),
        (
            Chain(
                model=ScriptedModel(lines=["a b", "a"]),
                validators=ONE_WORD,
                critics=[],
                inquiry=Inquiry(max_sections=1, max_iterations=1),
                researcher=ScriptedResearcher(),
            ),
            "",
        ),
    ],
    ids=[
        "editor",
        "editor without iterations",
        "auto",
        "three at a time",
        "from a prompt",
        "researched",
    ],
)
async def test_steps_rise_to_their_total(chain: Chain, text: str) -> None:
    run = (await chain.start("Write.", text=text)).run
    client = ProgressRecord()

    await chain.resume(run.run_id, listen=RunProgress(cast("ToolContext", client), run).report)

    assert client.reached == sorted(set(client.reached))
    assert client.reached[-1] == client.total
    assert len(client.reached) > 3


async def test_a_run_that_takes_more_rounds_than_most_stays_below_the_total_until_its_end() -> None:
    model = ScriptedModel(lines=["a b c", "a b", "a"])
    chain = Chain(model=model, validators=ONE_WORD, critics=[], max_iterations=3)
    shorter, client = Run.start(Started(config=ChainConfig(max_iterations=0))), ProgressRecord()
    progress = RunProgress(cast("ToolContext", client), shorter)

    await chain.run(text="a b c d", listen=progress.report)

    assert client.reached == sorted(set(client.reached))
    assert client.reached[-2:] == [client.total - 1, client.total]
