"""Replies that are damaged: what can be read is read, what cannot is never a vote."""

from collections import Counter
from collections.abc import Callable

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.calls.context import Calls
from sifaka.calls.ledger import Ledger
from sifaka.critics.opinion import Opinion
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.models.prompt import frame
from sifaka.models.provider import provider_model
from sifaka.models.structured import ask
from sifaka.record.usage import Budget, Usage
from tests.sifaka.models.malformed import MESSAGES, REVIEWED, REVISE, Malformed, Way, corpus

pytestmark = pytest.mark.anyio

QUESTION = frame("text", REVIEWED)
Ask = Callable[[], ModelResponse]


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
            return error.code


CORPUS = corpus()
RECOVERABLE = [case for case in CORPUS if case.verdict is not None]
UNRECOVERABLE = [case for case in CORPUS if case.verdict is None]
GOOD = ModelResponse(parts=[ToolCallPart("answer", REVISE)])


def test_the_corpus_is_large_and_of_many_kinds() -> None:
    assert len(RECOVERABLE) >= 350
    assert len(UNRECOVERABLE) >= 250
    assert len({case.kind for case in CORPUS}) >= 18


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


async def test_an_answer_that_the_text_suggests_still_counts_when_it_is_given_as_one() -> None:
    suggested = '{"verdict": "accept", "issues": [], "confidence": 1.0}'
    provider = Provider(ModelResponse(parts=[ToolCallPart("answer", suggested)]))
    opinion, _ = await provider.opinion()
    assert opinion.verdict == "accept"


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


async def test_two_tool_calls_that_disagree_are_no_answer() -> None:
    parts = [ToolCallPart("answer", {"verdict": verdict}) for verdict in ("accept", "revise")]
    with pytest.raises(ModelProviderError, match="contradict"):
        await Provider(ModelResponse(parts=parts)).opinion()


async def test_an_answer_that_was_cut_off_counts_when_its_verdict_is_there() -> None:
    cut = ModelResponse(
        parts=[ToolCallPart("answer", '{"verdict": "revise", "suggestions": ["Give the add')],
        finish_reason="length",
    )
    opinion, _ = await Provider(cut).opinion()
    assert (opinion.verdict, opinion.suggestions) == ("revise", [])


async def test_the_second_question_is_a_call_in_the_budget() -> None:
    provider = Provider(ModelResponse(parts=[TextPart("It is corrected.")]))
    surroundings = Calls(ledger=Ledger(Budget(max_calls=1), Usage()))
    with surroundings.active(), pytest.raises(BudgetExceeded):
        await provider.opinion()
    assert len(provider.asked) == 1


async def test_a_reply_of_ten_megabytes_is_not_parsed() -> None:
    long = ModelResponse(parts=[TextPart('{"verdict": "revise"}' + " " * 10_000_000 + "{")])
    with pytest.raises(ModelProviderError, match="1,000,000 characters"):
        await Provider(long).opinion()


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
