"""Drafts that are no text: turned down with the reason, on record, and never what comes back."""

from typing import Any, Literal

import pytest
from pydantic_ai.messages import FinishReason

from sifaka import Chain, RunResult
from sifaka.models.prompt import MARK
from sifaka.record.usage import Budget
from tests.stubs.writer import Writer

pytestmark = pytest.mark.anyio

TEXT = "It basically are a text of too many words, is it?"
BETTER = "It is a text of few words."
Policy = Literal["best", "last"]


SETTINGS: dict[str, Any] = {
    "critics": [],
    "fixes": "none",
    "facts": "off",
    "validators": [{"type": "length", "max_words": 8}],
}


async def run(writer: Writer, task: str = "", **options: Any) -> RunResult:
    return await Chain(model=writer.model, **(SETTINGS | options)).run(task, text=TEXT)


def echo(prompt: str) -> str:
    return f"{prompt}\n\nAnd now something.\n\n{prompt}\n\nAnd now something else."


async def test_a_draft_that_can_be_mended_is_a_version_and_says_so() -> None:
    result = await run(Writer(f"Sure, here is the revised text:\n\n{BETTER}"))
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert result.thought.metadata["mended"] == ("a chat preface",)


@pytest.mark.parametrize("policy", ["best", "last"])
async def test_a_draft_that_cannot_is_turned_down_with_the_reason(policy: Policy) -> None:
    result = await run(Writer(echo), policy=policy)
    assert (result.text, result.status, result.passed) == (TEXT, "done", False)
    assert result.stop_reason == "max_iterations"
    assert result.turned_down
    for thought in result.turned_down:
        assert result.run.decisions[thought.id].reason.startswith("refused: it ")
        assert thought.validation_results == {}, "nobody is paid to look at it"


async def test_a_refused_answer_is_shown_to_its_writer_who_is_asked_once_more() -> None:
    refused = f"{BETTER}\n\nLet me know what else I should change!"
    writer = Writer(refused, BETTER)
    result = await run(writer)
    prompts = writer.of("write")
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [True, True]
    assert prompts[1].startswith(prompts[0])
    shown = prompts[1].removeprefix(prompts[0])
    assert refused in shown
    (told,) = (line for line in shown.splitlines() if "was refused" in line)
    assert "refused: it has what may be none of the text: 'Let me know what else" in told
    assert (result.thought.usage.model_calls, result.usage.model_calls) == (2, 2)


async def test_the_next_version_is_told_of_a_second_refusal() -> None:
    writer = Writer(echo, echo, BETTER)
    result = await run(writer)
    assert (result.text, result.stop_reason) == (BETTER, "rules_met")
    assert "An answer was refused: it " in writer.of("write")[2]
    assert [result.run.decisions[t.id].accepted for t in result.run.thoughts] == [True, False, True]


async def test_an_answer_that_is_given_again_or_needs_no_changes_is_meant() -> None:
    told = f"{BETTER}\n\nSee you on Sunday!"
    writer = Writer(told)
    result = await run(writer, "Invite them.", validators=[], max_iterations=1)
    assert result.text == told
    assert sum("was refused" in prompt for prompt in writer.of("write")) == 1
    writer = Writer("No changes are needed.", TEXT)
    result = await run(writer, "Correct it.", validators=[], facts=None)
    assert (result.text, len(writer.asked)) == (TEXT, 2)
    assert "if nothing is to be changed, with the text as it is" in writer.of("write")[1]


async def test_without_room_for_a_second_answer_the_first_stays_refused() -> None:
    writer = Writer(echo)
    result = await run(writer, "Correct it.", budget=Budget(max_calls=1))
    assert (result.text, len(writer.asked)) == (TEXT, 1)
    (refused,) = result.turned_down
    assert result.run.decisions[refused.id].reason.startswith("refused: it ")


async def test_of_several_versions_the_others_go_on() -> None:
    result = await run(Writer(echo, BETTER), policy="best_of_n", width=2)
    assert result.text == BETTER
    assert len(result.run.thoughts) == 3
    assert result.run.iterations == 1


@pytest.mark.parametrize("answer", ["<think>for ever", "Write a text.", "la la " * 50])
async def test_a_first_version_that_is_refused_fails_the_run(answer: str) -> None:
    result = await Chain(model=Writer(answer).model, critics=[]).run("Write a text.")
    assert (result.status, result.text, result.passed) == ("failed", "", False)
    assert result.run.error_code == "unfit"
    assert "the answer was refused: it" in (result.error or "")


async def test_runs_are_replayed_with_refused_drafts_and_from_before_them() -> None:
    writer = Writer(echo, f"```\n{BETTER}\n```")
    chain = Chain(model=writer.model, critics=[], max_iterations=2, patience=None)
    result = await chain.run("Shorten it.", text=TEXT)
    assert result.run.mends
    assert (await chain.replay(result.run_id)).differences == ()

    said = f"```\n{BETTER}\n```"
    chain = Chain(model=Writer(said).model, **SETTINGS)
    handle = await chain.start("Shorten it.", text=TEXT)
    handle.taken = handle.taken.model_copy(update={"mends": False})
    result = await handle.work()
    assert said in [thought.text for thought in result.run.thoughts]


@pytest.mark.parametrize(
    ("reason", "details", "code"),
    [
        ("content_filter", None, "content_filter"),
        ("length", None, "output_limit"),
        ("error", None, "unfinished"),
        ("tool_call", None, "unfinished"),
        (None, {"finish_reason": "abort"}, "unfinished"),
        (None, {"finish_reason": "SAFETY"}, "unfinished"),
        (None, {"finish_reason": "pause_turn"}, "unfinished"),
        ("stop", None, None),
        (None, None, None),
        (None, {"finish_reason": "end_turn"}, None),
    ],
)
async def test_half_an_answer_is_no_version(
    reason: FinishReason | None, details: dict[str, Any] | None, code: str | None
) -> None:
    result = await run(Writer(BETTER, finish_reason=reason, provider_details=details))
    assert result.run.error_code == code
    met = code is None
    assert (result.text, result.rules_met) == ((BETTER, True) if met else (TEXT, False))


async def test_what_the_caller_submits_is_mended_where_that_is_certain() -> None:
    chain = Chain(model="caller", validators=SETTINGS["validators"], fixes="none")
    waiting = await chain.run(text=TEXT)
    revision = f"<think>shorter</think>\nHere is the revised text:\n\n{BETTER}"
    result = await chain.submit(waiting.run_id, waiting.thought.id, revision)
    assert (result.text, result.accepted) == (BETTER, True)
    assert result.thought.metadata["mended"] == ("reasoning", "a chat preface")
    again = await chain.submit(waiting.run_id, waiting.thought.id, revision)
    assert again.run.version == result.run.version


async def test_no_mark_of_a_prompt_comes_back_whatever_a_model_copies() -> None:
    def whole(prompt: str) -> str:
        return prompt

    def end(prompt: str) -> str:
        return prompt[prompt.index("<text") :]

    def half(prompt: str) -> str:
        return prompt[: len(prompt) // 2]

    for copied in (whole, end, half):
        result = await run(Writer(copied), policy="last")
        assert MARK.search(result.text) is None
