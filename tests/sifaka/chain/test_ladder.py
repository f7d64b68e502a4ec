"""The ladder: a provider dies in the middle of a run, then the host writes, then the caller."""

from collections.abc import Iterator
from typing import Any

import pytest

from sifaka import Chain, RunResult
from sifaka.calls.host import Host, Suspended
from sifaka.errors import ConfigurationError
from sifaka.storage import MemoryStorage
from tests.stubs.hosts import REFUSED, LaterHost, PresentHost, drafts
from tests.stubs.provider import Provider, Reply, fails, opinion, provider, says, told_of

pytestmark = pytest.mark.anyio

TEXT = "Draft 0 of the text."
TASK = "write drafts"
ISSUE = {"quote": "Draft", "message": "go on", "severity": 5}


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider that revises once and criticises, and refuses the key when it is to go on."""
    written: list[str] = []

    def script(request: dict[str, Any]) -> Reply:
        judges = bool(request.get("tools"))
        if len(written) < 2 and judges:
            return opinion("revise", issues=[{**ISSUE, "severity": 5 - len(written)}])
        if not judges:
            written.append("a draft")
        return fails(401) if judges or len(written) > 1 else says("Draft 1 of the text.")

    with provider(script) as served:
        told_of(served, monkeypatch)
        yield served


def chain(*fallbacks: str, host: Host | None = None, **settings: Any) -> Chain:
    return Chain(
        model="openai-chat:stub",
        critics=["self_refine"],
        fallback_models=fallbacks,
        host=host,
        facts="off",  # the drafts are told apart by their numbers
        look_back=0,  # these are about writers and critics
        own_review=False,
        **settings,
    )


async def test_without_another_rung_the_run_fails_and_keeps_its_best(dying: Provider) -> None:
    result = await chain().run(TASK, text=TEXT)
    assert (result.status, result.stop_reason) == ("failed", "error")
    assert result.text == "Draft 1 of the text."
    assert "credentials" in (result.error or "")
    assert result.brief is None


async def test_the_host_takes_over_in_the_middle_of_a_run(dying: Provider) -> None:
    host = PresentHost(drafts())
    result = await chain("host", host=host).run(TASK, text=TEXT)
    assert (result.status, result.text) == ("done", "Draft 2 of the text.")
    assert [key.partition("#")[0] for key in host.asked] == ["2/write", "2/critics[0].self_refine"]
    assert "host:sampling answered 2 calls in place of a model that failed" in result.degraded


async def test_a_host_that_answers_later_takes_over_too(dying: Provider) -> None:
    host, store = LaterHost(drafts()), MemoryStorage()
    run_id = (await chain("host", store=store).start(TASK, text=TEXT)).run_id
    result: RunResult | None = None
    while result is None:
        try:
            result = await chain("host", host=host, store=store).resume(run_id)
        except Suspended as waiting:
            host.think(waiting)
    assert (result.status, result.text) == ("done", "Draft 2 of the text.")
    assert [len(keys) for keys in host.rounds] == [1, 1]


async def test_the_caller_takes_over_and_what_it_submits_ends_the_run(dying: Provider) -> None:
    writing = chain("caller")
    waiting = await writing.run(TASK, text=TEXT)
    assert (waiting.status, waiting.text) == ("needs_revision", "Draft 1 of the text.")
    assert waiting.run.handed_over
    assert "the caller writes in place of a model that failed" in waiting.degraded[-1]
    assert "credentials" in waiting.degraded[-1]
    asked = len(dying.requests)
    assert waiting.brief is not None
    assert [issue.message for issue in waiting.brief.issues] == ["go on"]
    done = await writing.submit(waiting.run_id, waiting.brief.parent_id, "A text without a number.")
    assert (done.status, done.stop_reason, done.accepted) == ("done", "passed", True)
    assert done.text == "A text without a number."
    assert len(dying.requests) > asked, "critics are still asked: their model may be back"


async def test_the_host_comes_before_the_caller_and_is_left_alone_afterwards(
    dying: Provider,
) -> None:
    host = PresentHost(lambda _: REFUSED)
    writing = chain("host", "caller", host=host)
    waiting = await writing.run(TASK, text=TEXT)
    assert (waiting.status, waiting.text) == ("needs_revision", "Draft 1 of the text.")
    assert list(host.asked) == [key for key in host.asked if key.startswith("2/write")]
    for reason in ("credentials", "the client refused to ask its model"):
        assert reason in waiting.degraded[-1]
    asked = len(host.asked)
    assert waiting.brief is not None
    done = await writing.submit(waiting.run_id, waiting.brief.parent_id, "Draft 7 of the text.")
    assert (done.status, done.accepted) == ("done", True)
    assert len(host.asked) == asked


async def test_a_submission_that_fails_a_validator_does_not_end_the_run(dying: Provider) -> None:
    rules = [{"type": "content", "required": ["Draft"]}]
    writing = chain("caller", validators=rules)
    waiting = await writing.run(TASK, text=TEXT)
    assert waiting.brief is not None
    again = await writing.submit(waiting.run_id, waiting.brief.parent_id, "Nothing.")
    assert (again.status, again.accepted) == ("needs_revision", False)
    assert again.brief is not None
    done = await writing.submit(waiting.run_id, again.brief.parent_id, "Draft 3, the last.")
    assert (done.status, done.text) == ("done", "Draft 3, the last.")


async def test_what_the_caller_submits_without_a_task_may_not_change_what_is_protected(
    dying: Provider,
) -> None:
    writing = chain("caller").replace(facts="require")
    waiting = await writing.run(text="Costs 12 EUR. Draft of the text.")
    assert waiting.status == "needs_revision"
    assert waiting.brief is not None
    lost = await writing.submit(waiting.run_id, waiting.brief.parent_id, "It costs 15 EUR.")
    assert (lost.accepted, lost.status) == (False, "needs_revision")
    assert [(d.before, d.after) for d in lost.findings.open] == [("12 EUR", "15 EUR")]
    kept = await writing.submit(waiting.run_id, waiting.brief.parent_id, "It costs 12 EUR.")
    assert (kept.status, kept.accepted) == ("done", True)


async def test_the_caller_writes_when_a_judge_cannot_be_asked_either(dying: Provider) -> None:
    host = PresentHost(lambda _: REFUSED)
    writing = Chain(
        model="host",
        host=host,
        fallback_models=["caller"],
        policy="judged",
        facts="off",
        own_review=False,
    )
    waiting = await writing.run(TASK, text=TEXT)
    assert waiting.brief is not None
    done = await writing.submit(waiting.run_id, waiting.brief.parent_id, "A better text.")
    assert (done.status, done.text) == ("done", "A better text.")


async def test_only_the_last_rung_can_be_the_caller() -> None:
    with pytest.raises(ConfigurationError, match="name it last"):
        chain("caller", "host")
