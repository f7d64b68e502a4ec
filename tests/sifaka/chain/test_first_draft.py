"""With a task and a model the first version is written at once; its review answers differences."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain, Document, RunResult
from sifaka.models.prompt import contents
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.retrievers.in_memory import MockRetriever
from sifaka.storage import MemoryStorage

pytestmark = pytest.mark.anyio

TASK = "Bring it to the moon."
TEXT = "The bag costs 6 dollars."
CHANGED = "The bag costs 9 dollars on the moon."
KEPT = "The bag costs 6 dollars on the moon."
ACCEPTS: Mapping[str, Any] = {"verdict": "accept"}


class Writing:
    """A model that writes its versions in turn, the last one again and again, and reviews them.

    Args:
        versions: What it writes.
        review: What it says of each.
    """

    def __init__(self, *versions: str, review: Mapping[str, Any] = ACCEPTS) -> None:
        self.asked: list[tuple[str, Mapping[str, list[str]], str]] = []
        """`write` or `review`, with what the frames of the prompt hold and the words around."""
        self._versions = list(versions)
        self._review = review
        self.model = FunctionModel(self._answer, model_name="writing")

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _, _ in self.asked]

    def shown(self, kind: str, number: int = 0) -> Mapping[str, list[str]]:
        """The frames of a prompt of this kind."""
        return [held for each, held, _ in self.asked if each == kind][number]

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = "".join(str(getattr(part, "content", "")) for part in messages[0].parts)
        kind = "review" if info.output_tools else "write"
        self.asked.append((kind, *contents(prompt)))
        if kind == "review":
            return ModelResponse([ToolCallPart(info.output_tools[0].name, dict(self._review))])
        text = self._versions.pop(0) if len(self._versions) > 1 else self._versions[0]
        return ModelResponse([TextPart(text)])


def covering(quote: str, id_: str = "d1") -> Mapping[str, Any]:
    return {**ACCEPTS, "covered": [{"id": id_, "quote": quote}]}


async def ran(writing: Writing, task: str = TASK, text: str = TEXT, **options: Any) -> RunResult:
    given: dict[str, Any] = {"critics": ["self_refine"], "fixes": "none", "look_back": 0}
    given |= {"max_iterations": 1, **options}
    return await Chain(model=writing.model, **given).run(task, text=text)


async def test_with_a_task_the_first_call_is_the_writers() -> None:
    writing = Writing(KEPT)
    result = await ran(writing)
    assert writing.kinds == ["write", "review"]
    assert (result.text, result.passed, result.stop_reason) == (KEPT, True, "passed")
    assert result.run.thoughts[0].critic_feedback == ()
    assert writing.shown("review")["original"] == [TEXT]


@pytest.mark.parametrize(
    ("task", "text", "options"),
    [
        ("", TEXT, {}),
        (TASK, TEXT, {"max_iterations": 0}),
        (TASK, TEXT + " Many shops have it." * 100, {"section_chars": 2_000}),
    ],
    ids=["no task", "nothing may be written", "longer than a section"],
)
async def test_what_is_not_written_anew_is_reviewed_first(
    task: str, text: str, options: Mapping[str, Any]
) -> None:
    writing = Writing(KEPT)
    result = await ran(writing, task, text, **options)
    assert writing.kinds[0] == "review"
    assert result.run.thoughts[0].critic_feedback


async def test_a_difference_that_the_task_is_quoted_for_is_covered_and_the_version_taken() -> None:
    writing, store = Writing(CHANGED, review=covering("it to the moon")), MemoryStorage()
    result = await ran(writing, store=store)
    assert (result.text, result.passed) == (CHANGED, True)
    assert writing.shown("review")["differences"] == ["d1 (money): '6 dollars' became '9 dollars'"]
    recorded = (await store.load(result.run_id)).thoughts[1].findings
    assert recorded == result.findings
    (covered,) = [each for each in recorded.differences if each.status == "covered"]
    assert (covered.by, covered.reason) == (result.run.config.model, "it to the moon")


async def test_a_difference_that_a_document_is_quoted_for_is_covered() -> None:
    found = Document(title="Freight", text="Everything that is sent there costs half as much more.")
    writing = Writing(CHANGED, review=covering("costs half as much more"))
    result = await ran(writing, retrievers=[MockRetriever(documents=(found,))])
    assert (result.text, result.passed) == (CHANGED, True)


@pytest.mark.parametrize(
    "review",
    [
        covering("costs 9 dollars"),
        covering("costs 6 dollars"),
        covering("the task asks for it"),
        covering(""),
        covering(" \n"),
        covering("e"),
        covering("the"),
        covering("to the mood"),
        covering("it to the moon", "d2"),
        ACCEPTS,
    ],
    ids=[
        *("the text", "the original", "invented", "empty", "blank", "a letter", "a word", "near"),
        *("another", "none"),
    ],
)
async def test_a_quote_that_stands_in_no_task_and_no_document_covers_nothing(
    review: Mapping[str, Any],
) -> None:
    result = await ran(Writing(CHANGED, review=review))
    assert (result.text, result.passed) == (TEXT, False)
    (refused,) = result.turned_down
    assert [each.status for each in refused.findings.differences] == ["open"]
    assert result.run.decisions[refused.id].by == "differences"


async def test_a_limit_of_the_task_is_not_covered_by_its_own_words() -> None:
    writing = Writing(KEPT, review=covering("in at most 5 words"))
    result = await ran(writing, "Say it for the moon in at most 5 words.")
    assert "differences" not in writing.shown("review")
    assert "not met: 8" in writing.shown("review")["rules"][0]
    assert (result.text, result.passed) == (TEXT, False)
    assert [each.kind for each in result.turned_down[0].findings.open] == ["length"]


async def test_what_a_critic_of_others_calls_covered_answers_nothing() -> None:
    class Insurer:
        name = "insurer"

        async def critique(self, thought: Thought) -> CriticFeedback:
            return CriticFeedback(verdict="accept", details={"covered": True})

    result = await ran(Writing(CHANGED), critics=[Insurer()])
    assert (result.text, result.passed) == (TEXT, False)


async def test_an_evaluation_before_a_reflection_covers_differences_too() -> None:
    result = await ran(Writing(CHANGED, review=covering("to the moon")), critics=["reflexion"])
    assert (result.text, result.passed) == (CHANGED, True)


async def test_required_facts_are_covered_by_no_review() -> None:
    result = await ran(Writing(CHANGED, review=covering("it to the moon")), facts="require")
    assert (result.text, result.passed) == (TEXT, False)
    assert [each.status for each in result.turned_down[0].findings.differences] == ["open"]


async def test_a_writer_is_shown_the_version_that_was_turned_down_and_why() -> None:
    writing = Writing(CHANGED, KEPT)
    result = await ran(writing, max_iterations=2)
    assert result.text == KEPT
    assert writing.kinds == ["write", "review"] * 2
    first, second = writing.shown("write"), writing.shown("write", 1)
    assert "turned down" not in first
    assert (second["text"], second["turned down"]) == ([TEXT], [CHANGED])
    assert "'6 dollars' became '9 dollars': nothing asks for it" in second["reasons"][0]
    assert "change only this" in writing.asked[2][2]


async def test_a_first_draft_of_a_task_alone_is_written_with_the_rules() -> None:
    writing = Writing("A bag for the moon.")
    rules = [{"type": "length", "max_words": 7}, {"type": "content", "required": ["bag"]}]
    result = await ran(writing, text="", validators=rules)
    assert writing.kinds == ["write", "review"]
    (told,) = writing.shown("write")["rules"]
    assert '"max_words": 7' in told
    assert '"required": ["bag"]' in told
    assert result.rules_met


async def test_writer_and_reviewer_see_each_rule_with_what_was_measured() -> None:
    writing = Writing(KEPT)
    rules = [
        {"type": "length", "max_words": 7},
        {"type": "content", "required": ["moon"], "name": "place"},
    ]
    await ran(writing, "Say it for the moon in at most 9 words.", validators=rules)
    (told,) = writing.shown("write")["rules"]
    assert told.startswith("- length: met: ")
    assert "place" not in told, "the feedback tells what fails"
    assert "place" in writing.shown("write")["feedback"][0]
    (told,) = writing.shown("review")["rules"]
    length, place, task = told.splitlines()
    assert length.startswith("- length: not met: 8 words")
    assert place.startswith("- place: met: ")
    assert task == "- the task: at most 9 words: met: 8"
