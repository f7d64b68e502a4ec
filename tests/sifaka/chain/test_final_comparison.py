"""The look back: the best version against the input at the end of a run."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, LintCritic, RunResult
from sifaka.chain.review import Check
from sifaka.chain.version_comparison import Preference
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.record.entries import Called
from sifaka.record.results import PREFERRED, CriticFeedback, Preferred
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedJudge, ScriptedModel
from tests.sifaka.chain.dying_store import DyingStore

pytestmark = pytest.mark.anyio

INPUT = "The old text is here."
BETTER = "The new text is here."
HAPPY_WITH_NEW = ScriptedCritic(objects_to=lambda text: "new" not in text)
Prefers = Callable[[str, str], Preference]


def new(first: str, second: str) -> Preference:
    return "first" if "new" in first else "second"


def old(first: str, second: str) -> Preference:
    return "second" if "new" in first else "first"


def always(answer: Preference) -> Prefers:
    return lambda first, second: answer


class Answers:
    """A judge that counts, and follows a list of rules, the last one for good."""

    def __init__(self, *rules: Prefers) -> None:
        self.rules = rules
        self.pairs: list[tuple[str, str]] = []

    def __call__(self, first: str, second: str) -> Preference:
        self.pairs.append((first, second))
        comparison = (len(self.pairs) - 1) // 2
        return self.rules[min(comparison, len(self.rules) - 1)](first, second)


async def looked_back(
    prefers: Prefers, prompt: str = "", *, text: str = INPUT, **settings: Any
) -> RunResult:
    defaults: dict[str, Any] = {
        "model": ScriptedModel(lines=[BETTER]),
        "critics": [HAPPY_WITH_NEW],
        "judge_model": ScriptedJudge(prefers=prefers),
    }
    return await Chain(**{**defaults, **settings}).run(prompt, text=text)


def check(result: RunResult) -> Check | None:
    found = [each for each in result.checked if each.what == "no worse than the input"]
    return found[0] if found else None


def was_done(result: RunResult) -> bool:
    found = check(result)
    return found is not None and found.done


def reason_of(result: RunResult) -> str:
    """How the comparison came out, as the run's history has it."""
    ending = result.run.ending
    return "" if ending is None else ending.decision.reason


async def test_the_judge_lets_a_version_stand_or_brings_the_input_back() -> None:
    judge = Answers(new)
    result = await looked_back(judge)
    assert (result.text, result.stop_reason) == (BETTER, "passed")
    assert len(judge.pairs) == 2, "both orders"
    assert check(result) == Check(what="no worse than the input", done=True)
    told = "preferred in 1 of 1 comparisons in both orders, version 0 in 0"
    assert reason_of(result) == told

    judge = Answers(old)
    result = await looked_back(judge)
    assert (result.text, result.changed, result.stop_reason) == (INPUT, False, "stalled")
    assert len(judge.pairs) == 2
    assert was_done(result)
    assert "preferred in 0 of 1 comparisons in both orders, version 0 in 1" in reason_of(result)


@pytest.mark.parametrize("answer", ["first", "second", "neither"])
async def test_a_judge_that_always_says_the_same_changes_nothing(answer: Preference) -> None:
    judge = Answers(always(answer))
    result = await looked_back(judge)
    assert result.text == INPUT
    assert len(judge.pairs) == 2, "what was asked once is not asked again"
    assert check(result) is not None
    assert reason_of(result).endswith("not clear, and what is in doubt stays")


class Comparing(ScriptedCritic):
    """A critic that is content, and compares a version with the input in the same answer."""

    def __init__(self, better: Preferred) -> None:
        super().__init__(objects_to=lambda text: "new" not in text)
        self.better = better

    async def critique(self, thought: Thought) -> CriticFeedback:
        feedback = await super().critique(thought)
        return feedback.model_copy(update={"details": {PREFERRED: self.better}})


