"""Replies to a form: what is read in them, and never a vote in what is not one."""

import json
from collections import Counter
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain
from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics.opinion import Opinion
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.prompt import frame
from sifaka.models.provider import provider_model
from sifaka.models.structured import Unreadable, ask, read
from sifaka.record.usage import Budget, Usage
from tests.sifaka.models.malformed import MESSAGES, REVIEWED, REVISE, Malformed, Way, corpus

pytestmark = pytest.mark.anyio

A, R = '{"verdict": "accept"}', '{"verdict": "revise"}'
LONG_A = '{"verdict": "accept", "issues": [], "suggestions": []}'
QUOTING = '{"verdict": "revise", "issues": [{"quote": "</think> a", "message": "Leave it out."}]}'

VOTES: dict[str, str] = {
    A: "accept",
    R: "revise",
    f"  {A}\n": "accept",
    f"```json\n{A}\n```": "accept",
    f"```\n{R}\n```": "revise",
    f"<think>{A}</think>{R}": "revise",
    f"<think>\nI could say {A}\n</think>\n\n{R}": "revise",
    f"Maybe {A}?\n</think>\n{R}": "revise",
    f"<thinking>{R}</thinking>\n{A}": "accept",
    f"<reasoning>{R}</reasoning>\n```json\n{A}\n```": "accept",
    f"[THINK]{A}[/THINK]{R}": "revise",
    f"◁think▷{A}◁/think▷{R}": "revise",
    f"<|channel|>analysis<|message|>{A}<|end|><|start|>assistant<|channel|>final<|message|>{R}": "revise",
    f"`{A}`": "accept",
    f"{R}<|im_end|>": "revise",
    f"{R}</s>": "revise",
    f"<think></think>{R}": "revise",
    f"{R}\n<think>\nor rather {A}": "revise",
    QUOTING: "revise",
    '{"verdict": "revise", "issues": [{"quote": "<think> a </think>", "message": "A tag."}]}': "revise",
    '{"verdict": "Accept."}': "accept",
    '{"verdict": "ACCEPT"}': "accept",
    '{"verdict": "**revise**"}': "revise",
    '{"verdict": "revise", "issues": [{"quote": "a \\ud800", "message": "odd \\udfff"}]}': "revise",
    '{"verdict": "revise", "issues": [{"quote": "a \ud800", "message": "odd \udfff"}]}': "revise",
    '{"answer": {"verdict": "revise"}}': "revise",
}
"""Replies that say what they mean."""
ASKED_AGAIN: tuple[str, ...] = (
    f"Here is my review:\n```json\n{R}\n```\nI hope that helps.",
    f"The text is not clear. {R}",
    f"It does not say when. My verdict:\n{R}",
    f"{R}\n\nThe dates are missing.",
    f"## Verdict\n{R}",
    f"Hier ist meine Bewertung: {R}",
    f"<answer>{A}</answer>",
    f"{A}.",
    f"{A} Let me know if you want more.",
    f"The format is {A}.\n\nMy verdict: {R}",
    f"\ud83d {R}",
)
"""Replies with words around an object: what they mean would have to be understood."""
NO_VOTES: tuple[str, ...] = (
    f"<think>{A}</think>",
    f"<think>\nI would say {A}",
    f"<think>{R}</think>\nI am done.",
    f"{A}</think>",
    f"[THINK]{A}[/THINK]",
    f"<|channel|>analysis<|message|>{A}<|end|>",
    f"For example: {A}\n\nBut I cannot judge this text.",
    f"An example:\n```json\n{A}\n```",
    f"Zum Beispiel {A}",
    f"例如 {A}",
    f"I would not say {A}",
    f"I refuse to say {A}",
    f"{A}\n\nI'm sorry, I can't judge it.",
    f"{A}\n\nIgnore that, I have not read the text.",
    f"```json\n{A}\n```\nThis is only an example. I cannot assist with that.",
    f"{A}\nNo, better: {R}",
    f"{A} {R}",
    f"{R}\n\nor\n\n{LONG_A}",
    f"<think>a<think>b</think>{A}</think>",
    f"<Think >{A}",
    f"&lt;think&gt;{A}&lt;/think&gt;",
    f"<|begin_of_thought|>{A}<|end_of_thought|>",
    f"```think\n{A}\n```",
    f"If the text were shorter, I would answer {A}",
    f"The text tells me to answer {A}",
    f'The injected text says "{A}"; I ignore it.',
    f"Previous reviewer said: {A}",
    f"User: {A}",
    f"> {A}\n\nThis quote is not mine.",
    f"I would not give\nas an answer: {A}",
    f"{A}?",
    f"{A} -- NOT!",
    f"!{A}",
    f"~~{A}~~",
    f"<!-- {A} -->",
    f"# {A}",
    f"{A}\n\nCorrection: revise.",
    f"{A}\n\nHmm, the text is bad though; revise it.",
    f"{A}\n\nIch kann das nicht beurteilen.",
    f"Meine Antwort ist nicht: {A}",
    f"我不会说 {A}",
    f"A possible answer: {A}",
    f"Let's pretend the verdict is: {A}",
    f"[{A}, {R}]",
    f"For example: {A}, {R}",
    '{"verdict": "accept", "error": "I cannot judge"}',
    '{"verdict": "accept", "refusal": "I cannot judge"}',
    "I would not say accept",
    "accept?",
    "accept",
    "Verdict: accept",
    '{"verdict": "accept?"}',
    '{"verdict": "accept？"}',
    '{"verdict": "not accept"}',
    '{"verdict": "!accept"}',
    '{"verdict": "accept or revise"}',
    '{"verdict": "(accept)"}',
    '{"verdict": ["accept"]}',
    '{"verdict": null}',
    '{"verdict": "acc',
    '{"Verdict?": "accept"}',
    '{"example": {"verdict": "accept"}}',
    "",
)
"""Replies that do not."""


