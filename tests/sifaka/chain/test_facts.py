"""The guard of facts in a run, and tasks that are never skipped."""

from typing import Literal

import pytest

from sifaka import Chain
from sifaka.chain.selection import compare
from sifaka.record.results import CriticFeedback, Issue, ValidationResult, Verdict
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage
from sifaka.testing import ScriptedCritic, ScriptedModel
from tests.stubs.provider import calls, provider, says, told_of

pytestmark = pytest.mark.anyio

TEXT = "The bag costs 6 dollars, see https://bags.example/12 for `code`."
LOST = "The bag costs 9 dollars."
KEPT = "The bag is $6: https://bags.example/12, `code`."
SHORTER = "Make this shorter."


async def test_a_version_that_loses_facts_is_turned_down_and_the_writer_is_told() -> None:
    writer = ScriptedModel(lines=[LOST, KEPT])
    result = await Chain(model=writer, critics=[]).run(SHORTER, text=TEXT)
    assert result.text == KEPT
    reason = result.run.decisions[result.turned_down[0].id].reason
    for told in ("6 dollars became 9 dollars", "URL lost: https://bags.example/12", "code lost"):
        assert told in reason
    assert any("6 dollars became 9 dollars" in line for line in writer.seen[1].lessons)


@pytest.mark.parametrize(("facts", "text"), [("require", TEXT), ("warn", LOST), ("off", LOST)])
async def test_facts_weigh_as_much_as_the_option_says(facts: str, text: str) -> None:
    chain = Chain(model=ScriptedModel(lines=[LOST] * 3), critics=[], facts=facts)  # pyright: ignore[reportArgumentType] # any of them
    result = await chain.run(SHORTER, text=TEXT)
    assert result.text == text
    checks = {r.required for t in result.run.thoughts for r in t.validation_results.values()}
    assert checks == {"require": {True}, "warn": {False}, "off": set[bool]()}[facts]


async def test_a_warning_about_facts_is_told_and_does_not_refuse() -> None:
    critic = ScriptedCritic(objects_to=lambda text: text == TEXT)
    chain = Chain(model=ScriptedModel(lines=[LOST]), critics=[critic], facts="warn")
    result = await chain.run(SHORTER, text=TEXT)
    assert (result.text, result.passed, result.stop_reason) == (LOST, True, "passed")
    assert not result.turned_down
    told = [issue.message for issue in result.left]
    assert "6 dollars became 9 dollars" in told
    assert any("URL lost" in message for message in told)


def test_of_two_versions_with_a_warning_the_one_that_keeps_more_facts_is_better() -> None:
    def version(text: str, score: float) -> Thought:
        warning = ValidationResult(
            validator="facts", passed=False, required=False, score=score, message="lost"
        )
        return Thought(text=text, validation_results={"facts": warning})

    more, less = version("six bags and more", 0.5), version("six bags", 0.25)
    original = Thought(text="six bags or so")
    assert compare(more, less, original).accepted
    assert not compare(less, more, original).accepted
    assert "facts that differ" in compare(less, more, original).reason


async def test_a_run_of_before_the_option_is_replayed_as_it_was() -> None:
    store = MemoryStorage()
    old = Chain(model=ScriptedModel(lines=[LOST]), critics=[], store=store).replace(facts=None)  # pyright: ignore[reportArgumentType] # as records have it
    result = await old.run(SHORTER, text=TEXT)
    assert result.run.config.facts is None
    assert (result.text, result.passed) == (TEXT, False)
    again = await Chain(model=ScriptedModel(lines=[]), critics=[], store=store).replay(
        result.run_id
    )
    assert again.differences == ()


async def test_a_required_length_far_below_the_input_lets_facts_go() -> None:
    text = "The hall has 7 doors. It was built in 1931. Each ticket costs 15 euros, as always."
    short = "The hall has 7 doors."
    rule = [{"type": "length", "max_words": 6}]
    result = await Chain(model=ScriptedModel(lines=[short]), critics=[], validators=rule).run(
        text=text
    )
    assert result.text == short


@pytest.mark.parametrize("critics", [[], ["lint"]])
async def test_a_task_is_written_for_although_no_critic_asks_for_it(critics: list[str]) -> None:
    writer = ScriptedModel(lines=["Le sac coûte 6 dollars."])
    chain = Chain(model=writer, critics=critics)
    result = await chain.run("Translate into French.", text="The bag costs 6 dollars.")
    assert result.text == "Le sac coûte 6 dollars."
    assert (result.status, result.passed, result.stop_reason) == ("done", False, "unchecked")
    assert [issue.message for issue in result.left] == [
        "no model judged whether the text does what the task asks"
    ]


