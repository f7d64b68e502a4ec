"""What the caller writes, where nobody else can or a provider and then the host have failed."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from sifaka import Chain, CriticFeedback, RunResult, Thought
from sifaka.calls.host import Host
from sifaka.chain import Submission
from sifaka.errors import ConfigurationError, StaleRevision, ThoughtNotFound
from tests.sifaka.chain.running import submit
from tests.stubs.hosts import REFUSED, PresentHost, drafts
from tests.stubs.provider import Provider, Reply, fails, opinion, provider, says, told_of

pytestmark = pytest.mark.anyio

RULES = [
    {"type": "length", "max_words": 6},
    {"type": "content", "required": ["refund", "Friday"]},
]
LONG = "We will send the money back to you at the end of this week."


GOOD = "Your refund arrives on Friday."


async def asked(prompt: str = "", text: str = LONG, **settings: Any) -> tuple[Chain, RunResult]:
    """A run that waits for its caller."""
    given: dict[str, Any] = {"model": "caller", "validators": RULES, "own_review": False}
    chain = Chain(**{**given, **settings})
    return chain, await chain.run(prompt, text=text)


async def test_a_run_that_only_a_writer_can_mend_waits_with_a_brief() -> None:
    _, result = await asked()
    assert (result.status, result.stop_reason) == ("needs_revision", "awaiting_revision")
    brief = result.brief
    assert brief is not None
    assert brief.parent_id == result.thought.id
    assert [f.validator for f in brief.failures] == ["length", "content"]
    assert "refund" in json.dumps(brief.model_dump())
    assert "chain.submit(" in brief.instructions


async def test_a_worse_revision_is_refused_with_the_reason_and_a_better_one_ends_the_run() -> None:
    chain, waiting = await asked()
    worse = await submit(chain, waiting, f"{LONG} {LONG}")
    assert (worse.accepted, worse.status, worse.text) == (False, "needs_revision", LONG)
    assert "distance from passing" in worse.reason
    assert worse.brief is not None
    assert [f.validator for f in worse.brief.failures] == ["length", "content"]
    better = await submit(chain, waiting, GOOD)
    assert (better.accepted, better.status, better.stop_reason) == (True, "done", "passed")


async def test_a_stale_parent_is_refused_and_named() -> None:
    chain, waiting = await asked()
    nearer = await submit(chain, waiting, "Your refund comes soon.")
    assert nearer.accepted
    with pytest.raises(StaleRevision) as error:
        await submit(chain, waiting, "Your refund comes on Friday.")
    assert error.value.current_id == nearer.thought.id


async def test_the_number_of_revisions_is_bounded() -> None:
    chain, waiting = await asked(max_iterations=1)
    last = await submit(chain, waiting, "A refund, soon.")
    assert (last.status, last.stop_reason, last.passed) == ("done", "max_iterations", False)
    with pytest.raises(ConfigurationError, match="does not wait for a revision"):
        await chain.submit(waiting.run_id, last.thought.id, GOOD)


async def test_a_text_can_be_written_from_a_prompt_by_the_caller() -> None:
    chain, waiting = await asked("announce the refund", "", model="auto")
    assert (waiting.status, waiting.text) == ("needs_revision", "")
    assert waiting.brief is not None
    assert "announce the refund" in waiting.brief.instructions
    done = await submit(chain, waiting, GOOD)
    assert (done.status, done.accepted) == ("done", True)


async def test_unknown_runs_and_empty_revisions_are_refused() -> None:
    chain, waiting = await asked()
    with pytest.raises(ThoughtNotFound):
        await chain.submit("run_unknown", "run_unknown.0", "text")
    with pytest.raises(ConfigurationError, match="empty"):
        await submit(chain, waiting, "  ")
    assert len((await chain.store.load(waiting.run_id)).thoughts) == len(waiting.run.thoughts)


class Gate:
    """A critic that waits until it is let through."""

    name = "gate"

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.open = anyio.Event()

    async def critique(self, thought: Thought) -> CriticFeedback:
        if thought.author == "caller":
            self.reached.set()
            await self.open.wait()
        return CriticFeedback(critic=self.name, verdict="accept", judges_task=False)


@pytest.mark.slow
async def test_a_submission_survives_a_caller_that_leaves() -> None:
    gate = Gate()
    chain, waiting = await asked(critics=[gate])
    async with anyio.create_task_group() as group:
        group.start_soon(submit, chain, waiting, GOOD)
        with anyio.fail_after(60):
            await gate.reached.wait()
        group.cancel_scope.cancel()
    gate.open.set()
    again = await submit(chain, waiting, GOOD)
    assert (again.accepted, again.status) == (True, "done")
    assert len(again.run.thoughts) == 2


async def test_equal_submissions_at_the_same_time_are_one() -> None:
    chain, waiting = await asked()
    outcomes: list[Submission] = []

    async def hand_in() -> None:
        outcomes.append(await submit(chain.replace(), waiting, GOOD))

    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(hand_in)
    reason = outcomes[0].reason
    assert {(o.accepted, o.status, o.reason) for o in outcomes} == {(True, "done", reason)}
    assert len((await chain.store.load(waiting.run_id)).thoughts) == 2


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
    done = await submit(writing, waiting, "A text without a number.")
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
    done = await submit(writing, waiting, "Draft 7 of the text.")
    assert (done.status, done.accepted) == ("done", True)
    assert len(host.asked) == asked


async def test_what_the_caller_submits_without_a_task_may_not_change_what_is_protected(
    dying: Provider,
) -> None:
    writing = chain("caller").replace(facts="require")
    waiting = await writing.run(text="Costs 12 EUR. Draft of the text.")
    lost = await submit(writing, waiting, "It costs 15 EUR.")
    assert (lost.accepted, lost.status) == (False, "needs_revision")
    assert [(d.before, d.after) for d in lost.findings.open] == [("12 EUR", "15 EUR")]
    assert lost.brief is not None
    assert "every difference is refused" in lost.brief.instructions
    kept = await submit(writing, waiting, "It costs 12 EUR.")
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
    done = await submit(writing, waiting, "A better text.")
    assert (done.status, done.text) == ("done", "A better text.")


async def test_only_the_last_rung_can_be_the_caller() -> None:
    with pytest.raises(ConfigurationError, match="name it last"):
        chain("caller", "host")