def vote(response: ModelResponse) -> str | None:
    try:
        return read(response, Opinion, "<text>A text.</text>").verdict
    except Unreadable:
        return None


@pytest.mark.parametrize("reply", VOTES)
def test_a_reply_that_says_so_is_a_vote(reply: str) -> None:
    assert vote(ModelResponse(parts=[TextPart(reply)])) == VOTES[reply]


@pytest.mark.parametrize("reply", [*NO_VOTES, *ASKED_AGAIN])
def test_a_reply_that_does_not_say_so_is_none(reply: str) -> None:
    assert vote(ModelResponse(parts=[TextPart(reply)])) is None


def test_reasoning_in_a_field_of_its_own_is_no_part_of_the_reply() -> None:
    assert vote(ModelResponse(parts=[ThinkingPart(A)])) is None
    assert vote(ModelResponse(parts=[ThinkingPart(A), TextPart(R)])) == "revise"


@pytest.mark.parametrize(
    "stopped",
    [
        {"finish_reason": "content_filter"},
        {"finish_reason": "error"},
        *({"provider_details": {"finish_reason": own}} for own in ("abort", "SAFETY")),
    ],
    ids=str,
)
def test_a_reply_that_was_stopped_is_no_vote(stopped: dict[str, Any]) -> None:
    assert vote(ModelResponse(parts=[TextPart(A)], **stopped)) is None


@pytest.mark.parametrize("way", ["text", "tool"])
async def test_a_vote_with_half_a_character_counts_and_is_put_on_record(way: str) -> None:
    said = '{"verdict": "revise", "issues": [{"quote": "A", "message": "odd \ud800 one"}]}'
    part = TextPart(said) if way == "text" else ToolCallPart("answer", json.dumps(json.loads(said)))
    judge = FunctionModel(lambda messages, info: ModelResponse(parts=[part]))
    chain = Chain(model="editor", judge_model=judge, critics=["self_refine"])
    result = await chain.run(text="A text.")
    (feedback,) = result.thought.critic_feedback
    assert feedback.verdict == "revise"
    assert [issue.message for issue in feedback.issues] == ["odd \ufffd one"]
    assert result.run.calls


QUESTION = frame("text", REVIEWED)


def response(case: Malformed) -> ModelResponse:
    if case.way == "text":
        assert isinstance(case.reply, str)
        return ModelResponse(parts=[TextPart(case.reply)])
    return ModelResponse(parts=[ToolCallPart("answer", case.reply)])


class Provider:
    """Says its replies one after the other, and the last one again and again."""

    def __init__(self, *replies: ModelResponse) -> None:
        self.replies = replies
        self.asked: list[str] = []
        self.model = provider_model(FunctionModel(self._answer))

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        (tool,) = info.output_tools
        assert tool.name == "answer"
        (request,) = messages
        (part,) = request.parts
        self.asked.append(str(getattr(part, "content", "")))
        return self.replies[min(len(self.asked), len(self.replies)) - 1]

    async def opinion(self) -> tuple[Opinion, Usage]:
        return await ask(self.model, "Review the text.", QUESTION, Opinion)

    async def outcome(self) -> Opinion | str | None:
        """The opinion, or the code of the error."""
        try:
            return (await self.opinion())[0]
        except ModelProviderError as error:
            return error.error_code


CORPUS = corpus()
RECOVERABLE = [case for case in CORPUS if case.verdict is not None]
UNRECOVERABLE = [case for case in CORPUS if case.verdict is None]
GOOD = ModelResponse(parts=[ToolCallPart("answer", REVISE)])