@pytest.mark.parametrize(
    ("review", "prefers", "prompt", "text", "asked"),
    [
        ("text", new, "", BETTER, 1),
        ("text", old, "", INPUT, 1),
        ("text", always("neither"), "", INPUT, 1),
        ("text", old, "Say that it is new.", BETTER, 0),
        ("neither", new, "Say that it is new.", BETTER, 1),
        ("neither", old, "Say that it is new.", INPUT, 1),
        ("neither", always("neither"), "Say that it is new.", BETTER, 1),
        ("original", old, "Say that it is new.", INPUT, 0),
    ],
)
async def test_after_a_review_that_compares_only_the_other_order_is_asked(
    review: Preferred, prefers: Prefers, prompt: str, text: str, asked: int
) -> None:
    judge = Answers(prefers)
    result = await looked_back(judge, prompt, critics=[Comparing(review)])
    assert result.text == text
    assert judge.pairs == [(BETTER, INPUT)] * asked, "the input stood first in the review"
    assert check(result) is not None or review == "original"


@pytest.mark.parametrize(
    ("rules", "text", "asked"),
    [
        ((new,), BETTER, 4),
        ((new, old), INPUT, 4),
        ((old,), INPUT, 2),
        ((always("first"),), INPUT, 2),
    ],
)
async def test_a_thorough_comparison_is_made_twice_and_does_not_count_the_review(
    rules: tuple[Prefers, ...], text: str, asked: int
) -> None:
    judge = Answers(*rules)
    result = await looked_back(judge, critics=[Comparing("text")], look_back=2)
    assert (result.text, len(judge.pairs)) == (text, asked)
    assert len(set(judge.pairs)) == 2


async def test_a_second_comparison_is_asked_in_other_words() -> None:
    provider = Provider(lambda _: "new")
    assert (await asking(provider, look_back=2).run(text=INPUT)).text == BETTER
    assert len(provider.judged) == len(set(provider.judged)) == 4
    assert sum("reading 2" in question for question in provider.judged) == 2


@pytest.mark.parametrize(("prefers", "text"), [(always("first"), BETTER), (old, INPUT)])
async def test_in_doubt_a_version_that_was_written_for_a_task_stands(
    prefers: Prefers, text: str
) -> None:
    result = await looked_back(prefers, "Say that it is new.")
    assert result.text == text
    assert was_done(result)


async def test_in_doubt_a_version_that_mends_a_mistake_stands() -> None:
    settings: dict[str, Any] = {"critics": [LintCritic()], "fixes": "none"}
    mended = "It is the same text."
    settings["model"] = ScriptedModel(lines=[mended])
    result = await looked_back(always("neither"), text="It is the the same text.", **settings)
    assert result.text == mended


async def test_what_validators_measure_needs_no_judge() -> None:
    judge = Answers(old)
    rules = [{"type": "content", "required": ["new"]}]
    result = await looked_back(judge, validators=rules)
    assert (result.text, judge.pairs) == (BETTER, [])
    assert check(result) is not None
    assert reason_of(result).startswith("better in required validators failed")


async def test_the_edited_input_is_what_is_compared_and_what_stands() -> None:
    judge = Answers(old)
    result = await looked_back(judge, text="The the old text is here.")
    assert result.text == INPUT
    assert {text for pair in judge.pairs for text in pair} == {INPUT, BETTER}
    assert result.run.champion == result.run.thoughts[1]


async def test_no_judge_is_asked_where_nothing_is_to_be_compared() -> None:
    judge = Answers(new)
    result = await looked_back(judge, model=ScriptedModel(lines=["x y z"] * 3))
    assert (result.text, judge.pairs, check(result)) == (INPUT, [], None)
    judge = Answers(old)
    kinds: list[dict[str, Any]] = [{"policy": "last"}, {"effort": "quick"}, {"look_back": 0}]
    for settings in kinds:
        result = await looked_back(judge, **settings)
        assert (result.text, judge.pairs, check(result)) == (BETTER, [], None)


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_there_is_nothing_to_go_back_to_without_an_input(text: str) -> None:
    judge = Answers(old)
    result = await looked_back(judge, "Write.", text=text)
    assert (result.text, judge.pairs) == (BETTER, [])


async def test_a_judge_without_an_answer_leaves_the_best_and_the_result_says_so() -> None:
    class Down:
        asked = 0

        async def compare(self, first: object, second: object) -> Preference:
            self.asked += 1
            raise ModelProviderError("down", error_code="server")

    judge = Down()
    result = await looked_back(new, judge_model=judge)
    assert (result.text, result.status) == (BETTER, "done")
    assert judge.asked == 2, "one that is down is not asked on and on"
    assert check(result) == Check(
        what="no worse than the input",
        done=False,
        reason="not compared with version 0: the judge gave no answer",
    )


