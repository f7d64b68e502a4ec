"""Which of two versions is better, and the selection policies over whole runs."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, RunResult
from sifaka.chain.version_comparison import Preference, compare
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.record.results import CriticFeedback, Issue, ValidationResult, Verdict
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedCritic, ScriptedJudge, ScriptedModel
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

ORIGINAL = Thought(text="the original text of five")


def version(
    text: str = "some text",
    *,
    required: tuple[float, ...] = (),
    advisory: tuple[float, ...] = (),
    verdict: Verdict | None = None,
    severities: tuple[int, ...] = (),
    author: str = "scripted",
    prompt: str = "",
) -> Thought:
    thought = ORIGINAL.next_iteration().with_text(text, author=author, prompt=prompt)
    for n, score in enumerate(required):
        result = ValidationResult(passed=score == 1, score=score)
        thought = thought.add_validation_result(f"r{n}", result)
    for n, score in enumerate(advisory):
        result = ValidationResult(passed=score == 1, score=score, required=False)
        thought = thought.add_validation_result(f"a{n}", result)
    if verdict:
        issues = tuple(Issue.at(text, 0, 4, "x", severity=s) for s in severities)
        thought = thought.add_critic_feedback(
            CriticFeedback(critic="c", verdict=verdict, issues=issues)
        )
    return thought


SILENT = version().add_critic_feedback(CriticFeedback.abstain("c", "timeout"))
BETTER: dict[str, tuple[Thought, Thought]] = {
    "a required validator weighs more than critics": (
        version(required=(1,), verdict="revise", severities=(5, 5)),
        version(required=(0.99,), verdict="accept"),
    ),
    "fewer failed required validators win over being nearer": (
        version(required=(1, 0.1)),
        version(required=(0.9, 0.9)),
    ),
    "nearer to passing wins when as many fail": (
        version(required=(0.6,)),
        version(required=(0.5,)),
    ),
    "advisory validators decide before the critics": (
        version(advisory=(1,), verdict="revise"),
        version(advisory=(0,), verdict="accept"),
    ),
    "acceptance by the critics wins over the weight of issues": (
        version(verdict="accept", severities=(3,)),
        version(verdict="revise", severities=(1,)),
    ),
    "less severe issues win": (
        version(verdict="revise", severities=(1, 1)),
        version(verdict="revise", severities=(5,)),
    ),
    "smaller changes win a tie": (
        version("the original text of six"),
        version("something entirely different and long"),
    ),
    "what critics have accepted wins over what none could judge": (
        version(verdict="accept"),
        SILENT,
    ),
    "what critics have not accepted does so too": (version(verdict="revise"), SILENT),
    "an empty text never wins": (version(required=(0.0,)), version("  ")),
}


@pytest.mark.parametrize("rule", BETTER)
def test_the_better_version_wins_whichever_is_there_first(rule: str) -> None:
    better, worse = BETTER[rule]
    assert compare(better, worse, ORIGINAL).accepted
    assert not compare(worse, better, ORIGINAL).accepted


def test_issues_that_point_nowhere_do_not_weigh() -> None:
    issue = Issue(message="hm", severity=5)
    vague, same = [
        version(verdict="revise").add_critic_feedback(
            CriticFeedback(critic="d", verdict="revise", issues=issues)
        )
        for issues in ((issue,), ())
    ]
    assert not compare(vague, same, ORIGINAL).accepted
    assert not compare(same, vague, ORIGINAL).accepted


def test_the_editors_certain_edits_win_a_tie() -> None:
    edited = version("the original text of fives", author="editor")
    assert compare(edited, version(ORIGINAL.text), ORIGINAL).accepted


@pytest.mark.parametrize("judged", [False, True])
def test_a_version_written_for_a_task_that_no_critic_is_to_judge_wins_a_tie(judged: bool) -> None:
    rewritten, champion = [
        version(text, prompt="make it friendly") for text in ("friendly words", ORIGINAL.text)
    ]
    if judged:  # a critic of the task that abstains does not open the door
        silent = CriticFeedback.abstain("judge", "timeout")
        rewritten, champion = [each.add_critic_feedback(silent) for each in (rewritten, champion)]
    assert compare(rewritten, champion, ORIGINAL).accepted is not judged


def test_a_critic_that_abstains_on_one_version_weighs_for_neither() -> None:
    before = version(verdict="revise", severities=(1,)).add_critic_feedback(
        CriticFeedback(
            critic="flaky", verdict="revise", issues=(Issue.at("some text", 0, 4, "x", severity=5),)
        )
    )
    after = version(verdict="revise", severities=(2,)).add_critic_feedback(
        CriticFeedback.abstain("flaky", "error")
    )
    assert not compare(after, before, ORIGINAL).accepted, "its silence is no improvement"


NEVER_CONTENT = ScriptedCritic(objects_to=lambda _: True)


def longer(first: str, second: str) -> Preference:
    if len(first) == len(second):
        return "neither"
    return "first" if len(first) > len(second) else "second"


def always_first(first: str, second: str) -> Preference:
    return "first"


async def judged(
    *lines: Any,
    prefers: Callable[[str, str], Preference] | None = None,
    text: str = "abc",
    **settings: Any,
) -> RunResult:
    judge = ScriptedJudge(prefers=prefers) if prefers else None
    given: dict[str, Any] = {"critics": [NEVER_CONTENT], "policy": "judged", "judge_model": judge}
    given |= {"model": ScriptedModel(lines=lines), **settings}
    return await Chain(**given).run(text=text)


async def several(
    *lines: Any, most: int = 3, prompt: str = "", text: str = "", **settings: Any
) -> RunResult:
    """The result where several versions are written at once, of so many words at most."""
    rules = [{"type": "length", "max_words": most}]
    given: dict[str, Any] = {"critics": [], "validators": rules, "policy": "best_of_n"}
    given |= {"model": ScriptedModel(lines=lines), **settings}
    return await Chain(**given).run(prompt, text=text)


def reasons(result: RunResult) -> list[str]:
    return [result.run.decisions[t.id].reason for t in result.run.thoughts]


def accepted(result: RunResult) -> list[bool]:
    return [result.run.decisions[t.id].accepted for t in result.run.thoughts]


async def test_a_judge_decides_where_facts_do_not_unless_it_prefers_whatever_comes_first() -> None:
    result = await judged("abcd", "x", "abcdefg", prefers=longer, max_iterations=3, patience=2)
    assert result.text == "abcdefg"
    assert accepted(result) == [True, True, False, True]
    assert "preferred in 1 of 1 comparisons" in reasons(result)[1]
    result = await judged("abcd", "abcde", prefers=always_first)
    assert (result.text, result.stop_reason) == ("abc", "stalled")


async def test_of_several_written_at_once_the_judge_sees_all_that_facts_let_through() -> None:
    asked: list[set[str]] = []

    def note(first: str, second: str) -> Preference:
        asked.append({first, second})
        return longer(first, second)

    lines = ("x" * 9, "y" * 7, "y" * 5, "y" * 8)
    result = await judged(
        *lines,
        prefers=note,
        width=4,
        max_iterations=1,
        validators=[{"type": "regex", "must_match": ["y|a"], "required": False}],
        protect=False,
    )
    assert result.text == "y" * 8
    met = [set(pair) for pair in dict.fromkeys(map(frozenset, asked))]
    assert met == [{"y" * 7, "abc"}, {"y" * 5, "y" * 7}, {"y" * 8, "y" * 7}, {"y" * 8, "abc"}]
    assert len(asked) == 3 * 2 + 2, "both orders, and once more at the end"
    said = reasons(result)
    assert said[1] == "worse in advisory validators failed: 1, version 0 has 0"
    assert accepted(result) == [True, False, True, False, True]


async def test_a_judge_without_a_model_is_a_clear_error() -> None:
    with pytest.raises(ConfigurationError, match="policy `judged` needs a model"):
        Chain(policy="judged")
    with pytest.raises(ConfigurationError, match="policy `judged` needs a model"):
        Chain(model=ScriptedModel(lines=[]), policy="judged")
    with pytest.raises(ConfigurationError, match="width=2 has no effect"):
        Chain(width=2)


async def test_a_judge_that_fails_leaves_the_champion() -> None:
    class Broken:
        async def compare(self, first: Thought, second: Thought) -> Preference:
            raise ModelProviderError("down", error_code="server")

    result = await judged("xyz", judge_model=Broken(), max_iterations=1)
    assert (result.text, result.status) == ("abc", "done")


async def test_a_model_judges_in_both_orders_in_a_context_of_its_own() -> None:
    questions: list[str] = []

    def judge(messages: list[Any], info: AgentInfo) -> ModelResponse:
        question = messages[0].parts[0].content
        questions.append(question)
        better = "first" if question.index("a good text") < question.index("so so") else "second"
        tool = info.output_tools[0].name
        return ModelResponse([ToolCallPart(tool, {"better": better, "reason": "it is good"})])

    result = await Chain(
        model=Writer("a good text").model,
        critics=[NEVER_CONTENT],
        policy="judged",
        judge_model=FunctionModel(judge),
        max_iterations=1,
    ).run(text="so so")
    assert result.text == "a good text"
    assert len(questions) == 4, "both orders, and once more at the end"
    assert result.usage.model_calls == 5
    assert not any("rejected" in q or "editor" in q for q in questions)


async def test_best_of_n_writes_at_once_and_keeps_the_best() -> None:
    model = ScriptedModel(lines=["a b c d e f", "a b c", "a b c d e", "unused"])
    result = await several(text="a b c d e f g", model=model, width=3)
    assert (result.text, result.stop_reason) == ("a b c", "rules_met")
    assert [t.text for t in model.seen] == ["a b c d e f g"] * 3
    assert [t.candidate for t in result.run.thoughts] == [0, 0, 1, 2]
    assert len({t.parent_id for t in result.run.thoughts[1:]}) == 1
    assert result.run.iterations == 1
    assert [bool(t.validation_results) for t in result.run.thoughts] == [True] * 4


async def test_several_first_versions_are_not_a_round_of_revisions() -> None:
    lines = [" ".join("abcdefghij"[n:]) for n in range(7)]
    result = await several(*lines, "a b\nc d", "b c\nd e", prompt="write", max_iterations=2)
    assert result.stop_reason == "max_iterations"
    assert result.run.iterations == 2
    assert len(result.run.thoughts) == 9


async def test_some_of_several_writers_may_fail_but_not_all() -> None:
    down = ModelProviderError("down", error_code="server")
    result = await several(down, "a b", down, text="a b c d")
    assert (result.text, result.status) == ("a b", "done")
    result = await several(down, down, down, text="a b c d")
    assert (result.text, result.status) == ("a b c d", "failed")


async def test_as_many_versions_are_written_at_once_as_there_are_calls_for() -> None:
    writer, budget = Writer("a b c d e").model, Budget(max_calls=2)
    result = await several(text="a b c d", model=writer, width=5, budget=budget)
    assert result.usage.model_calls == 2
    assert result.stop_reason == "budget_calls"
    assert len(result.run.thoughts) == 3


async def test_the_last_version_is_kept_and_nobody_criticises_it() -> None:
    heard: list[str] = []

    def objects(text: str) -> bool:
        heard.append(text)
        return True

    result = await Chain(
        model=ScriptedModel(lines=["b", "c"]),
        critics=[ScriptedCritic(objects_to=objects)],
        policy="last",
        max_iterations=2,
    ).run(text="a")
    assert (result.text, result.stop_reason) == ("c", "max_iterations")
    assert heard == ["a", "b"]


async def test_a_version_that_changes_too_much_is_refused() -> None:
    result = await Chain(
        model=ScriptedModel(lines=["v w\nx y", "one two three 4"]),
        critics=[ScriptedCritic(objects_to=lambda text: "four" in text)],
        max_edit_ratio=0.3,
    ).run(text="one two three four")
    assert result.text == "one two three 4"
    assert reasons(result)[1] == "changes 100% of the original's words, 30% are allowed"


async def test_what_is_protected_counts_before_any_opinion_unless_the_task_lets_it_go() -> None:
    likes_short = ScriptedCritic(objects_to=lambda text: len(text) > 25)
    text = "It costs 4,200 euros, as you can see at https://example.org now."
    shorter = "It costs money."

    async def shortened(task: str = "", **settings: Any) -> RunResult:
        given: dict[str, Any] = {"critics": [likes_short], "max_iterations": 1, **settings}
        return await Chain(model=ScriptedModel(lines=[shorter]), **given).run(task, text=text)

    kept = await shortened()
    assert kept.text == text
    lost = {each.before for each in kept.run.thoughts[1].findings.open}
    assert lost == {"4,200 euros", "https://example.org"}
    assert (await shortened("summarise in one sentence")).text == shorter
    assert (await shortened(protect=False)).text == shorter


async def test_a_round_whose_versions_cannot_win_ends_under_a_judge_too() -> None:
    with anyio.fail_after(30):
        lines = ["It costs 9 euros."] * 3
        text = "It costs 8 euros."
        result = await judged(*lines, prefers=always_first, text=text, max_iterations=2)
    assert result.text == "It costs 8 euros."
    assert {each.by for each in result.run.decisions.values()} >= {"first", "differences"}