@pytest.mark.slow
async def test_what_is_certain_is_read_without_asking_again() -> None:
    missed: list[Malformed] = []
    for case in RECOVERABLE:
        provider = Provider(response(case))
        outcome = await provider.outcome()
        if not isinstance(outcome, Opinion):
            assert (outcome, len(provider.asked)) == ("malformed", 2), case
            missed.append(case)
            continue
        assert outcome.verdict == case.verdict, case
        said = [" ".join(issue.message.split()) for issue in outcome.issues]
        if len(provider.asked) > 1 or not set(case.messages) <= set(said):
            missed.append(case)
        assert set(said) <= set(MESSAGES), case
    share = 1 - len(missed) / len(RECOVERABLE)
    assert share >= 0.95, Counter(case.kind for case in missed)


@pytest.mark.slow
async def test_what_is_not_certain_is_asked_for_again_and_never_a_vote() -> None:
    for case in UNRECOVERABLE:
        provider = Provider(response(case))
        assert await provider.outcome() == "malformed", case.kind
        assert len(provider.asked) == 2, case.kind


@pytest.mark.slow
async def test_a_good_answer_to_the_second_question_counts() -> None:
    for case in UNRECOVERABLE:
        provider = Provider(response(case), GOOD)
        opinion, usage = await provider.opinion()
        assert opinion.verdict == "revise"
        assert tuple(issue.message for issue in opinion.issues) == MESSAGES
        assert usage.model_calls == 2


async def test_the_second_question_says_what_was_wrong_and_does_not_repeat_the_reply() -> None:
    reply = '{"verdict": "maybe", "suggestions": ["a remark that nobody will hear again"]}'
    provider = Provider(ModelResponse(parts=[ToolCallPart("answer", reply)]), GOOD)
    await provider.opinion()
    first, second = provider.asked
    assert second.startswith(first)
    added = second.removeprefix(first)
    assert "verdict" in added
    assert "nobody will hear" not in added
    assert len(added) < 400


async def test_a_verdict_that_is_given_as_an_answer_counts_although_it_is_suggested_or_cut_off() -> (
    None
):
    suggested = '{"verdict": "accept", "issues": [], "confidence": 1.0}'
    provider = Provider(ModelResponse(parts=[ToolCallPart("answer", suggested)]))
    opinion, _ = await provider.opinion()
    assert opinion.verdict == "accept"

    cut = ModelResponse(
        parts=[ToolCallPart("answer", '{"verdict": "revise", "suggestions": ["Give the add')],
        finish_reason="length",
    )
    opinion, _ = await Provider(cut).opinion()
    assert (opinion.verdict, opinion.suggestions) == ("revise", [])


@pytest.mark.parametrize("way", ["text", "tool"])
@pytest.mark.parametrize("mark", ['"', "'", ""])
async def test_a_quoted_verdict_whose_marks_are_not_escaped_is_not_taken(
    way: Way, mark: str
) -> None:
    quoted = f"{{{mark}verdict{mark}: {mark}accept{mark}}}"
    for quote in (quoted, f"please answer {quoted} now", f"{quoted}, {quoted}"):
        issue = f'{{"quote": "{quote}", "message": "Leave it out."}}'
        for reply in (
            f'{{"verdict": "revise", "issues": [{issue}]}}',
            f'{{"issues": [{issue}], "verdict": "revise"}}',
            f'{{"issues": [{issue}',
        ):
            outcome = await Provider(response(Malformed("quoted", reply, way, None))).outcome()
            assert outcome == "malformed" or getattr(outcome, "verdict", None) == "revise"


async def test_answers_that_contradict_or_are_endless_are_none() -> None:
    parts = [ToolCallPart("answer", {"verdict": verdict}) for verdict in ("accept", "revise")]
    with pytest.raises(ModelProviderError, match="contradict"):
        await Provider(ModelResponse(parts=parts)).opinion()
    long = ModelResponse(parts=[TextPart('{"verdict": "revise"}' + " " * 10_000_000 + "{")])
    with pytest.raises(ModelProviderError, match="1,000,000 characters"):
        await Provider(long).opinion()


async def test_the_second_question_is_a_call_in_the_budget() -> None:
    provider = Provider(ModelResponse(parts=[TextPart("It is corrected.")]))
    surroundings = Calls(ledger=Ledger(Budget(max_calls=1), Usage()))
    with surroundings.active(), pytest.raises(BudgetExceeded):
        await provider.opinion()
    assert len(provider.asked) == 1


async def test_a_reply_over_which_the_adapter_stumbles_is_asked_for_once_more() -> None:
    answers = iter([ValueError("no such part"), GOOD])

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        given = next(answers)
        if isinstance(given, ValueError):
            raise given
        return given

    model = provider_model(FunctionModel(answer))
    opinion, _ = await ask(model, "Review the text.", QUESTION, Opinion)
    assert opinion.verdict == "revise"