class Provider:
    """A model that writes, and judges by a rule, over PydanticAI, so that its calls count."""

    def __init__(self, prefers: Callable[[int], str]) -> None:
        self.judged: list[str] = []
        self._prefers = prefers

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, model_name="provider")

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not info.output_tools:
            return ModelResponse([TextPart(BETTER)])
        question = str(messages[0].parts[-1].content)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        new_is_first = question.index("new") < question.index("old")
        says = self._prefers(len(self.judged) // 2)
        self.judged.append(question)
        answers: Mapping[str, str] = {
            "new": "first" if new_is_first else "second",
            "old": "second" if new_is_first else "first",
        }
        better = answers.get(says, says)
        return ModelResponse([ToolCallPart(info.output_tools[0].name, {"better": better})])


def asking(provider: Provider, **settings: Any) -> Chain:
    return Chain(model=provider.model, critics=[HAPPY_WITH_NEW], **settings)


@pytest.mark.parametrize(
    ("room", "asked", "broke_off"),
    [
        (1, 0, "not compared with version 0: the budget of calls is spent"),
        (2, 0, "not compared with version 0: the budget of calls is spent"),
        (3, 2, None),
    ],
)
async def test_a_budget_that_ends_it_leaves_the_best_and_the_result_says_so(
    room: int, asked: int, broke_off: str | None
) -> None:
    provider = Provider(lambda _: "new")
    result = await asking(provider, budget=Budget(max_calls=room)).run(text=INPUT)
    assert (result.text, len(provider.judged)) == (BETTER, asked)
    assert result.usage.model_calls <= room
    assert was_done(result) is (broke_off is None)
    assert (broke_off or "") in reason_of(result)


async def test_a_second_version_is_written_only_when_the_look_back_can_be_paid() -> None:
    never = ScriptedCritic(objects_to=lambda _: True)
    for calls, written in ((1, 1), (3, 1), (4, 2)):
        chain = Chain(model=Provider(lambda _: "new").model, critics=[never], patience=2)
        result = await chain.replace(budget=Budget(max_calls=calls)).run(text=INPUT)
        assert len(result.run.thoughts) == 1 + written, calls


@pytest.mark.parametrize("number", range(2, 2 + 2))
async def test_a_run_killed_in_the_look_back_asks_no_question_twice(number: int) -> None:
    memory = MemoryStorage()
    killed = Provider(lambda _: "new")
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - looked at below
        await asking(killed, store=DyingStore(memory, number, at=Called)).run(text=INPUT)
    assert "Killed" in repr(raised.value)
    (summary,) = (await memory.recent(limit=1)).runs
    kept = len((await memory.load(summary.run_id)).calls)
    assert kept < number
    after = Provider(lambda _: "new")
    result = await asking(after, store=memory).resume(summary.run_id)
    assert (result.text, result.stop_reason) == (BETTER, "passed")
    assert len(result.run.calls) == kept + len(after.judged) <= 1 + 2
    replay = await asking(after, store=memory).replay(summary.run_id)
    assert replay.exact, replay.differences


async def test_the_choice_to_look_back_has_a_usual_form_and_needs_a_model() -> None:
    usual = Chain(model="test").config
    assert usual.look_back == 1
    assert usual.model_copy(update={"look_back": None}).fingerprint == usual.fingerprint
    assert Chain(model="test", look_back=0).config.fingerprint != usual.fingerprint
    assert Chain().config.look_back is None
    assert Chain(model=ScriptedModel(lines=[])).config.look_back is None
    with pytest.raises(ConfigurationError, match="look back needs a model"):
        Chain(look_back=1)


async def test_a_run_that_fails_before_the_end_says_what_was_not_compared() -> None:
    down = ModelProviderError("down", error_code="server")
    never = [ScriptedCritic(objects_to=lambda _: True, name=name) for name in ("one", "other")]
    lines = [BETTER, down]
    result = await looked_back(
        old, model=ScriptedModel(lines=lines), critics=[*never, HAPPY_WITH_NEW]
    )
    assert (result.status, result.text) == ("failed", BETTER)
    reason = "the run ended before the comparison"
    assert check(result) == Check(what="no worse than the input", done=False, reason=reason)