async def test_a_task_is_written_for_although_a_critic_accepts_the_input() -> None:
    writer = ScriptedModel(lines=["Le sac coûte 6 dollars."])
    chain = Chain(model=writer, critics=[ScriptedCritic(objects_to=lambda _: False)])
    result = await chain.run("Translate into French.", text="The bag costs 6 dollars.")
    assert len(writer.seen) == 1
    assert (result.text, result.passed) == ("Le sac coûte 6 dollars.", True)


NO_TRANSLATIONS = (
    "OK",
    "...",
    "[translated text]",
    "Banana.",
    "I cannot assist with this request.",
    "Je suis désolé, je ne peux pas vous aider.",
    "Es tut mir leid, ich kann dabei leider nicht helfen.",
    "抱歉，我无法翻译。",
    "Please provide the text you would like me to translate.",
    "Hello! How can I help you today?",
    "Please send your questions before the meeting.",
)
"""Answers to a task to translate that a critic who accepts everything lets through."""


@pytest.mark.parametrize("answer", NO_TRANSLATIONS)
async def test_what_is_no_translation_never_stands_for_one(answer: str) -> None:
    text = "Please send your questions before the meeting. There is coffee for all who come early."
    critic = ScriptedCritic(objects_to=lambda _: False)
    chain = Chain(model=ScriptedModel(lines=[answer]), critics=[critic], max_iterations=1)
    result = await chain.run("Translate into French.", text=text)
    assert (result.text, result.passed) == (text, False)
    assert any("the task was not carried out" in issue.message for issue in result.left)


class Nitpicker:
    """Accepts everything, and finds a small thing, or a large one, in whatever is not English."""

    name = "nitpicker"

    def __init__(self, verdict: Verdict = "accept") -> None:
        self._verdict: Verdict = verdict

    async def critique(self, thought: Thought) -> CriticFeedback:
        text = thought.text
        if "sac" not in text:
            return CriticFeedback(verdict="accept")
        return CriticFeedback(verdict=self._verdict, issues=(Issue.at(text, 0, 2, "odd"),))


FRENCH = "Le sac coûte 6 dollars, voir https://bags.example/12 pour `code`."
OPEN = "the task was not carried out: no version that was written for it was kept"


@pytest.mark.parametrize("task", ["Translate into French.", "Make it rhyme."])
async def test_an_input_that_a_critic_accepts_as_it_does_each_try_does_not_pass(task: str) -> None:
    chain = Chain(model=ScriptedModel(lines=[FRENCH] * 3), critics=[Nitpicker()], facts="off")
    result = await chain.run(task, text=TEXT)
    assert (result.text, result.passed) == (TEXT, False)
    assert [issue.message for issue in result.left] == [OPEN]


@pytest.mark.parametrize(
    ("task", "passed"),
    [
        ("Translate into French.", False),
        ("翻译成法语", False),
        ("Translate into English.", True),
        ("Make it rhyme.", True),
    ],
)
async def test_an_input_in_another_language_is_never_its_translation(
    task: str, passed: bool
) -> None:
    critic = Nitpicker("revise")
    chain = Chain(model=ScriptedModel(lines=[FRENCH] * 3), critics=[critic], facts="off")
    result = await chain.run(task, text=TEXT)
    assert (result.text, result.passed) == (TEXT, passed)


async def test_a_paraphrase_that_a_critic_takes_for_a_translation_is_turned_down() -> None:
    text = "Please send your questions before the meeting. There is coffee for all who come early."
    same = "Kindly submit your questions in advance of our meeting. There is coffee for the early."
    chain = Chain(model=ScriptedModel(lines=[same]), critics=[Nitpicker()], max_iterations=1)
    result = await chain.run("Translate into French.", text=text)
    assert (result.text, result.passed) == (text, False)


async def test_of_two_versions_for_a_task_that_a_critic_accepts_the_first_stays() -> None:
    original = Thought(text="The bag costs 6 dollars.", author="input")
    accepted = (CriticFeedback(critic="content", verdict="accept"),)
    first, second = (
        Thought(text=text, prompt="Translate.", author="scripted", critic_feedback=accepted)
        for text in ("Le sac coûte 6 dollars.", "Ce sac coûte 6 dollars.")
    )
    assert compare(first, original, original).accepted
    assert not compare(second, first, original).accepted


async def test_a_task_that_a_critic_misses_and_no_version_does_is_told_as_open() -> None:
    critic = ScriptedCritic(objects_to=lambda _: True)
    result = await Chain(model=ScriptedModel(lines=[TEXT]), critics=[critic]).run(
        SHORTER, text=TEXT
    )
    assert (result.text, result.passed) == (TEXT, False)
    assert any("the task was not carried out" in issue.message for issue in result.left)


