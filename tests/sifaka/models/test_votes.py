"""Replies in words: which are votes, and which only hold words of one, or other words too."""

import json

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from sifaka import Chain
from sifaka.critics.opinion import Opinion
from sifaka.models.structured import Unreadable, read

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
    f"Verdict: {A}",
    f"The text is not clear. {R}",
    f"Not bad.\n\n{A}",
    f"It does not say when. My verdict:\n{R}",
    f"I can't find a mistake. {A}",
    f"{R}\n\nThe dates are missing.",
    f"My answer is {A}",
    f"There is nothing wrong, so my verdict is: {A}",
    f"So, finally:\n\n{R}",
    f"## Verdict\n{R}",
    f"**Verdict:** {R}",
    f"Hier ist meine Bewertung: {R}",
    f"我的评价是：\n\n{R}",
    f"<answer>{A}</answer>",
    f"{A}.",
    f"{A} Let me know if you want more.",
    f"{A}\n\nNo changes are needed.",
    f"{A}\n\nThe text does not need to be changed.",
    f"{R}\n\nIt is wrong about the date.",
    f"I found no mistakes. {A}",
    f"The format is {A}.\n\nMy verdict: {R}",
    f"\ud83d {R}",
)
"""Replies with words around an object: what they mean would have to be understood."""
NO_VOTES: tuple[str, ...] = (
    f"<think>{A}</think>",
    f"<think>\nI would say {A}",
    f"<think>{R}</think>\nI am done.",
    f"{A}</think>",
    f"<thinking>{A}</thinking> done",
    f"[THINK]{A}[/THINK]",
    f"[THINK]{A}",
    f"<|channel|>analysis<|message|>{A}<|end|>",
    f"<|channel|>analysis<|message|>{A}",
    f"For example: {A}\n\nBut I cannot judge this text.",
    f"For example, {A}",
    f"An answer such as {A}",
    f"The format is {A}",
    f"An example:\n```json\n{A}\n```",
    f"It would look like {A}",
    f"Suppose I said {A}",
    f"e.g. {A}",
    f"Zum Beispiel {A}",
    f"Par exemple {A}",
    f"例如 {A}",
    f"I would not say {A}",
    f"I wouldn't say {A}",
    f"I cannot answer {A}",
    f"I don't give {A}",
    f"This is not {A}",
    f"This is never {A}.",
    f"Rather than {A}",
    f"I refuse to say {A}",
    f"It might be {A} on another day.",
    f"{A}\n\nI'm sorry, I can't judge it.",
    f"{A} is an example of the form.",
    f"{A}\n\nIgnore that, I have not read the text.",
    f"{A}\n\nOn second thought, I am not sure.",
    f"```json\n{A}\n```\nThis is only an example. I cannot assist with that.",
    f"{A} was just a joke.",
    f"{A}\n\nI won't review this.",
    f"{A}\nNo, better: {R}",
    f"{A} {R}",
    f"{R}\n\nor\n\n{LONG_A}",
    f"<think>a<think>b</think>{A}</think>",
    f"<Think >{A}",
    f"&lt;think&gt;{A}&lt;/think&gt;",
    f"<|begin_of_thought|>{A}<|end_of_thought|>",
    f"```think\n{A}\n```",
    f"If the text were shorter, I would answer {A}",
    f"If it were shorter, my answer would be: {A}",
    f"Had it a title I would have said {A}",
    f"The text tells me to answer {A}",
    f"The text asks for this answer: {A}",
    f"Please answer {A}",
    f'The injected text says "{A}"; I ignore it.',
    f"Previous reviewer said: {A}",
    f"Another judge's verdict: {A}",
    f"User: {A}",
    f"> {A}\n\nThis quote is not mine.",
    f"Nothing supports {A}",
    f"It is wrong to say {A}",
    f"I would not give\nas an answer: {A}",
    f"Is the answer {A}?",
    f"{A}?",
    f"{A} (not)",
    f"{A} -- NOT!",
    f"{A} unless there are mistakes",
    f"{A} is what I would say if it were good.",
    f"No. {A} No.",
    f"NOT {A}",
    f"!{A}",
    f"❌ {A}",
    f"~~{A}~~",
    f"<del>{A}</del>",
    f"<!-- {A} -->",
    f"// {A}",
    f"# {A}",
    f"{A}\n\nActually, no.",
    f"{A}\n\nCorrection: revise.",
    f"{A}\n\nI meant revise.",
    f"{A}\n\nHmm, the text is bad though; revise it.",
    f"{A}\n\nI have not been able to read the text.",
    f"{A}\n\nDisregard the above.",
    f"{A}\n\nAs an AI, I'm unable to judge.",
    f"{A}\n\nIch kann das nicht beurteilen.",
    f"Ich würde nicht {A} sagen",
    f"Meine Antwort ist nicht: {A}",
    f"Je ne dirais pas {A}",
    f"No diría {A}",
    f"我不会说 {A}",
    f"A possible answer: {A}",
    f"Possible answers are {A}",
    f"One option is {A}",
    f"Sample output: {A}",
    f"The answer's format: {A}",
    f"For illustration: {A}",
    f"Let's pretend the verdict is: {A}",
    f"expected: {A}",
    f"[{A}, {R}]",
    f"For example: {A}, {R}",
    '{"verdict": "accept", "error": "I cannot judge"}',
    '{"verdict": "accept", "refusal": "I cannot judge"}',
    "I would not say accept",
    "accept?",
    "accept",
    "Verdict: accept",
    '{"verdict": "accept?"}',
    '{"verdict": "accept ?"}',
    '{"verdict": "accept？"}',
    '{"verdict": "not accept"}',
    '{"verdict": "!accept"}',
    '{"verdict": "don\'t accept"}',
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


def test_the_table_is_large() -> None:
    assert len(VOTES) + len(ASKED_AGAIN) + len(NO_VOTES) >= 150
    assert len(NO_VOTES) >= 90


@pytest.mark.parametrize("reply", VOTES)
def test_a_reply_that_says_so_is_a_vote(reply: str) -> None:
    assert vote(ModelResponse(parts=[TextPart(reply)])) == VOTES[reply]


@pytest.mark.parametrize("reply", [*NO_VOTES, *ASKED_AGAIN])
def test_a_reply_that_does_not_say_so_is_none(reply: str) -> None:
    assert vote(ModelResponse(parts=[TextPart(reply)])) is None


def test_reasoning_in_a_field_of_its_own_is_no_part_of_the_reply() -> None:
    assert vote(ModelResponse(parts=[ThinkingPart(A)])) is None
    assert vote(ModelResponse(parts=[ThinkingPart(A), TextPart(R)])) == "revise"


@pytest.mark.parametrize("reason", ["abort", "SAFETY", "pause_turn"])
def test_nor_is_one_that_was_stopped_for_a_reason_of_the_providers_own(reason: str) -> None:
    details = {"finish_reason": reason}
    assert vote(ModelResponse(parts=[TextPart(A)], provider_details=details)) is None


@pytest.mark.parametrize("reason", ["content_filter", "error"])
def test_a_reply_that_was_stopped_is_no_vote(reason: str) -> None:
    stopped = ModelResponse(parts=[TextPart(A)])
    stopped.finish_reason = reason  # pyright: ignore[reportAttributeAccessIssue]
    assert vote(stopped) is None


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
