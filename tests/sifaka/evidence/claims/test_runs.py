"""Claims of the versions of a run: checked, reused, corrected, resumed and replayed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sifaka import Budget, Chain, Thought
from sifaka.calls.host import HostAnswer, HostQuestion, Suspended
from sifaka.errors import ConfigurationError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.claims import verdicts_in
from sifaka.record.entries import Called, Entry
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.retrievers.mock import MockRetriever
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.sifaka.critics.scripted_judge import Asked, ScriptedJudge
from tests.sifaka.evidence.claims.reader import correct, reads
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, long_page
from tests.stubs.hosts import LaterHost
from tests.stubs.stores import PassingStore

pytestmark = pytest.mark.anyio

PAGES = {
    "high": long_page("height", "The tower is 330 metres high."),
    "opened": long_page("year", "The tower was opened in 1889."),
    "steps": long_page("steps", "The tower has 1,665 steps."),
}
RIGHT = "The tower is 330 metres high. The tower was opened in 1889. The tower has 1,665 steps."
WRONG = "The tower is 300 metres high. The tower was opened in 1890. The tower has 1,665 steps."
CONTENT = ScriptedCritic(objects_to=lambda _: False)


class Shelf(ScriptedAdapter):
    """Finds the page whose word stands in the query."""

    def __init__(self) -> None:
        super().__init__(self._found, name="shelf")

    def _found(self, query: str) -> Sequence[SourceDocument]:
        return [found for word, found in PAGES.items() if word in query]


def chain(
    shelf: ScriptedAdapter | None, judge: ScriptedJudge | None = None, **settings: Any
) -> Chain:
    defaults: dict[str, Any] = {
        "validators": [{"type": "evidence"}],
        "critics": [CONTENT],
        "judge_model": None if judge is None else judge.model,
        "adapters": None if shelf is None else Adapters([shelf]),
        "max_iterations": 5,
        "patience": None,
    }
    return Chain(**{**defaults, **settings})


def evidence(thought: Thought | None) -> ValidationResult:
    assert thought is not None
    return thought.validation_results["evidence"]


async def test_contradicted_claims_are_corrected_and_the_final_text_passes() -> None:
    writer = ScriptedModel(lines=[correct])
    result = await chain(Shelf(), ScriptedJudge(reads), model=writer).run(text=WRONG)
    assert (result.status, result.stop_reason, result.text) == ("done", "passed", RIGHT)
    first, last = result.run.thoughts
    assert (evidence(first).passed, evidence(last).passed) == (False, True)
    assert evidence(first).score == pytest.approx(1 / 3)
    high, opened = evidence(first).issues
    assert (high.quote, high.severity, high.rule) == (WRONG[:29], 5, "contradicted")
    assert WRONG[opened.start : opened.end] == "The tower was opened in 1890."
    assert "'Page about height' (https://example.org/height, retrieved " in high.message
    assert "says 'The tower is 330 metres high.'" in high.message


async def test_an_unchanged_claim_of_the_next_version_costs_no_further_call() -> None:
    shelf, judge = Shelf(), ScriptedJudge(reads)
    middle = WRONG.replace("300", "330")
    writer = ScriptedModel(lines=[middle, RIGHT])
    result = await chain(shelf, judge, model=writer).run(text=WRONG)
    assert [thought.text for thought in result.run.thoughts] == [WRONG, middle, RIGHT]
    # One call for the claims of each version, one for each new claim's document.
    assert judge.calls == (1 + 3) + (1 + 1) + (1 + 1)
    assert len(shelf.asked) == 3 + 1 + 1
    verdicts = [verdicts_in(evidence(thought).details) for thought in result.run.thoughts]
    assert [[v.reused for v in each] for each in verdicts] == [
        [False, False, False],
        [False, True, True],
        [True, False, True],
    ]


async def test_verdicts_are_stored_with_the_thought_and_reused_by_another_process(
    tmp_path: Path,
) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    shelf, judge = Shelf(), ScriptedJudge(reads)
    settings: dict[str, Any] = {"model": "caller", "store": store, "effort": "quick"}
    waiting = await chain(shelf, judge, **settings).run(text=WRONG)
    assert waiting.status == "needs_revision"
    assert judge.calls == 4
    # New adapters, so nothing is left in memory.
    again = chain(shelf, judge, **settings)
    parent = waiting.thought
    assert parent is not None
    await again.submit(waiting.run_id, parent.id, RIGHT)
    assert (await store.load(waiting.run_id)).status == "done"
    assert judge.calls == 4 + 1 + 2, "the third claim has a verdict on record"
    await store.aclose()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "no adapter is configured, so there is nothing to search"),
        ({"validators": [], "critics": ["evidence"]}, "no adapter is configured"),
        ({"validators": [{"type": "evidence", "search": False}]}, "there are no documents"),
        (
            {"validators": [{"type": "evidence", "adapters": ["wiki"]}], "shelf": Shelf()},
            "unknown adapter 'wiki'",
        ),
    ],
)
async def test_a_run_with_nothing_to_hold_claims_against_is_refused_at_its_start(
    settings: dict[str, Any], message: str
) -> None:
    store = MemoryStorage()
    shelf = settings.pop("shelf", None) if "shelf" in settings else None
    with pytest.raises(ConfigurationError, match=message):
        await chain(shelf, model="editor", store=store, **settings).run(text=WRONG)
    assert not (await store.recent(limit=1)).runs


@pytest.mark.slow
async def test_documents_of_retrievers_are_evidence_enough() -> None:
    retriever = MockRetriever(documents=tuple(p.as_document() for p in PAGES.values()))
    result = await chain(
        None, ScriptedJudge(reads), model=ScriptedModel(lines=[correct]), retrievers=[retriever]
    ).run(text=WRONG)
    assert (result.stop_reason, result.text) == ("passed", RIGHT)
    nothing = await chain(None, model="editor", retrievers=[MockRetriever(documents=())]).run(
        text=WRONG
    )
    assert evidence(nothing.thought).message == "no claim was checked: no documents"
    assert evidence(nothing.thought).passed


UNJUDGED = "The tower has 12 lifts. The tower was painted 19 times. The tower weighs 10 tons."


async def test_without_a_model_nothing_is_rejected_nor_called_checked_and_it_says_why() -> None:
    result = await chain(Shelf(), model="editor").run(text=UNJUDGED)
    found = evidence(result.thought)
    assert (found.passed, found.score) == (True, 1.0)
    assert found.message == "3 claims: 3 unverified (there is no model)"
    assert {issue.severity for issue in found.issues} == {1}
    assert found.suggestions[0].startswith("3 claims have no evidence: give a source")
    stances = {e.stance for v in verdicts_in(found.details) for e in v.evidence}
    assert stances <= {"unjudged"}
    assert (result.passed, result.stop_reason) == (False, "unchecked")
    (check,) = (each for each in result.checked if each.what == "evidence")
    assert (check.done, check.reason) == (False, "3 of 3 claims could not be verified")
    assert [issue.rule for issue in result.left] == ["unverified"] * 3


@pytest.mark.slow
async def test_without_a_model_rules_judge_what_needs_no_understanding() -> None:
    result = await chain(Shelf(), model="editor").run(text=WRONG)
    found = evidence(result.thought)
    assert found.message == "3 claims: 1 supported, 2 contradicted"
    assert not found.passed


async def test_the_hosts_questions_about_claims_come_in_the_rounds_of_the_run() -> None:
    judge = ScriptedJudge(reads)

    def rule(question: HostQuestion) -> HostAnswer:
        fields = {"claims"} if '"claims"' in question.instructions else {"judgements"}
        asked = Asked(
            number=0,
            question=question.prompt,
            instructions="",
            fields=frozenset(fields),
            settings={},
        )
        return HostAnswer(text=json.dumps(reads(asked)))

    host, store, shelf = LaterHost(rule), MemoryStorage(), Shelf()
    settings: dict[str, Any] = {"model": "editor", "judge_model": "host", "host": host}
    run = (await chain(shelf, store=store, **settings).start(text=RIGHT)).run
    for _ in range(5):
        try:
            result = await chain(shelf, store=store, **settings).resume(run.run_id)
        except Suspended as waiting:
            host.think(waiting)
        else:
            break
    else:
        pytest.fail("it never ends")
    assert result.stop_reason == "passed"
    assert [len(asked) for asked in host.rounds] == [1, 3]
    assert evidence(result.thought).message == "3 claims: 3 supported"
    assert (len(shelf.asked), judge.calls) == (3, 0)


class Killed(BaseException):
    """Ends a process."""


class Dying(PassingStore):
    """A store that is killed at the nth answer it is to keep."""

    def __init__(self, store: MemoryStorage, number: int) -> None:
        super().__init__(store)
        self._left = number

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        self._left -= any(isinstance(entry, Called) for entry in entries)
        if self._left < 0:
            raise Killed
        await super().append(run, entries, expected_version=expected_version, fence=fence)


@pytest.mark.slow
async def test_a_resumed_run_repeats_no_call_and_no_search() -> None:
    number = 0
    for number in range(20):
        store, shelf, judge = MemoryStorage(), Shelf(), ScriptedJudge(reads)
        killed = chain(shelf, judge, model="editor", store=Dying(store, number))
        try:
            await killed.run(text=RIGHT)
        except (Killed, BaseExceptionGroup):
            pass  # in the middle of something, or of several things at once
        else:
            break
        run = await store.load((await store.recent(limit=1)).runs[0].run_id)
        unasked = {"clock", "known claims", "known verdicts"}
        answered = [call for call in run.calls if call.model not in unasked]
        before = len(shelf.asked) + judge.calls
        result = await chain(shelf, judge, model="editor", store=store).resume(run.run_id)
        assert result.stop_reason == "passed", number
        # Three searches and four questions in all; what is on record was not asked again.
        assert len(shelf.asked) + judge.calls - before == 7 - len(answered), number
    assert number > 4, "it was killed at several places"


async def test_a_replay_touches_neither_network_nor_model() -> None:
    store, shelf, judge = MemoryStorage(), Shelf(), ScriptedJudge(reads)
    settings: dict[str, Any] = {"model": "editor", "critics": [CONTENT, "evidence"], "store": store}
    made = chain(shelf, judge, **settings)
    result = await made.run(text=RIGHT)
    asked = (len(shelf.asked), judge.calls)
    elsewhere = chain(None, judge, **settings)
    for each in (made, elsewhere):
        replay = await each.replay(result.run_id)
        assert replay.differences == ()
        assert evidence(replay.run.thoughts[0]) == evidence(result.thought)
        assert replay.run.usage.model_calls == result.run.usage.model_calls
    assert (len(shelf.asked), judge.calls) == asked


async def test_checking_claims_leaves_the_critics_the_calls_they_need() -> None:
    def script(asked: Asked) -> Any:
        return {"verdict": "accept"} if "verdict" in asked.fields else reads(asked)

    judge = ScriptedJudge(script)
    result = await chain(
        Shelf(), judge, model="editor", critics=["self_refine"], budget=Budget(max_calls=3)
    ).run(text=RIGHT)
    assert result.stop_reason == "passed"
    assert judge.calls == 3
    statuses = [v.verdict for v in verdicts_in(evidence(result.thought).details)]
    assert sorted(statuses) == ["supported", "unverified", "unverified"]
    (feedback,) = result.run.thoughts[-1].critic_feedback
    assert (feedback.status, feedback.verdict) == ("ok", "accept")


async def test_the_critic_costs_nothing_more_after_the_validator() -> None:
    judge = ScriptedJudge(reads)
    result = await chain(Shelf(), judge, model="editor", critics=["evidence"]).run(text=RIGHT)
    (feedback,) = result.run.thoughts[-1].critic_feedback
    assert (feedback.verdict, dict(feedback.scores)) == ("accept", {"evidence": 1.0})
    assert judge.calls == 1 + 3, "neither the claims once more nor a document"
