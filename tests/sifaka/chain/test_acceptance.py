"""The selection policies, over whole runs."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Budget, Chain, RunResult
from sifaka.chain.version_comparison import Preference
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedCritic, ScriptedJudge, ScriptedModel

pytestmark = pytest.mark.anyio

NEVER_CONTENT = ScriptedCritic(objects_to=lambda _: True)


def longer(first: str, second: str) -> Preference:
    if len(first) == len(second):
        return "neither"
    return "first" if len(first) > len(second) else "second"


def always_first(first: str, second: str) -> Preference:
    return "first"


async def judged(
    *lines: Any, prefers: Callable[[str, str], Preference], **settings: Any
) -> RunResult:
    chain = Chain(
        model=ScriptedModel(lines=lines),
        critics=[NEVER_CONTENT],
        policy="judged",
        judge_model=ScriptedJudge(prefers=prefers),
        **settings,
    )
    return await chain.run(text="abc")


def reasons(result: RunResult) -> list[str]:
    return [result.run.decisions[t.id].reason for t in result.run.thoughts]


async def test_a_judge_decides_where_facts_do_not() -> None:
    result = await judged("abcd", "x", "abcdefg", prefers=longer, max_iterations=3, patience=2)
    assert result.text == "abcdefg"
    accepted = [result.run.decisions[t.id].accepted for t in result.run.thoughts]
    assert accepted == [True, True, False, True]
    assert "preferred in 1 of 1 comparisons" in reasons(result)[1]


async def test_a_judge_that_prefers_whatever_comes_first_has_no_vote() -> None:
    result = await judged("abcd", "abcde", prefers=always_first)
    assert (result.text, result.stop_reason) == ("abc", "stalled")


async def test_validators_decide_before_any_judge() -> None:
    asked: list[tuple[str, str]] = []

    def note(first: str, second: str) -> Preference:
        asked.append((first, second))
        return "neither"

    rules = [{"type": "length", "max_chars": 2}]
    result = await judged("ab", prefers=note, validators=rules, max_iterations=1)
    assert result.text == "ab"
    assert asked == []


async def test_at_the_end_the_champion_is_compared_with_the_original() -> None:
    """Each version beats the one before it, and then the original beats the last of them."""
    beats = {("b", "a"), ("c", "b"), ("a", "c")}

    def in_a_circle(first: str, second: str) -> Preference:
        return "first" if (first, second) in beats else "second"

    result = await Chain(
        model=ScriptedModel(lines=["b", "c"]),
        critics=[NEVER_CONTENT],
        policy="judged",
        judge_model=ScriptedJudge(prefers=in_a_circle),
        max_iterations=2,
    ).run(text="a")
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [True] * 3
    assert (result.text, result.changed) == ("a", False)
    assert result.run.ending is not None
    assert (
        "preferred in 0 of 1 comparisons in both orders, version 0 in 1"
        in result.run.ending.decision.reason
    )
    assert result.stop_reason == "max_iterations"


async def test_an_original_that_stays_is_not_compared_with_itself() -> None:
    result = await judged("ab", prefers=longer, max_iterations=1)
    assert result.run.ending is None
    assert result.text == "abc"


async def test_of_several_written_at_once_the_judge_sees_all_that_facts_let_through() -> None:
    asked: list[set[str]] = []

    def note(first: str, second: str) -> Preference:
        asked.append({first, second})
        return longer(first, second)

    result = await judged(
        "x" * 9,
        "y" * 7,
        "y" * 5,
        "y" * 8,
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
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [
        True,
        False,
        True,
        False,
        True,
    ]


async def test_of_several_first_versions_facts_pick_one_before_the_judge() -> None:
    chain = Chain(
        model=ScriptedModel(lines=["a b c d", "a b", "a b c"]),
        critics=[],
        validators=[{"type": "length", "max_words": 2}],
        policy="judged",
        width=3,
        judge_model=ScriptedJudge(prefers=always_first),
    )
    result = await chain.run("write")
    assert (result.text, result.status) == ("a b", "done")


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
            raise ModelProviderError("down", code="server")

    result = await Chain(
        model=ScriptedModel(lines=["xyz"]),
        critics=[NEVER_CONTENT],
        policy="judged",
        judge_model=Broken(),
        max_iterations=1,
    ).run(text="abc")
    assert (result.text, result.status) == ("abc", "done")


async def test_a_model_judges_in_both_orders_in_a_context_of_its_own() -> None:
    questions: list[str] = []

    def judge(messages: list[Any], info: AgentInfo) -> ModelResponse:
        question = messages[0].parts[0].content
        questions.append(question)
        better = "first" if question.index("a good text") < question.index("so so") else "second"
        tool = info.output_tools[0].name
        return ModelResponse([ToolCallPart(tool, {"better": better, "reason": "it is good"})])

    def write(messages: list[Any], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("a good text")])

    result = await Chain(
        model=FunctionModel(write),
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
    result = await Chain(
        model=model,
        critics=[],
        validators=[{"type": "length", "max_words": 3}],
        policy="best_of_n",
        width=3,
    ).run(text="a b c d e f g")
    assert (result.text, result.stop_reason) == ("a b c", "rules_met")
    assert [t.text for t in model.seen] == ["a b c d e f g"] * 3
    assert [t.candidate for t in result.run.thoughts] == [0, 0, 1, 2]
    assert len({t.parent_id for t in result.run.thoughts[1:]}) == 1
    assert result.run.iterations == 1
    assert [bool(t.validation_results) for t in result.run.thoughts] == [True] * 4


async def test_best_of_n_from_a_prompt_takes_the_best_first_version() -> None:
    result = await Chain(
        model=ScriptedModel(lines=["a b c d e", "a b", "a b c d"]),
        critics=[],
        validators=[{"type": "length", "max_words": 3}],
        policy="best_of_n",
    ).run("write")
    assert result.text == "a b"
    assert result.run.iterations == 0


async def test_several_first_versions_are_not_a_round_of_revisions() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = [" ".join(words[n:]) for n in range(7)]
    lines += ["a b\nc d", "b c\nd e"]
    result = await Chain(
        model=ScriptedModel(lines=lines),
        critics=[],
        validators=[{"type": "length", "max_words": 3}],
        policy="best_of_n",
        max_iterations=2,
    ).run("write")
    assert result.stop_reason == "max_iterations"
    assert result.run.iterations == 2
    assert len(result.run.thoughts) == 9


async def test_some_of_several_writers_may_fail_but_not_all() -> None:
    down = ModelProviderError("down", code="server")
    rules = [{"type": "length", "max_words": 3}]
    settings: dict[str, Any] = {"critics": [], "validators": rules, "policy": "best_of_n"}
    result = await Chain(model=ScriptedModel(lines=[down, "a b", down]), **settings).run(
        text="a b c d"
    )
    assert (result.text, result.status) == ("a b", "done")
    result = await Chain(model=ScriptedModel(lines=[down, down, down]), **settings).run(
        text="a b c d"
    )
    assert (result.text, result.status) == ("a b c d", "failed")


async def test_as_many_versions_are_written_at_once_as_there_are_calls_for() -> None:
    def write(messages: list[Any], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("a b c d e")])

    result = await Chain(
        model=FunctionModel(write),
        critics=[],
        validators=[{"type": "length", "max_words": 3}],
        policy="best_of_n",
        width=5,
        budget=Budget(max_calls=2),
    ).run(text="a b c d")
    assert result.usage.model_calls == 2
    assert result.stop_reason == "budget_calls"
    assert len(result.run.thoughts) == 3


async def test_several_versions_of_a_short_text_mend_what_is_missing() -> None:
    result = await Chain(
        model=ScriptedModel(lines=["a b", "a b c", "a"]),
        critics=[],
        validators=[{"type": "content", "required": ["c"]}],
        policy="best_of_n",
        width=3,
    ).run(text="a b")
    assert (result.text, result.status) == ("a b c", "done")


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
    text, shorter = (
        "It costs 4,200 euros, as you can see at https://example.org now.",
        "It costs money.",
    )
    settings: dict[str, Any] = {"critics": [likes_short], "max_iterations": 1}
    kept = await Chain(model=ScriptedModel(lines=[shorter]), **settings).run(text=text)
    assert kept.text == text
    lost = {each.before for each in kept.run.thoughts[1].findings.open}
    assert lost == {"4,200 euros", "https://example.org"}
    shorten = "summarise in one sentence"
    asked = await Chain(model=ScriptedModel(lines=[shorter]), **settings).run(shorten, text=text)
    assert asked.text == shorter
    off = await Chain(model=ScriptedModel(lines=[shorter]), protect=False, **settings).run(
        text=text
    )
    assert off.text == shorter


async def test_effort_thorough_writes_several_at_once_where_there_is_a_model() -> None:
    with_model = Chain(model=ScriptedModel(lines=[]), judge_model="test", effort="thorough")
    assert (with_model.config.policy, with_model.config.max_iterations) == ("best_of_n", 5)
    assert Chain(effort="thorough").config.policy == "best"
    only_writes = Chain(model=ScriptedModel(lines=[]), effort="thorough", critics=[])
    assert only_writes.config.policy == "best"
    assert Chain(model="test", effort="thorough", policy="last").config.policy == "last"
    assert Chain(model="test").config.policy == "best"


async def test_a_round_whose_versions_cannot_win_ends_under_a_judge_too() -> None:
    with anyio.fail_after(30):
        result = await Chain(
            model=ScriptedModel(lines=["It costs 9 euros."] * 3),
            critics=[NEVER_CONTENT],
            policy="judged",
            judge_model=ScriptedJudge(prefers=lambda _, __: "first"),
            max_iterations=2,
        ).run(text="It costs 8 euros.")
    assert result.text == "It costs 8 euros."
    assert {each.by for each in result.run.decisions.values()} >= {"first", "differences"}
