"""Runs on record from before one review answered the differences: they open, and they end."""

from pathlib import Path

import pytest
from mcp import Client

from sifaka.record.entries import (
    ChainConfig,
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.results import CriticFeedback, Findings
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.text.differences import Difference
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.calls import call, refusal
from tests.stubs.servers import state_of

pytestmark = pytest.mark.anyio

TASK = "Make it fit the new plan."
TEXT, VERSION = "The meeting is in room 12.", "The meeting is in room 14."
ALLOWED = {"change": ["numbers"], "omit": [], "add": []}
COVERED = Difference(
    id="d1", kind="number", before="12", after="14", status="covered", by="openai:gpt-5"
)


def of_form_2(*last: Entry) -> list[Entry]:
    """A run whose critic read the task with its opinion of the input."""
    critic = {"type": "self_refine", "joint": True}
    config = ChainConfig(model="host", critics=(critic,), max_iterations=1, look_back=0)
    first, second = (
        Thought(id=f"run_older.{n}", run_id="run_older", iteration=n, prompt=TASK, text=text)
        for n, text in enumerate((TEXT, VERSION))
    )
    said = CriticFeedback(
        critic="self_refine", verdict="revise", details={"task_changes": {"change": ["numbers"]}}
    )
    better = CriticFeedback(critic="self_refine", verdict="accept", details={"preferred": "text"})
    findings = Findings(differences=(COVERED,), allowed=ALLOWED)
    return [
        Started(run_id="run_older", prompt=TASK, config=config, form=2, prompts=3),
        Drafted(thought=first.model_copy(update={"author": "input"})),
        Validated(thought_id=first.id, results={}),
        Critiqued(thought_id=first.id, feedback=(said,)),
        Decided(thought_id=first.id, decision=Decision(accepted=True, by="first")),
        Drafted(thought=second.model_copy(update={"author": "host", "parent_id": first.id})),
        Validated(thought_id=second.id, results={}, findings=findings),
        Critiqued(thought_id=second.id, feedback=(better,)),
        Decided(thought_id=second.id, decision=Decision(accepted=True, by="critics", over=0)),
        *last,
    ]


async def stored(server: SifakaServer, *last: Entry) -> Run:
    entries = of_form_2(*last)
    run = Run.replay(entries)
    await state_of(server).store.append(run, entries, expected_version=0)
    return run


async def test_a_run_of_form_2_opens_in_the_history(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server) as client:
        await stored(server, Stopped(status="done", stop_reason="passed"))
        (line,) = (await call(client, "get_thought_history"))["runs"]
        told = await call(client, "get_thought_history", run_id=line["run_id"])
        again = await call(client, "resume_run", run_id=line["run_id"])
    assert [each["accepted"] for each in told["thoughts"]] == [True, True]
    assert (again["status"], again["text"]) == ("done", VERSION)
    assert [each["status"] for each in again["differences"]] == ["covered"]


async def test_one_that_waits_ends_with_its_best_text(tmp_path: Path) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server) as client:
        waits = Stopped(status="needs_revision", stop_reason="awaiting_revision")
        run = await stored(server, waits)
        revision = {"run_id": run.run_id, "parent_id": run.champion_id, "text": "Another text."}
        assert "does not wait" in await refusal(client, "submit_revision", **revision)
        out = await call(client, "resume_run", run_id=run.run_id)
    assert (out["status"], out["stop_reason"], out["text"]) == ("done", "stalled", VERSION)
    assert "older form" in str(out)