async def test_a_task_that_only_lost_facts_is_not_done() -> None:
    chain = Chain(model=ScriptedModel(lines=[LOST, f"{LOST} "]), critics=["lint"], max_iterations=2)
    result = await chain.run(SHORTER, text=TEXT)
    assert (result.text, result.passed, result.stop_reason) == (TEXT, False, "max_iterations")
    assert "the task was not carried out" in result.left[0].message


@pytest.mark.parametrize("effort", ["standard", "thorough"])
async def test_a_version_that_meets_a_rule_at_the_cost_of_facts_is_turned_down(
    effort: Literal["standard", "thorough"],
) -> None:
    rule = [{"type": "regex", "must_match": [r"\ADear customer,"]}]
    writer = ScriptedModel(lines=["Dear customer, the text has been rewritten."] * 20)
    chain = Chain(model=writer, critics=["lint"], validators=rule, effort=effort)
    result = await chain.run("Rewrite this as a polite letter.", text=TEXT)
    assert (result.text, result.passed) == (TEXT, False)


async def test_numbers_that_are_to_stay_are_those_of_dates_too() -> None:
    rest = "Books can be brought back until 20 March without any fee, to the box at the back door."
    text = f"It is closed from 3 March until 17 March. {rest}"
    rule = [{"type": "length", "max_words": 8}]
    writer = ScriptedModel(lines=["It is closed from 3 March until 17 March."] * 3)
    chain = Chain(model=writer, critics=[], validators=rule)
    result = await chain.run("Shorten this to 8 words. Keep the numbers.", text=text)
    assert result.text == text


async def test_an_accepted_input_does_not_pass_when_each_try_at_the_task_lost_facts() -> None:
    content = ScriptedCritic(objects_to=lambda _: False)
    chain = Chain(model=ScriptedModel(lines=[LOST] * 3), critics=[content], look_back=0)
    result = await chain.run(SHORTER, text=TEXT)
    assert (result.text, result.passed) == (TEXT, False)
    assert [issue.message for issue in result.left] == [
        "the task was not carried out: no version that was written for it was kept"
    ]


async def test_the_editor_alone_says_that_the_task_is_left() -> None:
    result = await Chain(model="editor").run("Translate into French.", text="It is a good bag.")
    assert (result.status, result.passed) == ("done", False)
    assert any("the task was ignored" in line for line in result.degraded)
    assert "the task was not carried out" in result.left[-1].message


async def test_the_caller_is_asked_for_the_task_once() -> None:
    chain = Chain(critics=["lint"])
    waiting = await chain.run(SHORTER, text=TEXT)
    assert (waiting.status, waiting.passed) == ("needs_revision", False)
    assert waiting.brief is not None
    assert any(SHORTER in line for line in waiting.brief.rubric)
    lost = await chain.submit(waiting.run_id, waiting.brief.parent_id, LOST)
    assert (lost.accepted, lost.status) == (False, "needs_revision")
    assert "6 dollars became 9 dollars" in lost.reason
    done = await chain.submit(waiting.run_id, waiting.brief.parent_id, KEPT)
    assert (done.status, done.passed) == ("done", True)


async def test_critics_get_the_input_beside_the_version() -> None:
    seen: list[object] = []

    class Reader:
        name = "reader"

        async def critique(self, thought: Thought) -> CriticFeedback:
            seen.append(thought.metadata.get("original"))
            return CriticFeedback(verdict="accept")

    chain = Chain(model=ScriptedModel(lines=[KEPT]), critics=[Reader()])
    result = await chain.run(SHORTER, text=TEXT)
    assert seen == [None, TEXT]
    assert "original" not in result.thought.metadata


async def test_a_model_is_asked_once_about_a_task_that_no_rule_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = "Bring it to the moon."
    written = says("The bag costs 9 dollars on the moon.")
    replies = [written, calls("answer", {"change": ["numbers"]}), says("The bag costs 8 dollars.")]
    with provider(replies) as served:
        told_of(served, monkeypatch)
        chain = Chain(model="openai-chat:stub", critics=["lint"], max_iterations=1, look_back=0)
        result = await chain.run(task, text="The bag costs 6 dollars.")
        assert result.text == "The bag costs 9 dollars on the moon."
        assert result.thought.validation_results["facts"].details["allowed"]
        assert result.usage.model_calls == 2
        assert [call.key for call in result.run.calls][1].endswith("facts#0")
        assert (await chain.replay(result.run_id)).differences == ()
        assert len(served.requests) == 2
